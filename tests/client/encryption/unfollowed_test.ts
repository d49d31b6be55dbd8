/**
 * Sending into encrypted rooms while no sync tells who comes and goes: members and devices are
 * asked for.
 */

import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { type Client, type Clock, MemoryStore } from "@greenroom/matrix";
import { EncryptionError } from "@greenroom/matrix/errors";
import type { MessageEvent, RoomID } from "@greenroom/matrix/types";
import { begin, ENCRYPTED } from "../support/encrypted_room.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** For how long what was asked for is taken for what is so, in milliseconds. */
const FRESH = 10_000;
const SCRIPT = "@script:localhost";

/**
 * Bob and Carol follow their syncs; the script, which made the room, does not, and Carol is not in
 * the room.
 */
async function scene(stage: ClientStage, script: Client = stage.client("script", { encryption: EVERYBODY })) {
  const [bob, carol] = [
    stage.client("bob", { encryption: EVERYBODY }),
    stage.client("carol", { encryption: EVERYBODY }),
  ];
  for (const client of [bob, carol]) await begin(stage, client);
  const initialState = ENCRYPTED;
  const roomId = await script.createRoom({ preset: "public_chat", initialState });
  await bob.joinRoom(roomId);
  await stage.settle();
  await script.sendText(roomId, "Hello");
  return { script, bob, carol, roomId };
}

/** What the script has asked of the server since it was last told: members and devices. */
function questions({ homeserver }: ClientStage): number {
  const asked = [...homeserver.requests].filter(({ user, path }) =>
    user === SCRIPT && (path.endsWith("/members") || path.endsWith("/keys/query"))
  );
  homeserver.requests.clear();
  return asked.length;
}

/** The session of a client's message, as another decrypts it. */
async function sessionOf(reader: Client, roomId: RoomID, eventId: string): Promise<unknown> {
  return (await reader.getEvent(roomId, eventId as `$${string}`) as MessageEvent).content.session_id;
}

const sharedWith = async (client: Client, roomId: RoomID) =>
  (await client.shareGroupSession(roomId)).shared.map(({ userId }) => userId).sort();

Deno.test("Without a sync, a new member can decrypt the next event, and a former one does not get the key", async () => {
  await using stage = clientStage();
  const { script, bob, carol, roomId } = await scene(stage);
  const first = await script.sendText(roomId, "First");
  await carol.joinRoom(roomId);
  await stage.clock.tick(FRESH);
  const [atBob, atCarol] = [heard(bob), heard(carol)];
  await script.sendText(roomId, "For both");
  await stage.until(() => atBob.includes("For both") && atCarol.includes("For both"));
  assertEquals(await sharedWith(script, roomId), ["@bob:localhost", "@carol:localhost"]);
  await bob.leaveRoom(roomId);
  await stage.clock.tick(FRESH);
  assertEquals(await sharedWith(script, roomId), ["@carol:localhost"]);
  const last = await script.sendText(roomId, "For Carol");
  await stage.until(() => atCarol.includes("For Carol"));
  const [before, after] = [await sessionOf(carol, roomId, first), await sessionOf(carol, roomId, last)];
  assert(before !== undefined && before !== after, "the session that Bob has goes on");
});

Deno.test("Without a sync, a member's new device gets the key, and one that is gone does not", async () => {
  await using stage = clientStage();
  const { script, bob, roomId } = await scene(stage);
  const phone = stage.client("phone", { encryption: EVERYBODY, accessToken: undefined });
  await phone.login({ identifier: "@bob:localhost", password: "password of bob" });
  await begin(stage, phone);
  await stage.clock.tick(FRESH);
  const texts = heard(phone);
  const first = await script.sendText(roomId, "To the phone");
  await stage.until(() => texts.includes("To the phone"));
  await phone.close();
  await stage.client("phone", { accessToken: phone.api.accessToken }).logout();
  await stage.clock.tick(FRESH);
  const { shared } = await script.shareGroupSession(roomId);
  assertEquals(shared.map(({ deviceId }) => deviceId), [bob.deviceId]);
  const last = await script.sendText(roomId, "Not to the phone");
  assert(await sessionOf(bob, roomId, first) !== await sessionOf(bob, roomId, last));
});

Deno.test("A process that has not synced yet asks before it sends: whatever has changed while it was away counts", async () => {
  await using stage = clientStage();
  const store = new MemoryStore();
  const first = stage.client("script", { encryption: EVERYBODY, store });
  const { bob, carol, roomId } = await scene(stage, first);
  await carol.joinRoom(roomId);
  await begin(stage, first);
  await first.sendText(roomId, "To both");
  await first.close();
  await bob.leaveRoom(roomId);
  const phone = stage.client("phone", { encryption: EVERYBODY, accessToken: undefined });
  await phone.login({ identifier: "@carol:localhost", password: "password of carol" });
  await begin(stage, phone);
  const second = stage.client("script", { encryption: EVERYBODY, store });
  assertEquals(await sharedWith(second, roomId), ["@carol:localhost", "@carol:localhost"]);
  const [atCarol, atPhone] = [heard(carol), heard(phone)];
  await second.sendText(roomId, "To Carol");
  await stage.until(() => atCarol.includes("To Carol") && atPhone.includes("To Carol"));
});

Deno.test("A client whose sync has stopped, or fails, requests members like one without a sync", async () => {
  for (const end of ["stopped", "fails"] as const) {
    await using stage = clientStage();
    const { script, carol, roomId } = await scene(stage);
    await begin(stage, script);
    const down = { kind: "status", status: 500, match: { path: "/sync", user: SCRIPT } } as const;
    if (end === "fails") stage.homeserver.faults.add(down);
    else await script.stop();
    await carol.joinRoom(roomId);
    await stage.clock.tick(3_600_000);
    const texts = heard(carol);
    await script.sendText(roomId, end);
    await stage.until(() => texts.includes(end));
  }
});

Deno.test("A bot that syncs from time to time has the members of that time, and requests them later", async () => {
  await using stage = clientStage();
  const { script, bob, carol, roomId } = await scene(stage);
  await script.syncOnce({ ignoreInitialSync: true });
  await script.sendText(roomId, "Knows all");
  await carol.joinRoom(roomId);
  await stage.clock.tick(FRESH);
  await script.syncOnce();
  questions(stage);
  const texts = heard(carol);
  await script.sendText(roomId, "Told by the sync");
  await stage.until(() => texts.includes("Told by the sync"));
  await bob.leaveRoom(roomId);
  await stage.clock.tick(FRESH);
  assertEquals(await sharedWith(script, roomId), ["@carol:localhost"]);
});

Deno.test("A client that follows its sync asks nothing, and neither does what was asked a moment ago", async () => {
  await using stage = clientStage();
  const { script, roomId } = await scene(stage);
  for (let n = 0; n < 20; n++) await script.sendText(roomId, String(n)); // the scene has asked
  questions(stage);
  for (let n = 0; n < 1_000; n++) {
    if (n % 100 === 99) await stage.clock.tick(FRESH / 10);
    await script.sendText(roomId, String(n));
  }
  assertEquals(questions(stage), 2, "one second a hundred messages, a question each ten seconds");
  await begin(stage, script);
  await script.sendText(roomId, "Follows");
  await stage.settle();
  questions(stage);
  for (let n = 0; n < 10; n++) {
    await stage.clock.tick(25_000);
    await script.sendText(roomId, String(n));
  }
  assertEquals(questions(stage), 0);
});

Deno.test("A server that takes longer to answer than its answers are good for keeps nothing from being sent", async () => {
  await using stage = clientStage();
  const { script, carol, roomId } = await scene(stage);
  await carol.joinRoom(roomId);
  await stage.clock.tick(FRESH);
  const texts = heard(carol);
  stage.homeserver.faults.add({ kind: "delay", ms: 1.5 * FRESH, match: { user: SCRIPT } });
  script.sendText(roomId, "At last");
  for (let n = 0; n < 12; n++) await stage.clock.tick(FRESH);
  await stage.until(() => texts.includes("At last"));
});

Deno.test("Concurrent sends share one request for members", async () => {
  await using stage = clientStage();
  const { script, roomId } = await scene(stage);
  await stage.clock.tick(FRESH);
  questions(stage);
  await Promise.all(Array.from({ length: 50 }, (_, n) => script.sendText(roomId, String(n))));
  assertEquals(questions(stage), 2);
});

Deno.test("An event whose room can't be checked is not sent, until it can be", async () => {
  for (const path of ["/members", "/state/m.room.history_visibility", "/keys/query"]) {
    await using stage = clientStage();
    const { script, bob, roomId } = await scene(stage);
    await stage.clock.tick(FRESH);
    const texts = heard(bob);
    const match = { path, user: SCRIPT } as const;
    using refused = stage.homeserver.faults.add({ kind: "status", status: 403, match });
    const error = await assertRejects(() => script.sendText(roomId, "Refused"), EncryptionError, "try again");
    assertInstanceOf(error.cause, Error);
    refused.remove();
    await stage.clock.tick(60_000);
    await script.sendText(roomId, "Asked");
    await stage.until(() => texts.length > 0);
    assertEquals(texts, ["Asked"]);
  }
});

Deno.test("A user who was invited after a failed request for members, and has left unseen, does not get the key", async () => {
  await using stage = clientStage();
  const { script, carol, roomId } = await scene(stage);
  await stage.clock.tick(FRESH);
  const match = { path: "/members", user: SCRIPT } as const;
  stage.homeserver.faults.add({ kind: "status", status: 403, times: 1, match });
  await assertRejects(() => script.sendText(roomId, "Refused"), EncryptionError);
  await script.inviteUser(roomId, "@carol:localhost");
  await carol.joinRoom(roomId);
  await carol.leaveRoom(roomId);
  await stage.clock.tick(FRESH);
  assertEquals(await sharedWith(script, roomId), ["@bob:localhost"]);
});

Deno.test("A file goes to the members at the end of its upload, and to their present devices", async () => {
  await using stage = clientStage();
  const { script, bob, carol, roomId } = await scene(stage);
  await carol.joinRoom(roomId);
  await bob.leaveRoom(roomId);
  const held = stage.homeserver.faults.add({ kind: "hold", match: { path: "/upload", user: SCRIPT } });
  const sent = script.sendFile(roomId, new TextEncoder().encode("Lines"), { fileName: "lines.txt" });
  await held.hit();
  await stage.clock.tick(FRESH);
  const texts = heard(carol);
  held.remove();
  await sent;
  await stage.until(() => texts.includes("lines.txt"));
  assertEquals(await sharedWith(script, roomId), ["@carol:localhost"]);
  const devices = async () => (await script.crypto?.getDevices("@carol:localhost"))?.length;
  assertEquals(await devices(), 1);
  const phone = stage.client("phone", { encryption: EVERYBODY, accessToken: undefined });
  await phone.login({ identifier: "@carol:localhost", password: "password of carol" });
  await begin(stage, phone);
  await stage.clock.tick(FRESH);
  assertEquals(await devices(), 2);
});

Deno.test("A clock that is set back while a room is made ready has its members and devices asked for once more", async () => {
  await using stage = clientStage();
  const HOUR = 3_600_000;
  let [late, isNext] = [0, false];
  const clock: Clock = {
    now: () => stage.clock.now() - late,
    delay: (...of) => stage.clock.delay(...of),
  };
  const fetching: typeof fetch = (input, init) => {
    if (isNext && String(input).includes("/members")) [late, isNext] = [HOUR, false];
    return stage.homeserver.fetch(input, init);
  };
  const { script, bob, roomId } = await scene(
    stage,
    stage.client("script", { encryption: EVERYBODY, clock, fetch: fetching }),
  );
  const texts = heard(bob);
  await stage.clock.tick(FRESH);
  questions(stage);
  isNext = true;
  await script.sendText(roomId, "In time");
  await stage.until(() => texts.includes("In time"));
  assertEquals(late, HOUR);
  assert(questions(stage) <= 4, "a clock that was set back had the server asked again and again");
  assertEquals(await sharedWith(script, roomId), ["@bob:localhost"]);
});
