/** A server that plants a backup, or damages the key of one, while a device makes or uses its own. */

import { assertEquals, assertRejects } from "@std/assert";
import { type Client, KeyBackupError } from "@greenroom/matrix";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { kept, plant } from "../secrets/scene.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";
import { device, KEY, patiently } from "../trust/scene.ts";
import { backupOf } from "./scene.ts";

const SECRET = "m.megolm_backup.v1";

using planter = (await Vodozemac.create()).pk.createDecryption();
/** What a version says that the server has made. */
const PLANTED = {
  algorithm: "m.megolm_backup.v1.curve25519-aes-sha2",
  auth_data: { public_key: planter.publicKey },
};

/** A device of Alice that is started with the recovery key. */
async function started(here: ClientStage, deviceId: string, options: Parameters<typeof device>[2] = {}) {
  const client = await device(here, deviceId, { encryption: { recoveryKey: KEY }, ...options });
  await patiently(here, client.crypto?.start());
  return client;
}

/** What a start has made of the backup. */
async function outcomeOf(here: ClientStage, client: Client): Promise<string | undefined> {
  return (await patiently(here, client.crypto?.ensureVerified()))?.backup;
}

/** A device with a storage, and no backup yet. */
async function before(here: ClientStage) {
  const client = await device(here, "EARLY", { encryption: { recoveryKey: KEY, backup: false } });
  await client.crypto?.start();
  return { client, storage: await client.secretStorage.open({ recoveryKey: KEY }) };
}

/** A server that shows a version of its own, from when it is told on, or from when another one is made. */
function plantingServer(here: ClientStage) {
  let is: "honest" | "waiting" | "planting" = "waiting";
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const answer = await here.homeserver.fetch(request);
    if (!request.url.endsWith("/room_keys/version")) return answer;
    if (request.method === "POST" && is === "waiting") is = "planting";
    if (request.method !== "GET" || is !== "planting") return answer;
    return Response.json({ ...await answer.json(), ...PLANTED });
  };
  return { fetch, become: (next: typeof is) => void (is = next) };
}

Deno.test("A secret that is no key of a backup is not replaced, and no backup is made", async () => {
  await using here = clientStage();
  const { storage } = await before(here);
  using _storage = storage;
  await storage.set(SECRET, "no key");
  const client = await started(here, "BOT");
  assertEquals([await outcomeOf(here, client), await storage.get(SECRET)], ["no-secret", "no key"]);
  assertEquals((await backupOf(client).info()).problem, "absent");
});

Deno.test("A key of a backup that the server has damaged is not replaced, and no backup is made", async () => {
  await using here = clientStage();
  const { client: early, storage } = await before(here);
  using _storage = storage;
  await storage.set(SECRET, new Uint8Array(32).toBase64({ omitPadding: true }));
  const { encrypted } = await kept(early, SECRET) as { encrypted: Record<string, { ciphertext: string }> };
  for (const entry of Object.values(encrypted)) entry.ciphertext = "AAAA";
  await plant(early, SECRET, { encrypted });
  const client = await started(here, "BOT");
  assertEquals([await outcomeOf(here, client), await kept(early, SECRET)], ["failed", { encrypted }]);
  assertEquals((await backupOf(client).info()).problem, "absent");
});

Deno.test("A version that is planted as soon as one was made is not used, and the key of that one is kept", async () => {
  await using here = clientStage();
  const { fetch, become } = plantingServer(here);
  const client = await device(here, "BOT", { fetch });
  const report = await patiently(here, client.crypto?.ensureVerified({ recoveryKey: KEY }));
  assertEquals(report?.backup, "wrong-key");
  assertEquals((await backupOf(client).info()).problem, "untrusted");
  become("honest");
  const next = await started(here, "NEXT");
  assertEquals([await outcomeOf(here, next), (await backupOf(next).info()).problem], ["on", undefined]);
});

Deno.test("A version that is planted in place of one that reset() makes is not used, and no key is stored for it", async () => {
  await using here = clientStage();
  await started(here, "FIRST");
  const { fetch } = plantingServer(here);
  const client = await started(here, "BOT", { fetch });
  using storage = await client.secretStorage.open({ recoveryKey: KEY });
  const secret = await storage.get(SECRET);
  const { problem } = await assertRejects(() => backupOf(client).reset({ storage }), KeyBackupError);
  assertEquals([problem, await storage.get(SECRET)], ["changed", secret]);
  assertEquals([await outcomeOf(here, client), await storage.get(SECRET)], ["wrong-key", secret]);
});

Deno.test("That a version has another key than before is seen in info()", async () => {
  await using here = clientStage();
  const { fetch, become } = plantingServer(here);
  become("honest");
  const client = await started(here, "BOT", { fetch });
  assertEquals((await backupOf(client).info()).problem, undefined);
  become("planting");
  assertEquals((await backupOf(client).info()).problem, "untrusted");
});
