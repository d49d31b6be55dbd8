import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Client, MatrixError, MemoryStore, UnknownTokenError, ValueError } from "@greenroom/matrix";
import { OwnIdentityError } from "@greenroom/matrix/errors";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { ALICE, changed, changes, device, KEY, PASSWORD, patiently, selfSigning, shown } from "./scene.ts";

Deno.test("A bot that is given nothing but a recovery key is signed from its first upload on, and so is the next one", async () => {
  await using here = clientStage();
  const { fetch, made } = changes(here);
  const first = await device(here, "FIRST", { fetch, encryption: { recoveryKey: KEY } });
  await first.crypto?.start();
  const signer = await selfSigning(first);
  assertEquals((await shown(first)).signers, { FIRST: [signer] });
  const report = await first.crypto?.ensureVerified();
  assertEquals(report, { state: "verified", master: (await shown(first)).master, backup: "on" });
  assertEquals(made.filter((name) => name.includes("keys/")), [
    "POST keys/upload", // one-time keys
    "POST keys/upload",
    "POST keys/device_signing/upload",
    "POST room_keys/version",
  ]);

  made.length = 0;
  const second = await device(here, "SECOND", { fetch, encryption: { recoveryKey: KEY } });
  await second.crypto?.start();
  assertEquals((await shown(first)).signers, { FIRST: [signer], SECOND: [signer] });
  assertEquals(made, ["POST keys/upload", "POST keys/upload"]);
  const [seen] = await second.crypto?.getDevices("@alice:localhost") ?? [];
  assertEquals([seen?.deviceId, seen?.trust], ["FIRST", "verified"]);
});

Deno.test("To verify again looks up the key of the secret storage and the backup, and changes nothing, in the same process and in the next", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const requests: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    requests.push(new URL(request.url).pathname);
    return await here.homeserver.fetch(request);
  };
  const begin = async (encryption: { recoveryKey?: string }) => {
    const client = await device(here, "FIRST", { fetch, store, encryption });
    requests.length = 0;
    await client.crypto?.start();
    await client.crypto?.idle();
    return { client, started: requests.splice(0) };
  };
  const first = await begin({ recoveryKey: KEY });
  assertEquals((await first.client.crypto?.ensureVerified())?.state, "verified");
  const looks = requests.splice(0);
  assertEquals(looks.map((path) => path.split("/").at(-1)), ["m.secret_storage.default_key", "version"]);
  await first.client.close();
  const without = await begin({});
  await without.client.close();
  const again = await begin({ recoveryKey: KEY });
  assertEquals(again.started.sort(), [...without.started, ...looks].sort());
});

Deno.test("A device that is published already is signed by an upload of its signature", async () => {
  await using here = clientStage();
  const client = await device(here, "FIRST");
  await client.crypto?.start();
  assertEquals((await shown(client)).signers, { FIRST: [] });
  const handed: string[] = [];
  const report = await client.crypto?.ensureVerified({ onRecoveryKey: (key) => void handed.push(key) });
  assertEquals(report?.state, "bootstrapped");
  await client.crypto?.idle();
  assertEquals((await shown(client)).signers, { FIRST: [await selfSigning(client)] });

  const second = await device(here, "SECOND");
  await second.crypto?.start();
  const [recoveryKey] = handed;
  assertEquals((await second.crypto?.ensureVerified({ recoveryKey }))?.state, "verified");
  await second.crypto?.idle();
  assertEquals((await shown(second)).signers.SECOND, [await selfSigning(client)]);
  assertEquals(handed.length, 1);
});

Deno.test("A passphrase makes the storage, and opens it for the next device", async () => {
  await using here = clientStage();
  const passphrase = "correct horse battery staple";
  const first = await device(here, "FIRST", { encryption: { passphrase } });
  await first.crypto?.start();
  const second = await device(here, "SECOND", { encryption: { passphrase } });
  await second.crypto?.start();
  assertEquals((await second.crypto?.ensureVerified())?.state, "verified");
});

Deno.test("The new recovery key is handed out before anything is published, and again if that fails", async () => {
  await using here = clientStage();
  const { fetch, made } = changes(here);
  const handed: string[] = [];
  const client = await device(here, "FIRST", { fetch });
  const attempt = async (work: () => void) =>
    await client.crypto?.ensureVerified({
      onRecoveryKey(key) {
        handed.push(key);
        assertEquals(made.filter((name) => !name.includes("keys/upload")), []);
        work();
      },
    });
  const full = () => {
    throw new TypeError("the disk is full");
  };
  const error = await assertRejects(() => attempt(full), OwnIdentityError, "nobody has the recovery key");
  assertEquals([error.problem, String(error.cause)], ["recovery-key", "TypeError: the disk is full"]);
  assertEquals((await attempt(() => {}))?.state, "bootstrapped");
  const [recoveryKey = "", ...others] = handed;
  assertEquals(others, [recoveryKey]);
  using storage = await client.secretStorage.open({ recoveryKey });
  assert(await storage.get("m.cross_signing.master") !== undefined);
});

Deno.test("With an identity there and nothing that opens its secrets, nothing is changed, and that is said", async () => {
  await using here = clientStage();
  const first = await device(here, "FIRST", { encryption: { recoveryKey: KEY } });
  await first.crypto?.start();
  const { master } = await shown(first);
  const { fetch, made } = changes(here);
  const second = await device(here, "SECOND", { fetch, encryption: { onRecoveryKey: () => {} } });
  await second.crypto?.start();
  assertEquals(await second.crypto?.ensureVerified(), { state: "needs-secret", master, backup: undefined });
  assertEquals(made, ["POST keys/upload", "POST keys/upload"]);
  assertEquals((await shown(first)).signers.SECOND, []);
  assert(here.log.lines.some((line) => JSON.stringify(line).includes("give the account's recovery key")));
});

Deno.test("An identity that was accepted is taken without its master key, which may be kept elsewhere, and no other is", async () => {
  await using here = clientStage();
  const first = await device(here, "FIRST", { encryption: { recoveryKey: KEY } });
  await first.crypto?.start();
  using storage = await first.secretStorage.open({ recoveryKey: KEY });
  await storage.delete("m.cross_signing.master");
  const next = await device(here, "NEXT");
  await next.crypto?.start();
  const ensure = async () => await next.crypto?.ensureVerified({ recoveryKey: KEY });
  await assertRejects(ensure, OwnIdentityError, "m.cross_signing.master");
  await next.crypto?.acknowledgeIdentity({ userId: ALICE, master: (await shown(first)).master ?? "" });
  assertEquals((await ensure())?.state, "verified");
  await next.crypto?.idle();
  assertEquals((await shown(first)).signers.NEXT, [await selfSigning(first)]);
});

Deno.test("With nothing there and nothing given, nothing is made", async () => {
  await using here = clientStage();
  const { fetch, made } = changes(here);
  const client = await device(here, "FIRST", { fetch });
  assertEquals(await client.crypto?.ensureVerified(), {
    state: "absent",
    master: undefined,
    backup: undefined,
  });
  assertEquals(made, ["POST keys/upload", "POST keys/upload"]);
});

Deno.test("A server that fails while the device is verified is asked again", async () => {
  await using here = clientStage();
  const client = await device(here, "FIRST", { encryption: { recoveryKey: KEY } });
  here.homeserver.faults.add({ kind: "status", status: 502, match: { path: "/account_data/" }, times: 2 });
  const running = client.start({ backoff: { base: 100, cap: 100 } });
  for (let round = 0; round < 10; round++) {
    await here.settle();
    await here.clock.tick(200);
  }
  await client.ready;
  assertEquals((await client.crypto?.ensureVerified())?.state, "verified");
  await client.stop();
  await running;
});

Deno.test("Options that contradict one another are refused", async () => {
  const make = (encryption: object) => new Client({ baseUrl: "https://example.org", encryption });
  assertThrows(() => make({ password: "wonderland" }), ValueError, "nobody could use again");
  await using here = clientStage();
  const { crypto } = await device(here, "FIRST");
  const both = async () => await crypto?.ensureVerified({ recoveryKey: KEY, passphrase: "both" });
  await assertRejects(both, ValueError, "one of them");
});

Deno.test("A start during which the identity is replaced takes the new one, since the server is asked again", async () => {
  await using here = clientStage();
  const first = await device(here, "FIRST", { encryption: { recoveryKey: KEY } });
  await first.crypto?.start();
  const before = (await shown(first)).master;
  const replaced = Promise.withResolvers<void>();
  let queries = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.url.includes("/account_data/")) await replaced.promise;
    const response = await here.homeserver.fetch(request);
    if (request.url.includes("/keys/query") && ++queries === 1) {
      await first.crypto?.resetIdentity({
        recoveryKey: KEY,
        password: PASSWORD,
        confirm: () => true,
      });
      replaced.resolve();
    }
    return response;
  };
  const second = await device(here, "SECOND", { fetch, encryption: { recoveryKey: KEY } });
  await second.crypto?.start();
  const { master, signers } = await shown(first);
  assert(master !== before);
  assertEquals(signers.SECOND, [await selfSigning(first)]);
  assertEquals(queries, 2);
});

Deno.test("A start during which another client names the key of the secret storage anew opens it by that name", async () => {
  await using here = clientStage();
  const first = await device(here, "FIRST", { encryption: { recoveryKey: KEY } });
  await patiently(here, first.crypto?.start());
  const rename = async () => {
    const { keyId = "" } = await first.secretStorage.info();
    const description = await first.getAccountData(`m.secret_storage.key.${keyId}`);
    await first.setAccountData("m.secret_storage.key.again", description);
    await first.setAccountData("m.secret_storage.default_key", { key: "again" });
    for (const name of ["master", "self_signing", "user_signing"]) {
      const secret = `m.cross_signing.${name}`;
      const { encrypted } = await first.getAccountData(secret) as { encrypted: Record<string, unknown> };
      await first.setAccountData(secret, { encrypted: { again: encrypted[keyId] } });
    }
  };
  let renamed: Promise<void> | undefined;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (String(input).includes("m.cross_signing.")) await (renamed ??= rename());
    return await here.homeserver.fetch(input, init);
  };
  const next = await device(here, "NEXT", { fetch, encryption: { recoveryKey: KEY } });
  await patiently(here, next.crypto?.start());
  assert(renamed !== undefined);
  assertEquals((await shown(next)).signers.NEXT, [await selfSigning(first)]);
});

Deno.test("An identity that the server has once made up, and shows no more, keeps no start from making the account's", async () => {
  for (const isStored of [false, true]) {
    await using here = clientStage();
    const store = new MemoryStore();
    const begin = async (fetch: typeof globalThis.fetch) => {
      await using client = await device(here, "FIRST", { fetch, store, encryption: { recoveryKey: KEY } });
      await client.crypto?.start();
      return await shown(client);
    };
    if (isStored) { // a start before has made the storage, and was cut off
      await assertRejects(() => begin(cutOff(here)));
    }
    const made = "A".repeat(43);
    const lying = changed(here, "/keys/query", (body) => {
      const keys = { [`ed25519:${made}`]: made };
      body.master_keys = { [ALICE]: { user_id: ALICE, usage: ["master"], keys } };
    });
    await assertRejects(() => begin(lying), MatrixError);
    const { master, signers } = await begin(here.homeserver.fetch.bind(here.homeserver));
    assert(master !== undefined && master !== made);
    assertEquals(signers.FIRST?.length, 1);
  }
});

Deno.test("A token that is dead when the own identity is looked up ends the start, which no waiting would help", async () => {
  await using here = clientStage();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.includes("/keys/query")) return await here.homeserver.fetch(request);
    return Response.json({ errcode: "M_UNKNOWN_TOKEN", error: "dead" }, { status: 401 });
  };
  const client = await device(here, "FIRST", { fetch, encryption: { recoveryKey: KEY } });
  await assertRejects(async () => await client.crypto?.start(), UnknownTokenError);
});

/** A connection that breaks when private keys are to be stored. */
function cutOff(here: ClientStage): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const isCut = request.method === "PUT" && request.url.includes("m.cross_signing.");
    if (isCut) throw new TypeError("connection reset");
    return await here.homeserver.fetch(request);
  };
}

Deno.test("A device that is to have no backup asks no other device for its key", async () => {
  await using here = clientStage();
  const first = await device(here, "FIRST", { encryption: { recoveryKey: KEY } });
  await first.crypto?.start();
  let asked = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.url.includes("/sendToDevice/m.secret.request/")) asked++;
    return await here.homeserver.fetch(request);
  };
  const client = await device(here, "NEXT", { fetch, encryption: { recoveryKey: KEY, backup: false } });
  await client.crypto?.start();
  await client.crypto?.idle();
  assertEquals([(await client.crypto?.ensureVerified())?.state, asked], ["verified", 0]);
});
