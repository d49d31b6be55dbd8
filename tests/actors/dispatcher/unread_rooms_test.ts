import { assertEquals } from "@std/assert";
import type { InternalDelivery } from "../../../src/actors/store/mod.ts";
import { HandlerRegistry } from "../../../src/actors/dispatcher/dispatcher.ts";
import { unreadRooms } from "../../../src/actors/dispatcher/unread_rooms.ts";
import { type EventType, type MatrixEvent, SyncStream } from "@greenroom/matrix/types";
import { TestClock } from "@greenroom/matrix/testing";
import { recordingLogger } from "../kernel/support.ts";

const ENCRYPTS = true;
const JOINED = SyncStream.JOINED_ROOM | SyncStream.TIMELINE;

function encrypted(room: string, more: object = {}): MatrixEvent {
  const event = { type: "m.room.encrypted", event_id: "$e", room_id: room, source: JOINED, content: {} };
  return { ...event, ...more } as unknown as MatrixEvent;
}

function scene(types: readonly string[], encrypts = false) {
  const registry = new HandlerRegistry();
  for (const type of types) registry.add(type as EventType, () => {});
  const [log, clock, recovered] = [recordingLogger(), new TestClock(), new Set<string>()];
  const made = () => ({ wasRecovered: ({ event_id }: { event_id: string }) => recovered.has(event_id) });
  let crypto = encrypts ? made() : undefined;
  const client = {
    ...{ registry, clock, log },
    get crypto() {
      return crypto;
    },
  };
  const note = unreadRooms(client);
  const told = () => log.lines.map(([, , data]) => data);
  /** Another takes its place, which knows nothing of what that has read. */
  const renew = () => void (crypto = { wasRecovered: () => false });
  return { note, told, clock, recovered, renew, rooms: () => told().map((data) => data?.room) };
}

const REASON = new Error("The key is missing");

function unread(sender: string, code: string, more: object = {}, id = "$e"): InternalDelivery {
  const event = { sender, room_id: "!a", event_id: id };
  const data = { event, code, reason: REASON, source: SyncStream.INTERNAL, ...more };
  return { type: "UNDECRYPTABLE", data } as unknown as InternalDelivery;
}

Deno.test("Of each room that can't be read a client without encryption warns once, of 100 at the most", () => {
  const { note, rooms } = scene(["m.room.message"]);
  for (let times = 0; times < 2; times++) {
    for (let index = 0; index < 150; index++) note.event(encrypted(`!${index}`));
  }
  assertEquals(rooms(), Array.from({ length: 100 }, (_, index) => `!${index}`));
});

Deno.test("Nothing is said of what nobody misses", () => {
  for (
    const [types, encrypts] of [
      [["m.room.message"], true], // encryption reports it
      [["m.room.message", "m.room.encrypted"], false], // the application sees to it
      [["INVITE"], false],
      [[], false],
    ] as const
  ) {
    const { note, rooms } = scene(types, encrypts);
    note.event(encrypted("!a"));
    assertEquals(rooms(), [], JSON.stringify(types));
  }
  const { note, rooms } = scene(["m.room.message"]);
  note.event(encrypted("!history", { source: JOINED | SyncStream.HISTORY }));
  note.event(encrypted("!redacted", { unsigned: { redacted_because: {} } }));
  note.event(encrypted("!device", { source: SyncStream.TO_DEVICE }));
  note.event(encrypted("!state", { state_key: "" }));
  note.event(encrypted("!plain", { type: "m.room.message" }));
  assertEquals(rooms(), []);
  note.event(encrypted("!a"));
  assertEquals(rooms(), ["!a"]);
});

Deno.test("With encryption, a warning names each sender who can't be read, once for each reason, unless a handler is told", async () => {
  const { note, told, clock } = scene(["m.room.message"], ENCRYPTS);
  for (let times = 0; times < 2; times++) {
    note.told(unread("@a:a", "MISSING_KEY"));
    note.told(unread("@a:a", "UNTRUSTED"));
    note.told(unread("@b:b", "MISSING_KEY"));
  }
  note.told(unread("@c:c", "MISSING_KEY", { source: SyncStream.INTERNAL | SyncStream.HISTORY }));
  await clock.tick(15_000);
  assertEquals(told(), ["@a:a", "@a:a", "@b:b"].map((sender) => ({ sender, room: "!a", error: REASON })));
  for (const types of [["m.room.message", "UNDECRYPTABLE"], ["INVITE"]]) {
    const other = scene(types, ENCRYPTS);
    other.note.told(unread("@a:a", "MISSING_KEY"));
    await other.clock.tick(15_000);
    assertEquals(other.told(), []);
  }
});

Deno.test("Nobody is warned of what is read within fifteen seconds, but of what still is not then", async () => {
  const { note, told, clock, recovered } = scene(["m.room.message"], ENCRYPTS);
  note.told(unread("@a:a", "MISSING_KEY", {}, "$first"));
  await clock.tick(14_999);
  note.told(unread("@a:a", "MISSING_KEY", {}, "$second"));
  recovered.add("$first");
  await clock.tick(14_999);
  assertEquals(told(), []);
  await clock.tick(1);
  assertEquals(told().map((data) => data?.sender), ["@a:a"]);
});

Deno.test("What was read before another process had the device counts as read", async () => {
  const { note, told, clock, recovered, renew } = scene(["m.room.message"], ENCRYPTS);
  note.told(unread("@a:a", "MISSING_KEY", {}, "$read"));
  recovered.add("$read");
  renew();
  note.told(unread("@b:b", "MISSING_KEY", {}, "$unread"));
  await clock.tick(15_000);
  assertEquals(told().map((data) => data?.sender), ["@b:b"]);
});

Deno.test("What is unread when the client ends is said then", async () => {
  const { note, told, clock, recovered } = scene(["m.room.message"], ENCRYPTS);
  note.told(unread("@a:a", "MISSING_KEY", {}, "$read"));
  note.told(unread("@b:b", "MISSING_KEY", {}, "$unread"));
  recovered.add("$read");
  note.end();
  await clock.tick(0);
  assertEquals([told().map((data) => data?.sender), clock.pending], [["@b:b"], 0]);
});

Deno.test("Of more than a thousand messages that wait, the others are said immediately", () => {
  const { note, told } = scene(["m.room.message"], ENCRYPTS);
  for (let index = 0; index < 1_000; index++) note.told(unread("@a:a", "MISSING_KEY"));
  assertEquals(told(), []);
  note.told(unread("@a:a", "MISSING_KEY"));
  assertEquals(told().length, 1);
});

Deno.test("Messages that have waited make room for others, thousands of times", async () => {
  const { note, told, clock, recovered } = scene(["m.room.message"], ENCRYPTS);
  recovered.add("$e");
  for (let time = 0; time < 4; time++) {
    for (let index = 0; index < 900; index++) note.told(unread(`@${index}:a`, "MISSING_KEY"));
    await clock.tick(15_000);
  }
  note.told(unread("@b:b", "MISSING_KEY", {}, "$other"));
  assertEquals(told(), [], "nothing is said immediately");
});
