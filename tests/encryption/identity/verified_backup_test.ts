import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { KeyBackupError } from "@greenroom/matrix/errors";
import type { RoomID } from "@greenroom/matrix/types";
import { ENCRYPTED } from "../../client/support/encrypted_room.ts";
import { encodeRecoveryKey } from "../../../src/crypto/secrets/secrets.ts";
import { kept, plant } from "../secrets/scene.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import {
  ALICE,
  changed,
  changes,
  device,
  history as historyOf,
  KEY,
  OTHER_KEY,
  PASSWORD,
  patiently,
} from "./scene.ts";

/** A device of Alice that is started with the recovery key. */
async function started(
  here: ClientStage,
  deviceId: string,
  options: Parameters<typeof device>[2] = {},
): Promise<Client> {
  const client = await device(here, deviceId, { encryption: { recoveryKey: KEY }, ...options });
  await client.crypto?.start();
  return client;
}

/** What a start has made of the backup. */
async function outcomeOf(client: Client): Promise<string | undefined> {
  return (await client.crypto?.ensureVerified())?.backup;
}

/** Has a device say something in a room of its own, and back it up. */
async function said(client: Client, text: string): Promise<RoomID> {
  const roomId = await client.createRoom({ initialState: ENCRYPTED });
  await client.sendText(roomId, text);
  await client.crypto?.idle();
  return roomId;
}

/** What a device reads of the history of a room, the latest first. */
async function history(client: Client, roomId: RoomID): Promise<string[]> {
  return (await historyOf(client, roomId)).reverse();
}

Deno.test("A new process that has nothing but the recovery key reads history by the backup that the first one made", async () => {
  await using here = clientStage();
  const first = await started(here, "FIRST");
  assertEquals(await outcomeOf(first), "on");
  const roomId = await said(first, "before");
  const info = await first.crypto?.backup.info();
  assertEquals([info?.version, info?.count, info?.isComplete, info?.isWanted], ["1", 1, true, true]);

  const { fetch, made } = changes(here);
  const fresh = await started(here, "FRESH", { fetch });
  assertEquals(made.filter((each) => each.includes("room_keys")), []);
  assertEquals(await history(fresh, roomId), ["before by backup"]);
});

Deno.test("Without a secret that opens the storage, or with backup: false, no backup is made or used", async () => {
  await using here = clientStage();
  const first = await started(here, "FIRST", { encryption: { recoveryKey: KEY, backup: false } });
  assertEquals(await outcomeOf(first), undefined);
  assertEquals((await first.crypto?.backup.info())?.problem, "absent");
  assertEquals((await first.crypto?.ensureVerified({}))?.backup, undefined);
  assertEquals((await first.crypto?.ensureVerified({ recoveryKey: KEY }))?.backup, "on");
});

Deno.test("A user who wants no backup gets none, and one that is there stays as it is", async () => {
  await using here = clientStage();
  const first = await started(here, "FIRST");
  await first.crypto?.backup.delete();
  const store = new MemoryStore();
  const next = await started(here, "NEXT", { store });
  assertEquals(await outcomeOf(next), "unwanted");
  assertEquals((await next.crypto?.backup.info())?.problem, "absent");
});

Deno.test("A backup whose key is another than the stored one is not used, whoever made it", async () => {
  await using here = clientStage();
  const first = await started(here, "FIRST");
  let recoveryKey = "";
  await first.crypto?.backup.reset({ onRecoveryKey: (key) => void (recoveryKey = key) }); // not stored
  const { fetch, made } = changes(here);
  const next = await patiently(here, started(here, "NEXT", { fetch }));
  assertEquals(await patiently(here, outcomeOf(next)), "wrong-key");
  const info = await next.crypto?.backup.info();
  assertEquals([info?.version, info?.problem], ["2", "untrusted"]);
  await said(next, "not for the backup of somebody");
  assertEquals(made.filter((each) => each.includes("room_keys")), []);
  assert(here.log.lines.some(([, message]) => message === "Room keys are not backed up"));

  await next.crypto?.backup.trust({ recoveryKey });
  assertEquals(await outcomeOf(next), "on");
});

Deno.test("A backup of an identity that was there before is not used: its key is not stored for this one", async () => {
  await using here = clientStage();
  const stranger = await device(here, "STRANGER");
  await stranger.crypto?.start();
  await stranger.crypto?.backup.create({ onRecoveryKey() {} });
  const bot = await started(here, "BOT");
  assertEquals(await outcomeOf(bot), "no-secret");
  assertEquals((await bot.crypto?.backup.info())?.version, "1", "it is not replaced");
});

Deno.test("A backup of an unknown algorithm is not used", async () => {
  await using here = clientStage();
  await started(here, "FIRST");
  const fetch = changed(here, "/room_keys/version", (body) => body.algorithm = "org.example.other");
  const next = await started(here, "NEXT", { fetch });
  assertEquals(await outcomeOf(next), "unusable");
});

Deno.test("A server without backups, or one that fails, does not keep a device from being verified", async () => {
  await using here = clientStage();
  const unsupported: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.includes("/room_keys/")) return await here.homeserver.fetch(request);
    return Response.json({ errcode: "M_UNKNOWN", error: "Internal" }, { status: 500 });
  };
  const first = await started(here, "FIRST", { fetch: unsupported });
  const report = await first.crypto?.ensureVerified();
  assertEquals([report?.state, report?.backup], ["verified", "failed"]);
});

Deno.test("A backup that the server hides is made again with the stored key, which opens what is hidden", async () => {
  await using here = clientStage();
  const first = await started(here, "FIRST");
  const roomId = await said(first, "before");
  let isHidden = true;
  const hiding: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const isVersion = request.method === "GET" && request.url.endsWith("/room_keys/version");
    if (!isVersion || !isHidden) return await here.homeserver.fetch(request);
    isHidden = false;
    return Response.json({ errcode: "M_NOT_FOUND", error: "None" }, { status: 404 });
  };
  const next = await started(here, "NEXT", { fetch: hiding });
  assertEquals(await outcomeOf(next), "on");
  assertEquals((await next.crypto?.backup.info())?.version, "2");
  await next.raw.deleteKeyBackupVersion("2");
  const fresh = await started(here, "FRESH");
  assertEquals(await history(fresh, roomId), ["before by backup"]);
});

Deno.test("Of two devices that make a backup at once, both use the one that stays, and a third reads it", async () => {
  await using here = clientStage();
  const slow = await device(here, "SLOW");
  await slow.crypto?.start();
  await started(here, "FIRST", { encryption: { recoveryKey: KEY, backup: false } });
  let rival: Client | undefined;
  const racing: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const isMade = request.method === "POST" && request.url.endsWith("/room_keys/version");
    const response = await here.homeserver.fetch(request);
    if (isMade) rival ??= await started(here, "RIVAL");
    return response;
  };
  const racer = await started(here, "RACER", { fetch: racing });
  assertEquals(await outcomeOf(racer), "on");
  assert(rival !== undefined);
  assertEquals(await outcomeOf(rival), "on");
  const [one, other] = [await racer.crypto?.backup.info(), await rival.crypto?.backup.info()];
  assertEquals([one?.version, one?.problem], [other?.version, other?.problem]);
  assertEquals(await outcomeOf(await started(here, "THIRD")), "on");
});

Deno.test("A new version that another own device makes and stores is used after the next call", async () => {
  await using here = clientStage();
  const first = await started(here, "FIRST");
  const second = await started(here, "SECOND");
  using storage = await second.secretStorage.open({ recoveryKey: KEY });
  await second.crypto?.backup.reset({ storage });
  await said(first, "after"); // its upload shows that there is another version
  await first.crypto?.idle();
  assertEquals(await outcomeOf(first), "on");
  const info = await first.crypto?.backup.info();
  assertEquals([info?.version, info?.isReadable], ["2", true]);
});

Deno.test("The key of the backup that is in use goes to the storage that a reset makes, and opens it there", async () => {
  await using here = clientStage();
  const bot = await started(here, "BOT");
  const roomId = await said(bot, "before");
  let recoveryKey = "";
  const report = await bot.crypto?.resetIdentity({
    onRecoveryKey: (key) => void (recoveryKey = key),
    password: PASSWORD,
    confirm: () => true,
  });
  assertEquals([report?.state, report?.backup], ["reset", "on"]);
  const next = await started(here, "NEXT", { encryption: { recoveryKey } });
  assertEquals(await outcomeOf(next), "on");
  assertEquals(await history(next, roomId), ["before by backup"]);
  assert(recoveryKey !== KEY && recoveryKey !== OTHER_KEY);
});

Deno.test("A backup is signed by the master key too, by which another own device follows to a new version", async () => {
  await using here = clientStage();
  const bot = await started(here, "BOT");
  const { auth_data } = await bot.raw.getKeyBackupVersion();
  const { master } = await bot.crypto?.getIdentity(ALICE) ?? {};
  const { signatures } = auth_data as { signatures?: Record<string, Record<string, string>> };
  assertEquals(Object.keys(signatures?.[ALICE] ?? {}).sort(), ["ed25519:BOT", `ed25519:${master}`].sort());
});

Deno.test("A backup that was left is not used again when it comes back with its stored key, but when its own key is given", async () => {
  await using here = clientStage();
  let isHidden = false;
  const hiding: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const isVersion = request.method === "GET" && request.url.endsWith("/room_keys/version");
    if (!isVersion || !isHidden) return await here.homeserver.fetch(request);
    return Response.json({ errcode: "M_NOT_FOUND", error: "None" }, { status: 404 });
  };
  const first = await started(here, "FIRST", { fetch: hiding });
  const { algorithm, auth_data } = await first.raw.getKeyBackupVersion();
  const name = "m.megolm_backup.v1";
  const content = await kept(first, name);
  using storage = await first.secretStorage.open({ recoveryKey: KEY });
  const recoveryKey = encodeRecoveryKey(Uint8Array.fromBase64(await storage.get(name) ?? ""));
  await first.crypto?.backup.reset({ storage });

  await first.raw.createKeyBackupVersion({ algorithm, auth_data }); // with the access token
  await plant(first, name, content);
  await said(first, "not for who has the old key");
  for (const bot of [first, await started(here, "FRESH", { store: new MemoryStore() })]) {
    await bot.crypto?.idle();
    const isFirst = bot === first; // the other one has not seen that it was left
    assertEquals(await outcomeOf(bot), isFirst ? "untrusted" : "on");
    if (isFirst) assertEquals((await bot.crypto?.backup.info())?.count, 0);
  }
  isHidden = true; // so that a new one is made, with the stored key
  assertEquals(await outcomeOf(first), "untrusted");
  isHidden = false;
  assertEquals((await first.raw.getKeyBackupVersion()).version, "3");
  const { problem } = await assertRejects(
    async () => await first.crypto?.backup.trust({ storage }),
    KeyBackupError,
  );
  assertEquals(problem, "untrusted");
  assertEquals((await first.crypto?.backup.trust({ recoveryKey }))?.problem, undefined);
});

Deno.test("A backup that was replaced, with the answer lost, is finished by the next start with the key, whether or not the device has noticed", async () => {
  for (const hasNoticed of [false, true]) {
    await using here = clientStage();
    const store = new MemoryStore();
    const losing: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const isLost = request.method === "POST" && request.url.endsWith("/room_keys/version");
      const response = await here.homeserver.fetch(request);
      if (isLost && isBegun) throw new TypeError("connection reset");
      return response;
    };
    let isBegun = false;
    const first = await started(here, "FIRST", { store, fetch: losing });
    const before = await said(first, "before");
    using storage = await first.secretStorage.open({ recoveryKey: KEY });
    isBegun = true;
    await assertRejects(async () => await first.crypto?.backup.reset({ storage }));
    if (hasNoticed) await said(first, "then"); // the version that it had is refused
    await first.close();

    const again = await started(here, "FIRST", { store });
    await again.crypto?.idle();
    assertEquals(await outcomeOf(again), "on");
    const info = await again.crypto?.backup.info();
    assertEquals([info?.version, info?.isReadable, info?.isComplete], ["2", true, true]);
    const fresh = await started(here, "FRESH");
    assertEquals(await outcomeOf(fresh), "on");
    assertEquals(await history(fresh, before), ["before by backup"]);
  }
});
