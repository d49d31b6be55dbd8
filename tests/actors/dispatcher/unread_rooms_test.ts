import { assertEquals } from "@std/assert";
import { HandlerRegistry } from "../../../src/actors/dispatcher/handler_registry.ts";
import { unreadRooms } from "../../../src/actors/dispatcher/unread_rooms.ts";
import { type EventType, type MatrixEvent, SyncStream } from "@greenroom/matrix/types";
import { recordingLogger } from "../kernel/support.ts";

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
  return { note, rooms: () => log.lines.map(([, , data]) => data?.room) };
}

Deno.test("Of each room that can't be read a client without encryption warns once, of 100 at the most", () => {
  const { note, rooms } = scene(["m.room.message"]);
  for (let times = 0; times < 2; times++) {
    for (let index = 0; index < 150; index++) note(encrypted(`!${index}`));
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
    note(encrypted("!a"));
    assertEquals(rooms(), [], JSON.stringify(types));
  }
  const { note, rooms } = scene(["m.room.message"]);
  note(encrypted("!history", { source: JOINED | SyncStream.HISTORY }));
  note(encrypted("!redacted", { unsigned: { redacted_because: {} } }));
  note(encrypted("!device", { source: SyncStream.TO_DEVICE }));
  note(encrypted("!state", { state_key: "" }));
  note(encrypted("!plain", { type: "m.room.message" }));
  assertEquals(rooms(), []);
  note(encrypted("!a"));
  assertEquals(rooms(), ["!a"]);
});
