/** A server that plants a backup, or damages the key of one, while a device makes or uses its own. */

import { assertEquals, assertRejects } from "@std/assert";
import { KeyBackupError } from "@greenroom/matrix/errors";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { kept, plant } from "../secrets/scene.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { device, KEY, patiently } from "../identity/scene.ts";
import { backupOf, before, outcomeOf, SECRET, started } from "./scene.ts";

const { pk } = await Vodozemac.create();
using planter = pk.createDecryption();
/** What a version says that the server has made. */
const PLANTED = {
  algorithm: "m.megolm_backup.v1.curve25519-aes-sha2",
  auth_data: { public_key: planter.publicKey },
};

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

Deno.test("That a version has another key than before is seen in info(), and by ensureVerified()", async () => {
  await using here = clientStage();
  const { fetch, become } = plantingServer(here);
  become("honest");
  const client = await started(here, "BOT", { fetch });
  assertEquals((await backupOf(client).info()).problem, undefined);
  become("planting");
  assertEquals((await backupOf(client).info()).problem, "untrusted");
  assertEquals(await outcomeOf(here, client), "wrong-key");
});

/**
 * A device that looks at the backup while another one stores another key:
 * between the first look and the second.
 */
async function overwritten(here: ClientStage, shownThen: "the backup" | "a planted one") {
  const { client: early, storage } = await before(here);
  const first = new Uint8Array(32).fill(1).toBase64({ omitPadding: true });
  const second = new Uint8Array(32).fill(2).toBase64({ omitPadding: true });
  await storage.set(SECRET, first);
  using key = pk.importDecryption(new Uint8Array(32).fill(1));
  await early.raw.createKeyBackupVersion({ ...PLANTED, auth_data: { public_key: key.publicKey } });
  let replaced: Promise<void> | undefined;
  const looks = { version: 0, secret: 0 };
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    const kind = pathname.endsWith("/room_keys/version") ? "version" : "secret";
    const isLook = request.method === "GET" && (kind === "version" || pathname.endsWith(`/${SECRET}`));
    if (isLook && ++looks[kind] === 2) await (replaced ??= storage.set(SECRET, second));
    const response = await here.homeserver.fetch(request);
    const isPlanted = isLook && kind === "version" && (looks.version === 1 || shownThen === "a planted one");
    return isPlanted ? Response.json({ ...await response.json(), ...PLANTED }) : response;
  };
  const bot = await device(here, "BOT", { fetch, encryption: { recoveryKey: KEY } });
  await patiently(here, bot.crypto?.start());
  return { first, second, stored: await storage.get(SECRET), outcome: await outcomeOf(here, bot) };
}

Deno.test("A key that another device has overwritten is stored again if it is that of the backup", async () => {
  await using here = clientStage();
  const { first, stored, outcome } = await overwritten(here, "the backup");
  assertEquals([stored, outcome], [first, "on"]);
});

Deno.test("A key that another device has overwritten is not stored again for a backup that it does not fit", async () => {
  await using here = clientStage();
  const { second, stored, outcome } = await overwritten(here, "a planted one");
  assertEquals([stored, outcome], [second, "wrong-key"]);
});
