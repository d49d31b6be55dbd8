import { assertEquals } from "@std/assert";
import type { InternalDelivery } from "../../../src/actors/dispatcher/dispatcher_protocol.ts";
import { HandlerRegistry } from "../../../src/actors/dispatcher/handler_registry.ts";
import { unreadRooms } from "../../../src/actors/dispatcher/unread_rooms.ts";
import { type EventType, type MatrixEvent, SyncStream } from "@greenroom/matrix/types";
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
  const log = recordingLogger();
  const note = unreadRooms({ registry, encrypts: () => encrypts, log });
  const told = () => log.lines.map(([, , data]) => data);
  return { note, told, rooms: () => told().map((data) => data?.room) };
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

Deno.test("With encryption, a warning names each sender who can't be read, once for each reason, unless a handler is told", () => {
  const reason = new Error("The key is missing");
  const unread = (sender: string, code: string, more: object = {}) =>
    ({
      type: "UNDECRYPTABLE",
      data: { event: { sender, room_id: "!a" }, code, reason, source: SyncStream.INTERNAL, ...more },
    }) as unknown as InternalDelivery;
  const { note, told } = scene(["m.room.message"], ENCRYPTS);
  for (let times = 0; times < 2; times++) {
    note.told(unread("@a:a", "MISSING_KEY"));
    note.told(unread("@a:a", "UNTRUSTED"));
    note.told(unread("@b:b", "MISSING_KEY"));
  }
  note.told(unread("@c:c", "MISSING_KEY", { source: SyncStream.INTERNAL | SyncStream.HISTORY }));
  assertEquals(told(), ["@a:a", "@a:a", "@b:b"].map((sender) => ({ sender, room: "!a", error: reason })));
  for (const types of [["m.room.message", "UNDECRYPTABLE"], ["INVITE"]]) {
    const other = scene(types, ENCRYPTS);
    other.note.told(unread("@a:a", "MISSING_KEY"));
    assertEquals(other.told(), []);
  }
});
