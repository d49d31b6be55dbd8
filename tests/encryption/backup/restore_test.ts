import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type Client, encryptionOf, ValueError } from "@greenroom/matrix";
import { KeyBackupError, ServiceResponseError } from "@greenroom/matrix/errors";
import {
  type KeyRestoreProgress,
  type MessageEvent,
  PaginationDirection,
  type RoomID,
} from "@greenroom/matrix/types";
import { fileOf, newEntries, PASSPHRASE } from "../../crypto/key_files/stage.ts";
import { begin, twoInARoom, withholding } from "../../client/support/encrypted_room.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { backupOf, newDevice } from "./scene.ts";

/** Bob has a backup of what Alice has said to him; its recovery key. */
async function backedUp(stage: ClientStage) {
  const { alice, bob, roomId } = await twoInARoom(stage);
  await alice.sendText(roomId, "First");
  await stage.settle();
  let recoveryKey = "";
  await backupOf(bob).create({ onRecoveryKey: (key) => void (recoveryKey = key) });
  await bob.crypto?.idle();
  assertEquals((await backupOf(bob).info()).count, 1);
  return { alice, bob, roomId, recoveryKey };
}

/** The latest event of a room that is encrypted. */
async function latest(client: Client, roomId: RoomID): Promise<MessageEvent> {
  const { chunk } = await client.getMessages(roomId, PaginationDirection.BACKWARD, undefined);
  const event = chunk.find(({ type }) => type === "m.room.encrypted");
  assert(event);
  return event as MessageEvent;
}

Deno.test("A device that has lost everything reads history by the backup", async () => {
  await using stage = clientStage();
  const { roomId, recoveryKey } = await backedUp(stage);
  const fresh = await newDevice(stage, { name: "bob" });
  const before = await fresh.crypto?.decrypt(await latest(fresh, roomId));
  assert(before !== undefined && !("event" in before));
  await backupOf(fresh).trust({ recoveryKey });
  const read = await fresh.crypto?.decrypt(await latest(fresh, roomId));
  assert(read !== undefined && "event" in read);
  assertEquals(read.event.content.body, "First");
  const { keySource, senderTrust } = encryptionOf(read.event) ?? {};
  assertEquals([keySource, senderTrust], ["backup", "unknown-device"]);
});

Deno.test("An event that came without its key is delivered when the backup is trusted", async () => {
  await using stage = clientStage();
  const { alice, roomId, recoveryKey } = await backedUp(stage);
  const { fetch } = withholding(stage);
  const fresh = await newDevice(stage, { name: "bob", fetch });
  const told: string[] = [];
  fresh.on("UNDECRYPTABLE", ({ code }) => void told.push(code));
  fresh.on("m.room.message", ({ content }) => void told.push(content.body));
  await begin(stage, fresh);
  await alice.sendText(roomId, "Second");
  await stage.until(() => told.length > 0);
  await backupOf(fresh).trust({ recoveryKey });
  await stage.until(() => told.includes("Second"));
  assertEquals(told.filter((each) => each !== "MISSING_KEY"), ["First", "Second"]);
});

Deno.test("An event that waits for its key is delivered when decrypt() has got that for another", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId, recoveryKey } = await backedUp(stage);
  const { fetch } = withholding(stage);
  const fresh = await newDevice(stage, { name: "bob", fetch, retry: false });
  const told: string[] = [];
  fresh.on("UNDECRYPTABLE", ({ code }) => void told.push(code));
  fresh.on("m.room.message", ({ content }) => void told.push(content.body));
  await begin(stage, fresh);
  await backupOf(fresh).trust({ recoveryKey });
  await stage.until(() => told.includes("First"));
  await alice.crypto?.discardGroupSession(roomId);
  const match = { method: "GET", path: "/room_keys/keys" };
  const fault = stage.homeserver.faults.add({ kind: "status", status: 500, match });
  told.length = 0;
  await alice.sendText(roomId, "Second");
  await stage.until(() => told.length > 0);
  await fresh.crypto?.idle();
  await bob.crypto?.idle();
  fault[Symbol.dispose]();
  assertEquals(told, ["MISSING_KEY"]);
  const read = await fresh.crypto?.decrypt(await latest(fresh, roomId));
  assert(read !== undefined && "event" in read);
  await stage.until(() => told.includes("Second"));
});

Deno.test("restore() restores all keys with progress, and again for nothing", async () => {
  await using stage = clientStage();
  const { bob, recoveryKey } = await backedUp(stage);
  const entries = [...newEntries(300), ...newEntries(150, { room_id: "!other:localhost" })];
  await bob.crypto?.importKeys(await fileOf(entries), { passphrase: PASSPHRASE });
  await bob.crypto?.idle();
  assertEquals((await backupOf(bob).info()).count, 451);
  const fresh = await newDevice(stage, { name: "bob" });
  await backupOf(fresh).trust({ recoveryKey });
  await fresh.crypto?.idle();
  const uploads = () => stage.homeserver.requests.filter("PUT", "/room_keys/keys").length;
  const before = uploads();
  const progress: KeyRestoreProgress[] = [];
  const report = await backupOf(fresh).restore({ onProgress: (each) => progress.push(each) });
  assertEquals(report, { total: 451, added: 451, improved: 0, known: 0, refused: 0 });
  assertEquals(progress.map(({ done, total }) => [done, total]), [[200, 451], [400, 451], [451, 451]]);
  assertEquals(await backupOf(fresh).restore(), { ...report, added: 0, known: 451 });
  await fresh.crypto?.idle();
  assertEquals(uploads(), before, "nothing goes back");
});

Deno.test("restore() needs the key of the backup, and stops when it is aborted", async () => {
  await using stage = clientStage();
  const { bob, recoveryKey } = await backedUp(stage);
  await bob.crypto?.importKeys(await fileOf(newEntries(300)), { passphrase: PASSPHRASE });
  await bob.crypto?.idle();
  const fresh = await newDevice(stage, { name: "bob" });
  const error = await assertRejects(() => backupOf(fresh).restore(), KeyBackupError);
  assertEquals(error.problem, "untrusted");
  await backupOf(fresh).trust({ recoveryKey });
  const stop = new AbortController();
  const aborted = backupOf(fresh).restore({ signal: stop.signal, onProgress: () => stop.abort("enough") });
  assertEquals(await aborted.catch((error) => error), "enough");
  const { added, known } = await backupOf(fresh).restore();
  assertEquals([added, known], [101, 200]);
});

Deno.test("restore() says so if the answer breaks off, and keeps what had come", async () => {
  await using stage = clientStage();
  const { recoveryKey } = await backedUp(stage);
  const cut: typeof fetch = async (input, init) => {
    const response = await stage.homeserver.fetch(input, init);
    if (!new URL(new Request(input).url).pathname.endsWith("/room_keys/keys")) return response;
    return new Response((await response.text()).slice(0, -2));
  };
  const fresh = await newDevice(stage, { name: "bob", fetch: cut });
  await backupOf(fresh).trust({ recoveryKey });
  await assertRejects(() => backupOf(fresh).restore(), ServiceResponseError, "breaks off");
});

Deno.test("restore() takes no more keys than its limit, says so, and goes on where it ended", async () => {
  await using stage = clientStage();
  const { bob, recoveryKey } = await backedUp(stage);
  await bob.crypto?.importKeys(await fileOf(newEntries(300)), { passphrase: PASSPHRASE });
  await bob.crypto?.idle();
  const fresh = await newDevice(stage, { name: "bob" });
  await backupOf(fresh).trust({ recoveryKey });
  for (const limit of [0, 1.5, NaN]) {
    await assertRejects(() => backupOf(fresh).restore({ limit }), ValueError, "limit");
  }
  for (const limit of [1, 50, 250, 300]) {
    const error = await assertRejects(() => backupOf(fresh).restore({ limit }), ServiceResponseError);
    assertStringIncludes(error.message, `more than ${limit};`);
  }
  const { added, known } = await backupOf(fresh).restore({ limit: 301 });
  assertEquals([added, known], [1, 300]);
});

Deno.test("restore() takes no key of a version that is not in use any more", async () => {
  await using stage = clientStage();
  const { recoveryKey } = await backedUp(stage);
  const late: typeof fetch = async (input, init) => {
    const response = await stage.homeserver.fetch(input, init);
    const isAll = new URL(new Request(input).url).pathname.endsWith("/room_keys/keys");
    if (isAll) await backupOf(fresh).reset({ onRecoveryKey() {} });
    return response;
  };
  const fresh = await newDevice(stage, { name: "bob", fetch: late });
  await backupOf(fresh).trust({ recoveryKey });
  const { problem } = await assertRejects(() => backupOf(fresh).restore(), KeyBackupError);
  assertEquals(problem, "changed");
});

Deno.test("A key that the backup does not have is asked for again after ten minutes, and at once if the server failed", async () => {
  await using stage = clientStage();
  const { roomId, recoveryKey } = await backedUp(stage);
  const fresh = await newDevice(stage, { name: "bob", retry: false });
  const event = await latest(fresh, roomId);
  const session_id = newEntries(1)[0]?.session_id ?? "";
  const asks = async (session: string) => {
    const before = stage.homeserver.requests.filter("GET", "/room_keys/keys").length;
    const read = await fresh.crypto?.decrypt({
      ...event,
      content: { ...event.content, session_id: session },
    });
    assert(read !== undefined && !("event" in read));
    return stage.homeserver.requests.filter("GET", "/room_keys/keys").length - before;
  };
  assertEquals(await asks(session_id), 0, "no backup is in use");
  await backupOf(fresh).trust({ recoveryKey });
  assertEquals(await asks("x".repeat(1_000)), 0, "it is the name of none");
  const path = "/room_keys/keys";
  const fault = stage.homeserver.faults.add({ kind: "status", status: 500, match: { method: "GET", path } });
  assertEquals([await asks(session_id), await asks(session_id)], [1, 1]);
  const warnings = () => stage.log.lines.filter((line) => JSON.stringify(line).includes("ask the backup"));
  assertEquals(warnings().length, 2);
  fault[Symbol.dispose]();
  assertEquals([await asks(session_id), await asks(session_id)], [1, 0]);
  await stage.clock.tick(10 * 60_000);
  assertEquals([await asks(session_id), warnings().length], [1, 2]);
});

Deno.test("restore() puts nothing back of what comes, while keys that were here go into the backup", async () => {
  await using stage = clientStage();
  const { bob, recoveryKey } = await backedUp(stage);
  await bob.crypto?.importKeys(await fileOf(newEntries(200)), { passphrase: PASSPHRASE });
  await bob.crypto?.idle();
  let put = 0;
  const counting: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.method === "PUT" && request.url.includes("/room_keys/keys")) {
      const { rooms } = await request.clone().json() as { rooms: Record<string, { sessions: object }> };
      for (const { sessions } of Object.values(rooms)) put += Object.keys(sessions).length;
    }
    return await stage.homeserver.fetch(request);
  };
  const fresh = await newDevice(stage, { name: "bob", fetch: counting });
  await fresh.crypto?.importKeys(await fileOf(newEntries(300)), { passphrase: PASSPHRASE });
  await backupOf(fresh).trust({ recoveryKey });
  assertEquals((await backupOf(fresh).restore()).added, 201);
  await fresh.crypto?.idle();
  assertEquals(put, 300);
});
