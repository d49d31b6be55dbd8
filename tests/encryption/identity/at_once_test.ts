/** Devices of one user that make an identity, or a secret storage, at the same time, step by step. */

import { assert, assertEquals } from "@std/assert";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { before, device, KEY, patiently, shown } from "./scene.ts";
import { SEED_SECRETS } from "../../../src/crypto/identity/identity.ts";

const WITH_KEY = { recoveryKey: KEY };

/** A server on which something happens after the first request of account data, before that is answered. */
function after(here: ClientStage, method: string, type: string, happen: () => Promise<void>): typeof fetch {
  let isDone = false;
  return async (input, init) => {
    const request = new Request(input, init);
    const isIt = request.method === method && request.url.endsWith(`/account_data/${type}`);
    const response = await here.homeserver.fetch(request);
    if (!isIt || isDone) return response;
    isDone = true;
    await happen();
    return response;
  };
}

Deno.test("A device that finds an identity published with its master key and other keys takes those", async () => {
  await using here = clientStage();
  const other = await device(here, "OTHER", { encryption: WITH_KEY });
  const fetch = before(here, async () => {
    {
      using storage = await other.secretStorage.open({ recoveryKey: KEY });
      await storage.set(SEED_SECRETS.selfSigning, new Uint8Array(32).fill(7).toBase64());
    }
    await other.crypto?.start();
  });
  const one = await device(here, "ONE", { encryption: WITH_KEY, fetch });
  await patiently(here, one.crypto?.start());
  const { signers } = await shown(one);
  const [signer = "none"] = signers.OTHER ?? [];
  assert(signers.ONE?.includes(signer)); // beside the one that was never published
});

Deno.test("A device that stores private keys while another replaces the key of the storage stores them again for that", async () => {
  await using here = clientStage();
  const early: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.url.includes("/sync")) return Response.json({ next_batch: "early" }); // as it was before
    const isLook = request.method === "GET" && request.url.endsWith("m.secret_storage.default_key");
    if (!isLook) return await here.homeserver.fetch(request);
    return Response.json({ errcode: "M_NOT_FOUND", error: "Not found" }, { status: 404 });
  };
  const rival = await device(here, "RIVAL", { fetch: early });
  const fetch = after(here, "PUT", SEED_SECRETS.master, async () => {
    await rival.secretStorage.create({ recoveryKey: KEY, onRecoveryKey() {} });
  });
  const first = await device(here, "FIRST", { encryption: WITH_KEY, fetch });
  await patiently(here, first.crypto?.start());
  const next = await device(here, "NEXT", { encryption: WITH_KEY });
  await next.crypto?.start();
  const { signers } = await shown(next);
  assertEquals(signers.NEXT?.length, 1);
  assertEquals(signers.FIRST, signers.NEXT);
});

Deno.test("A device that finds private keys of a storage that was not there a moment ago takes that for another's", async () => {
  await using here = clientStage();
  const other = await device(here, "OTHER", { encryption: WITH_KEY });
  const fetch = after(here, "GET", "m.secret_storage.default_key", async () => await other.crypto?.start());
  const one = await device(here, "ONE", { fetch });
  await patiently(here, one.crypto?.ensureVerified(WITH_KEY));
  const { signers } = await shown(one);
  assertEquals(signers.ONE?.length, 1);
  assertEquals(signers.OTHER, signers.ONE);
});
