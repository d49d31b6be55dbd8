/** Devices of one user that start for the first time at the same time. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { OwnIdentityError } from "@greenroom/matrix";
import { SEED_SECRETS } from "../../../src/crypto/identity/identity_seeds.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";
import { device, KEY, shown } from "./scene.ts";

const WITH_KEY = { recoveryKey: KEY };

/** A server on which something happens before the first upload of an identity arrives. */
function before(here: ClientStage, happen: () => Promise<void>): typeof fetch {
  let isDone = false;
  return async (input, init) => {
    const request = new Request(input, init);
    if (request.url.endsWith("/keys/device_signing/upload") && !isDone) {
      isDone = true;
      await happen();
    }
    return await here.homeserver.fetch(request);
  };
}

Deno.test("A device that publishes its identity stores the private keys again if another has stored its own meanwhile", async () => {
  await using here = clientStage();
  const rival = await device(here, "RIVAL");
  const fetch = before(here, async () => {
    using storage = await rival.secretStorage.open({ recoveryKey: KEY });
    for (const [index, name] of Object.values(SEED_SECRETS).entries()) {
      await storage.set(name, new Uint8Array(32).fill(index).toBase64());
    }
  });
  const first = await device(here, "FIRST", { encryption: WITH_KEY, fetch });
  await first.crypto?.start();
  const next = await device(here, "NEXT", { encryption: WITH_KEY });
  await next.crypto?.start();
  const { signers } = await shown(next);
  assertEquals(signers.NEXT?.length, 1);
  assertEquals(signers.FIRST, signers.NEXT);
});

Deno.test("A device whose user got another identity meanwhile says so, and its next try takes that one", async () => {
  await using here = clientStage();
  const { master } = await (async () => {
    const winner = await device(here, "WINNER", { encryption: WITH_KEY });
    const fetch = before(here, async () => {
      using storage = await winner.secretStorage.open({ recoveryKey: KEY });
      for (const name of Object.values(SEED_SECRETS)) await storage.delete(name);
      await winner.crypto?.start();
    });
    const loser = await device(here, "LOSER", { encryption: WITH_KEY, fetch });
    const error = await assertRejects(async () => await loser.crypto?.start(), OwnIdentityError);
    assertEquals(error.problem, "mismatch");
    assertEquals((await loser.crypto?.ensureVerified())?.state, "verified");
    await loser.crypto?.start();
    return await shown(winner);
  })();
  const next = await device(here, "NEXT", { encryption: WITH_KEY });
  await next.crypto?.start();
  const { master: now, signers } = await shown(next);
  assert(master !== undefined);
  assertEquals(now, master);
  const [signer = "none"] = signers.WINNER ?? [];
  assert(signers.LOSER?.includes(signer)); // beside the one that was never published
});

Deno.test("A device that finds the identity published which it was about to publish is verified by it", async () => {
  await using here = clientStage();
  const other = await device(here, "OTHER", { encryption: WITH_KEY });
  const fetch = before(here, async () => await other.crypto?.start());
  const one = await device(here, "ONE", { encryption: WITH_KEY, fetch });
  await one.crypto?.start();
  const { signers } = await shown(one);
  assertEquals(signers.ONE?.length, 1);
  assertEquals(signers.OTHER, signers.ONE);
});
