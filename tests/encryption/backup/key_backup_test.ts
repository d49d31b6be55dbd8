import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, defineEvent, MatrixError, MemoryStore, ValueError } from "@greenroom/matrix";
import { KeyBackupError, SecretStorageError } from "@greenroom/matrix/errors";
import { begin, ENCRYPTED, twoInARoom } from "../../client/support/encrypted_room.ts";
import { clientStage } from "../../client/support/stage.ts";
import { backupOf, newDevice, SECRET, withStorage } from "./scene.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const WANTED = defineEvent({ type: "m.key_backup", class: "account_data" });

/** Why a backup could not be made or trusted. */
async function problem(work: Promise<unknown>): Promise<string> {
  return (await assertRejects(() => work, KeyBackupError)).problem;
}

Deno.test("create() makes a backup whose key is in the secret storage, and keys go into it", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  await alice.sendText(roomId, "before");
  const { recoveryKey } = await alice.secretStorage.create({ onRecoveryKey() {} });
  using storage = await alice.secretStorage.open({ recoveryKey });
  const none = {
    version: undefined,
    count: 0,
    problem: "absent",
    isReadable: false,
    isComplete: false,
    isWanted: undefined,
  } as const;
  assertEquals(await backupOf(alice).info(), none);

  const made = await backupOf(alice).create({ storage });
  assertEquals(made, { ...none, version: "1", problem: undefined, isReadable: true, isWanted: true });
  await alice.crypto?.idle();
  const now = await backupOf(alice).info();
  assertEquals(now, { ...made, count: 1, isComplete: true });
  assertEquals(await alice.getAccountData(WANTED), { enabled: true });
  assertEquals((await storage.get("m.megolm_backup.v1"))?.length, 43);
});

Deno.test("trust() uses the backup of another client, by the secret storage or its recovery key", async () => {
  await using stage = clientStage();
  const { client: alice, storage } = await withStorage(stage);
  let recoveryKey = "";
  await backupOf(alice).create({ storage, onRecoveryKey: (key) => void (recoveryKey = key) });
  for (const by of [{ storage }, { recoveryKey }]) {
    const other = await newDevice(stage);
    assertEquals((await backupOf(other).info()).problem, "untrusted");
    const { problem, isReadable } = await backupOf(other).trust(by);
    assertEquals([problem, isReadable], [undefined, true]);
  }
});

Deno.test("S38: trust() uses no backup with a wrong key, and says what is wrong", async () => {
  await using stage = clientStage();
  const { client: alice, storage } = await withStorage(stage);
  const backup = backupOf(alice);
  assertEquals(await problem(backup.trust({ storage })), "no-secret");
  let recoveryKey = "";
  const keep = { onRecoveryKey: (key: string) => void (recoveryKey = key) };
  await backup.create(keep);
  const old = recoveryKey;
  await backup.delete();
  assertEquals(await problem(backup.trust({ recoveryKey })), "absent");
  await backup.create(keep);
  assertEquals(await problem(backup.trust({ recoveryKey: old })), "wrong-key");
  await storage.set("m.megolm_backup.v1", "no key");
  assertEquals(await problem(backup.trust({ storage })), "wrong-key");
  const typo = `${recoveryKey.slice(0, -1)}${recoveryKey.endsWith("A") ? "B" : "A"}`;
  await assertRejects(() => backup.trust({ recoveryKey: typo }), SecretStorageError);
  for (const by of [{}, { storage, recoveryKey }]) {
    await assertRejects(() => backup.trust(by as { recoveryKey: string }), ValueError);
  }
  assertEquals((await backup.info()).problem, undefined, "the one that was in use still is");
});

Deno.test("Keys from before go into the backup as soon as create() has made it, or trust() uses it", async () => {
  await using stage = clientStage();
  const uploads = () => stage.homeserver.requests.filter("PUT", "/room_keys/keys").length;
  let recoveryKey = "";
  const works = [
    (client: Client) => backupOf(client).create({ onRecoveryKey: (key) => void (recoveryKey = key) }),
    (client: Client) => backupOf(client).trust({ recoveryKey }),
  ];
  for (const work of works) {
    const client = await newDevice(stage, { name: "bob" });
    await client.crypto?.start();
    await client.sendText(await client.createRoom({ initialState: ENCRYPTED }), "before");
    await client.crypto?.idle();
    const before = uploads();
    await work(client);
    await stage.until(() => uploads() > before);
  }
});

Deno.test("trust() uses no backup of an unknown algorithm, whose key can't be told", async () => {
  await using stage = clientStage();
  const { client: alice, storage } = await withStorage(stage);
  await backupOf(alice).create({ storage });
  const { auth_data } = await alice.raw.getKeyBackupVersion();
  await alice.raw.createKeyBackupVersion({ algorithm: "org.example.other", auth_data });
  const other = await newDevice(stage);
  assertEquals(await problem(backupOf(other).trust({ storage })), "unusable");
  assertEquals((await backupOf(other).info()).problem, "unusable");
});

Deno.test("delete() ends, however many versions the server shows", async () => {
  await using stage = clientStage();
  let deleted = 0;
  const endless: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.method !== "DELETE") return await stage.homeserver.fetch(request);
    deleted++;
    return Response.json({});
  };
  const alice = stage.client("alice", { encryption: EVERYBODY, fetch: endless });
  await backupOf(alice).create({ onRecoveryKey() {} });
  await backupOf(alice).delete();
  assertEquals(deleted, 1_000);
});

Deno.test("create() makes no second backup, reset() does; the one in use has its key stored once more", async () => {
  await using stage = clientStage();
  const { client: alice, storage } = await withStorage(stage);
  const backup = backupOf(alice);
  await assertRejects(() => backup.create({}), ValueError);
  await backup.create({ storage });
  const first = await storage.get("m.megolm_backup.v1");
  const other = await newDevice(stage);
  assertEquals(await problem(backupOf(other).create({ storage })), "exists");
  assertEquals(await storage.get("m.megolm_backup.v1"), first);
  await storage.delete("m.megolm_backup.v1");
  assertEquals((await backup.create({ storage })).version, "1");
  assertEquals(await storage.get("m.megolm_backup.v1"), first);
  const { version, problem: none } = await backup.reset({ storage });
  assertEquals([version, none], ["2", undefined]);
  const second = await storage.get("m.megolm_backup.v1");
  assert(second !== undefined && second !== first);
});

Deno.test("Another process of the device goes on with the backup, without being told", async () => {
  await using stage = clientStage();
  const store = new MemoryStore();
  const options = { encryption: EVERYBODY, store };
  {
    await using first = stage.client("alice", options);
    await backupOf(first).create({ onRecoveryKey() {} });
  }
  const second = stage.client("alice", options);
  await begin(stage, second);
  const roomId = await second.createRoom({
    initialState: ENCRYPTED,
  });
  await second.sendText(roomId, "to myself");
  await second.crypto?.idle();
  const { count, isComplete } = await backupOf(second).info();
  assertEquals([count, isComplete], [1, true]);
});

Deno.test("delete() deletes all versions and the secret, and notes that the user wants none", async () => {
  await using stage = clientStage();
  const { client: alice, storage } = await withStorage(stage);
  const backup = backupOf(alice);
  await backup.create({ storage });
  await backup.reset({ storage });
  await backup.delete({ storage });
  const { problem, isWanted } = await backup.info();
  assertEquals([problem, isWanted], ["absent", false]);
  assertEquals(await storage.get("m.megolm_backup.v1"), undefined);
  await backup.delete();
});

Deno.test("Nothing is made if onRecoveryKey throws or rejects, and the next call hands out the same key", async () => {
  await using stage = clientStage();
  const alice = stage.client("alice", { encryption: EVERYBODY });
  const keys: string[] = [];
  const full = new TypeError("the disk is full");
  const ways = [
    () => {
      throw full;
    },
    () => Promise.reject(full),
  ];
  for (const fail of ways) {
    const failing = (key: string) => {
      keys.push(key);
      return fail();
    };
    await assertRejects(
      () => backupOf(alice).create({ onRecoveryKey: failing }),
      TypeError,
      "the disk is full",
    );
    assertEquals((await backupOf(alice).info()).problem, "absent");
  }
  await backupOf(alice).create({ onRecoveryKey: (key) => void keys.push(key) });
  assertEquals([new Set(keys).size, keys.length], [1, 3]);
});

Deno.test("Nothing goes into a backup whose key could not be stored", async () => {
  await using stage = clientStage();
  const { client: alice, storage } = await withStorage(stage, { retry: false });
  await alice.crypto?.start();
  await alice.sendText(await alice.createRoom({ initialState: ENCRYPTED }), "before");
  const match = { method: "PUT", path: `/account_data/${SECRET}` };
  using _fault = stage.homeserver.faults.add({ kind: "status", status: 403, match });
  await assertRejects(() => backupOf(alice).create({ storage }), MatrixError);
  await alice.crypto?.idle();
  assertEquals((await backupOf(alice).info()).problem, "untrusted");
  assertEquals(stage.homeserver.requests.filter("PUT", "/room_keys/keys").length, 0);
});
