import { assert, assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { Client, DecryptionDispatcher, encryptionOf, MemoryStore } from "@greenroom/matrix";
import { DeviceConflictError, EncryptionError } from "@greenroom/matrix/errors";
import { type MessageEvent, SyncStream } from "@greenroom/matrix/types";
import { rejectionOf } from "../../actors/kernel/support.ts";
import { begin, twoInARoom } from "../support/encrypted_room.ts";
import { clientStage, heard } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

Deno.test("Two clients talk in an encrypted room, and the server sees nothing of it", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  const events: MessageEvent[] = [];
  bob.on("m.room.message", (event) => void events.push(event as MessageEvent));
  const texts = heard(alice);
  await alice.sendText(roomId, "Break a leg");
  await stage.until(() => events.length === 1);
  await bob.sendText(roomId, "Thank you");
  await stage.until(() => texts.includes("Thank you"));
  assertEquals(events[0]?.content.body, "Break a leg");
  assertEquals(encryptionOf(events[0] as MessageEvent)?.senderTrust, "unsigned-device");
  assertEquals(encryptionOf(events[0] as MessageEvent)?.senderDevice, alice.deviceId);
  const { chunk } = await bob.getMessages(roomId, "b", undefined, { limit: 2 });
  assertEquals(chunk.map(({ type }) => type), ["m.room.encrypted", "m.room.encrypted"]);
  assert(!JSON.stringify(chunk).includes("Break a leg"));
});

Deno.test("A client goes on with the keys of its store: a restart changes nothing for others", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  const store = new MemoryStore();
  const sessions: (string | undefined)[] = [];
  bob.on("m.room.message", (event) => void sessions.push(encryptionOf(event as MessageEvent)?.sessionId));
  const identities: unknown[] = [];
  const uploads: number[] = [];
  for (const round of [1, 2]) {
    const carol = stage.client("carol", { encryption: EVERYBODY, store });
    await begin(stage, carol);
    if (round === 1) {
      await alice.inviteUser(roomId, "@carol:localhost");
      await carol.joinRoom(roomId);
      await stage.settle();
    }
    await carol.sendText(roomId, `Round ${round}`);
    await stage.until(() => sessions.length === round);
    identities.push(await carol.crypto?.getOwnDeviceKeys());
    const requests = stage.homeserver.requests.filter("POST", "/keys/upload");
    uploads.push(requests.filter(({ user }) => user === "@carol:localhost").length);
    await carol.close();
  }
  assertEquals(sessions[0], sessions[1]);
  assertEquals(identities[0], identities[1]);
  assertEquals(uploads, [2, 2]); // one-time keys, and the device's own once they were taken
});

Deno.test("A device that the server knows with other keys is named, and syncing ends", async () => {
  await using stage = clientStage();
  const first = stage.client("alice", { encryption: EVERYBODY });
  first.start();
  await stage.settle();
  await first.close();
  const second = stage.client("alice", { encryption: EVERYBODY }); // the same device, and none of its keys
  const error = await rejectionOf(second.start());
  assertInstanceOf(error, DeviceConflictError);
  assertStringIncludes(error.message, `${second.deviceId} of @alice:localhost`);
  await assertRejects(() => second.done);
});

Deno.test("A message that comes in clear into an encrypted room is not handled, unless that was asked for", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  const carol = stage.client("carol", { encryption: { ...EVERYBODY, unencrypted: "deliver" } });
  await begin(stage, carol);
  await alice.inviteUser(roomId, "@carol:localhost");
  await carol.joinRoom(roomId);
  const [atBob, atCarol] = [heard(bob), heard(carol)];
  const clear: string[] = [];
  bob.on("UNENCRYPTED", ({ event }) => void clear.push(String(event.content.body)));
  await stage.settle();
  await alice.sendText(roomId, "In clear", { disableEncryption: true });
  await alice.sendText(roomId, "In secret");
  await stage.until(() => atCarol.length === 2 && atBob.length === 1);
  assertEquals([atBob, clear, atCarol], [["In secret"], ["In clear"], ["In clear", "In secret"]]);
});

Deno.test("A user who was just invited gets the key of the next event, and one who was just removed does not", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  const carol = stage.client("carol", { encryption: EVERYBODY });
  await begin(stage, carol);
  await alice.sendText(roomId, "Among us");
  await alice.stop(); // no sync tells
  await alice.inviteUser(roomId, "@carol:localhost");
  const users = async () => (await alice.shareGroupSession(roomId)).shared.map(({ userId }) => userId).sort();
  assertEquals(await users(), ["@bob:localhost", "@carol:localhost"]);
  await alice.kickUser(roomId, "@bob:localhost");
  assertEquals(await users(), ["@carol:localhost"]);
});

Deno.test("A user who has joined before the invitation is answered gets the key where history is for members", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  await alice.sendStateEvent(roomId, "m.room.history_visibility", { history_visibility: "joined" });
  const carol = stage.client("carol", { encryption: EVERYBODY });
  await begin(stage, carol);
  let hasJoined = false;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await stage.homeserver.fetch(input, init);
    if (!String(input).endsWith("/invite")) return response;
    await carol.joinRoom(roomId);
    await stage.until(() => hasJoined);
    return response;
  };
  const dana = stage.client("dana", { encryption: EVERYBODY, fetch });
  dana.on("m.room.member", ({ state_key, content }) => {
    hasJoined ||= state_key === "@carol:localhost" && content.membership === "join";
  });
  await begin(stage, dana);
  await alice.inviteUser(roomId, "@dana:localhost");
  await dana.joinRoom(roomId);
  await stage.settle();
  await dana.shareGroupSession(roomId);
  await dana.inviteUser(roomId, "@carol:localhost");
  const { shared } = await dana.shareGroupSession(roomId);
  assertEquals(shared.map(({ userId }) => userId).sort(), [
    "@alice:localhost",
    "@bob:localhost",
    "@carol:localhost",
  ]);
});

Deno.test("A handler that is at work when the client is closed can still answer in an encrypted room", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  const gate = Promise.withResolvers<void>();
  const texts = heard(alice);
  const heardIt = Promise.withResolvers<void>();
  bob.on("m.room.message", async ({ sender }) => {
    if (sender === bob.mxid) return;
    heardIt.resolve();
    await gate.promise;
    await bob.sendText(roomId, "Last words");
  });
  await alice.sendText(roomId, "Any last words?");
  await stage.until(() => texts.length === 1);
  await heardIt.promise;
  const closed = bob.close();
  gate.resolve();
  await closed;
  await stage.until(() => texts.includes("Last words"));
});

Deno.test("An event whose send was rejected is not sent by the next process", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  const store = new MemoryStore();
  const carol = stage.client("carol", { encryption: EVERYBODY, store });
  await begin(stage, carol);
  await alice.inviteUser(roomId, "@carol:localhost");
  await carol.joinRoom(roomId);
  await carol.sendText(roomId, "Arrives");
  stage.homeserver.faults.add({ kind: "status", status: 403, match: { path: "/send/" } });
  await assertRejects(() => carol.sendText(roomId, "Does not"));
  await carol.close();
  const sends = () => stage.homeserver.requests.filter("PUT", "/send/").length;
  const before = sends();
  await begin(stage, stage.client("carol", { encryption: EVERYBODY, store }));
  await stage.settle();
  assertEquals(sends(), before);
});

Deno.test("A client that only sends, and never syncs, publishes its keys before it does", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  const script = stage.client("script", { encryption: EVERYBODY });
  await alice.inviteUser(roomId, "@script:localhost");
  await script.joinRoom(roomId);
  const trusts: (string | undefined)[] = [];
  bob.on("m.room.message", (event) => void trusts.push(encryptionOf(event as MessageEvent)?.senderDevice));
  await script.sendText(roomId, "From a script");
  await stage.until(() => trusts.length === 1);
  const requests = [...stage.homeserver.requests].filter(({ user }) => user === "@script:localhost");
  const index = (path: string) => requests.findIndex((request) => request.path.includes(path));
  assert(index("/keys/upload") >= 0 && index("/keys/upload") < index("/sendToDevice/"));
});

Deno.test("An event of a room's history can be decrypted, or dispatched to be decrypted", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  const texts = heard(bob);
  const eventId = await alice.sendText(roomId, "Once");
  await stage.until(() => texts.length === 1);
  const event = { ...await bob.getEvent(roomId, eventId), source: SyncStream.INTERNAL } as MessageEvent;
  assertEquals(event.type, "m.room.encrypted");
  const result = await bob.crypto?.decrypt(event);
  assert(result !== undefined && "event" in result);
  assertEquals(result.event.content.body, "Once");
  await Promise.all(bob.dispatchEvent(event, SyncStream.INTERNAL));
  assertEquals(texts, ["Once", "Once"]);
});

Deno.test("A client has the dispatcher that decrypts if it has encryption", () => {
  const client = new Client({ baseUrl: "http://localhost", encryption: EVERYBODY });
  assert(client.dispatchers.has(DecryptionDispatcher));
  const plain = new Client({ baseUrl: "http://localhost" });
  assert(!plain.dispatchers.has(DecryptionDispatcher));
});

Deno.test("Keys that could not be sent keep the message back, and are sent again as they were", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  stage.homeserver.faults.add({ kind: "status", status: 500, match: { path: "sendToDevice" } });
  const texts = heard(bob);
  const error = await rejectionOf(alice.sendText(roomId, "Lost?", { txnId: "txn" }));
  assertInstanceOf(error, EncryptionError);
  assertEquals(texts, []);
  stage.homeserver.faults.clear();
  await alice.sendText(roomId, "Found", { txnId: "txn" });
  await stage.until(() => texts.length === 1);
  assertEquals(
    new Set(stage.homeserver.requests.filter("PUT", "sendToDevice").map(({ path }) => path)).size,
    1,
  );
});

Deno.test("A client can be closed immediately while the server does not answer about its keys", async () => {
  await using stage = clientStage();
  const alice = stage.client("alice", { encryption: EVERYBODY });
  const held = stage.homeserver.faults.add({ kind: "hold", match: { path: "/keys/upload" } });
  alice.start();
  await held.hit();
  await alice.close(); // time stands still: it waits for no deadline
});
