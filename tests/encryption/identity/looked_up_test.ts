/**
 * What a start with a kept store says of what other clients have changed since:
 * it is looked up, not remembered.
 */

import { assert, assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { backupOf } from "../backup/scene.ts";
import { plant } from "../secrets/scene.ts";
import { ENCRYPTED } from "../../client/support/encrypted_room.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { device, type DeviceOptions, history, KEY, OTHER_KEY, PASSWORD, patiently } from "./scene.ts";

const VERSION = { method: "GET", path: "/room_keys/version" };

/** A process of the bot, which has been started. */
async function process(
  here: ClientStage,
  store: MemoryStore,
  encryption: DeviceOptions["encryption"] = { recoveryKey: KEY },
): Promise<Client> {
  const client = await device(here, "BOT", { store, encryption });
  await patiently(here, client.crypto?.start());
  await client.crypto?.idle();
  return client;
}

/** The store of a bot that has said something in an encrypted room, and was closed. */
async function before(
  here: ClientStage,
  encryption?: DeviceOptions["encryption"],
): Promise<{ store: MemoryStore; roomId: RoomID }> {
  const store = new MemoryStore();
  const bot = await process(here, store, encryption);
  const roomId = await bot.createRoom({ initialState: ENCRYPTED });
  await bot.sendText(roomId, "before");
  await bot.crypto?.idle();
  await bot.close();
  return { store, roomId };
}

/** What a call says, and which version is in use. */
async function said(here: ClientStage, bot: Client) {
  const report = await patiently(here, bot.crypto?.ensureVerified());
  await bot.crypto?.idle();
  const { version, problem, isReadable, isComplete } = await backupOf(bot).info();
  return { state: report?.state, backup: report?.backup, version, problem, isReadable, isComplete };
}

/** What is said if all is well. */
const WELL = {
  state: "verified",
  backup: "on",
  problem: undefined,
  isReadable: true,
  isComplete: true,
} as const;

/** What a device reads that has nothing but a recovery key. */
async function readAnew(here: ClientStage, roomId: RoomID, recoveryKey = KEY): Promise<string[]> {
  const fresh = await device(here, "FRESH", { encryption: { recoveryKey } });
  await patiently(here, fresh.crypto?.start());
  return await history(fresh, roomId);
}

function warnings({ log: { lines } }: ClientStage): string[] {
  return lines.flatMap(([level, message]) => level === "warn" || level === "error" ? [message] : []);
}

/**
 * Resets encryption as Element does: all backups are deleted; identity, secret storage and backup are others.
 */
async function resetElsewhere(here: ClientStage): Promise<string> {
  const element = await device(here, "ELEMENT");
  const { version } = await element.raw.getKeyBackupVersion();
  await element.raw.deleteKeyBackupVersion(version);
  let recoveryKey = "";
  const onRecoveryKey = (key: string) => void (recoveryKey = key);
  const options = { onRecoveryKey, password: PASSWORD, backup: false, confirm: () => true };
  assertEquals((await element.crypto?.resetIdentity(options))?.state, "reset");
  using storage = await element.secretStorage.open({ recoveryKey });
  await backupOf(element).create({ storage });
  await element.close();
  return recoveryKey;
}

Deno.test("After encryption was reset elsewhere, a start with the new recovery key backs all up in the new backup", async () => {
  await using here = clientStage();
  const { store, roomId } = await before(here);
  const recoveryKey = await resetElsewhere(here);
  const bot = await process(here, store, { recoveryKey });
  assertEquals(await said(here, bot), { ...WELL, version: "2" });
  assertEquals(await readAnew(here, roomId, recoveryKey), ["before by backup"]);
});

Deno.test("A backup that another own device has replaced is used by the next start, and by the next call", async () => {
  for (const isRunning of [false, true]) {
    await using here = clientStage();
    const { store, roomId } = await before(here);
    const running = isRunning ? await process(here, store) : undefined;
    const other = await device(here, "OTHER", { encryption: { recoveryKey: KEY } });
    using storage = await other.secretStorage.open({ recoveryKey: KEY });
    await backupOf(other).reset({ storage });
    await other.close();
    assertEquals(await said(here, running ?? await process(here, store)), { ...WELL, version: "2" });
    assertEquals(await readAnew(here, roomId), ["before by backup"]);
  }
});

Deno.test("A backup that was deleted elsewhere is made again with the stored key, unless a client has noted that the user wants none", async () => {
  for (const isWanted of [true, false]) {
    await using here = clientStage();
    const { store, roomId } = await before(here);
    const other = await device(here, "OTHER");
    if (isWanted) await other.raw.deleteKeyBackupVersion("1");
    else await backupOf(other).delete();
    const now = await said(here, await process(here, store));
    if (!isWanted) {
      assertEquals([now.backup, now.problem], ["unwanted", "absent"]);
      continue;
    }
    assertEquals(now, { ...WELL, version: "2" });
    assertEquals(await readAnew(here, roomId), ["before by backup"]);
  }
});

Deno.test("A backup in place of the own one that nothing shows to be the user's is not said to be on", async () => {
  await using here = clientStage();
  const { store } = await before(here);
  const stranger = await device(here, "STRANGER", { encryption: { sendTo: "all", accept: "all" } });
  await stranger.crypto?.start();
  await backupOf(stranger).reset({ onRecoveryKey() {} });
  const now = await said(here, await process(here, store));
  assertEquals([now.state, now.backup, now.problem], ["verified", "wrong-key", "untrusted"]);
  assert(warnings(here).some((message) => message.startsWith("The backup of room keys was replaced")));
});

Deno.test("A server that can't say which backup there is keeps no device from starting, and is not taken to have it", async () => {
  await using here = clientStage();
  const { store } = await before(here);
  const fault = here.homeserver.faults.add({ kind: "status", status: 403, match: VERSION });
  const bot = await process(here, store);
  assertEquals((await bot.crypto?.ensureVerified())?.backup, "failed");
  assert(warnings(here).includes("Could not find out whether room keys are backed up"));
  fault[Symbol.dispose]();
  assertEquals(await said(here, bot), { ...WELL, version: "1" });
});

Deno.test("A recovery key or passphrase that has opened the secret storage and does not any more is warned of at each start, and nothing else is wrong", async () => {
  const passphrase = "a passphrase";
  const cases = [
    { by: { recoveryKey: KEY }, way: "changed" },
    { by: { recoveryKey: KEY }, way: "made anew" },
    { by: { recoveryKey: KEY }, way: "emptied" },
    { by: { passphrase }, way: "changed" },
  ] as const;
  for (const { by, way } of cases) {
    await using here = clientStage();
    const { store } = await before(here, by);
    const other = await device(here, "OTHER");
    const next = { recoveryKey: OTHER_KEY, onRecoveryKey() {} };
    if (way === "changed") await other.secretStorage.changeKey(by, next);
    else if (way === "made anew") await other.secretStorage.reset(next);
    else await plant(other, "m.secret_storage.default_key", {});
    for (const at of ["first", "second"]) {
      here.log.lines.length = 0;
      const bot = await process(here, store, by);
      const isTold = warnings(here).some((message) => message.includes("does not open the secret storage"));
      assert(isTold, `${way}, ${at}: ${JSON.stringify(here.log.lines)}`);
      if (at === "second") assertEquals(await said(here, bot), { ...WELL, version: "1" });
      await bot.close();
    }
  }
});

Deno.test("While the server does not say which key the secret storage has, a device that is verified starts", async () => {
  await using here = clientStage();
  const { store } = await before(here);
  const match = { method: "GET", path: "/account_data/m.secret_storage.default_key" };
  using _fault = here.homeserver.faults.add({ kind: "status", status: 403, match });
  assertEquals((await said(here, await process(here, store))).backup, "on");
  assert(warnings(here).includes("Could not look whether the recovery key opens the secret storage"));
});

Deno.test("What has not changed is looked up by two requests of a start, beside that for the devices", async () => {
  await using here = clientStage();
  const { store } = await before(here);
  const count = () => here.homeserver.requests.filter("GET", /./).length;
  const start = count();
  await process(here, store);
  const paths = here.homeserver.requests.filter("GET", /./).slice(start).map(({ path }) => path);
  const looks = paths.filter((path) => /room_keys|account_data/.test(path));
  assertEquals(looks.map((path) => path.split("/").slice(-2).join("/")).sort(), [
    "account_data/m.secret_storage.default_key",
    "room_keys/version",
  ]);
  assertEquals(warnings(here), []);
});
