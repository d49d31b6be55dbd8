/** Which messages count that came in clear, by what is known of their room's encryption. */

import { assert, assertEquals } from "@std/assert";
import { syncBatch, type SyncContext } from "../../../src/actors/syncer/sync_batch.ts";
import type { FormerRoom, RoomBatch } from "../../../src/actors/store/mod.ts";
import { takeApart } from "../../../src/actors/syncer/sync_parts.ts";
import { DecryptionError } from "@greenroom/matrix/errors";
import type { JsonObject } from "@greenroom/matrix/types";
import { joined, member, message, OWN, ROOM, state, timeline } from "../support/events.ts";
import { CONTEXT } from "../support/sync_context.ts";

const REFUSING: Partial<SyncContext> = { acceptClear: () => false };
const began = (id: string, state_key = "") =>
  state("m.room.encryption", { algorithm: "m.megolm.v1.aes-sha2" }, { event_id: id, state_key });

/** What the store knew of the room: whether it was encrypted, and by which event. */
function was(encryptedBy?: `$${string}`): FormerRoom {
  return { membership: "join", encrypted: encryptedBy !== undefined, encryptedBy, members: new Map() };
}

/** The room, as handlers get it; `shown` are places of events that were shown before. */
function delivered(
  events: JsonObject[],
  former: FormerRoom,
  { shown = [], ...context }: Partial<SyncContext> & { shown?: number[] } = {},
): RoomBatch {
  const parts = takeApart(joined(timeline(events)), OWN);
  const [part] = parts.rooms;
  assert(part !== undefined);
  const before = part.timeline.filter((_, index) => shown.includes(index));
  part.shown = new Set(before);
  const [room] =
    syncBatch(parts, { ...CONTEXT, ...REFUSING, ...context }, { former: [former], crashes: 0 }).rooms;
  assert(room !== undefined);
  return room;
}

/** The IDs of the messages that are refused. */
function refused(room: RoomBatch): unknown[] {
  return [...room.ignored ?? []].map((index) => {
    const event = room.events[index];
    return event !== undefined && "event_id" in event && event.event_id;
  });
}

Deno.test("Messages in clear are refused from the encryption event of a room on, and those in front of it are not", () => {
  assertEquals(refused(delivered([message("1"), began("$e"), message("2")], was())), ["$2"]);
  assertEquals(refused(delivered([message("1")], was("$e"))), ["$1"]);
  assertEquals(
    refused(delivered([message("1"), began("$e"), message("2")], was(), { acceptClear: undefined })),
    [],
  );
});

Deno.test("Messages before the encryption event are accepted when both come again unhandled, and in no other case", () => {
  const events = [message("1"), began("$e"), message("2")];
  assertEquals(refused(delivered(events, was("$e"), { repeated: true })), ["$2"]);
  // A server that shows the event once more does not have messages in clear accepted by that.
  assertEquals(refused(delivered(events, was("$e"))), ["$1", "$2"]);
  assertEquals(refused(delivered(events, was("$e"), { repeated: true, shown: [1] })).toSorted(), [
    "$1",
    "$2",
    "$e",
  ]);
  // Nor does one that shows another encryption event.
  assertEquals(refused(delivered(events, was("$first"), { repeated: true })), ["$1", "$2"]);
});

Deno.test("A state event of the encryption's type with a key of its own encrypts no room", () => {
  assertEquals(refused(delivered([began("$e", "mine"), message("1")], was())), []);
});

Deno.test("An encrypted event that can't be read is delivered, and is not taken for a message in clear", () => {
  const parts = takeApart(joined(timeline([message("1", { type: "m.room.encrypted" })])), OWN);
  const event = parts.rooms[0]?.timeline[0];
  assert(event !== undefined);
  parts.undecryptable = new Map([[event, { reason: new DecryptionError("No key"), code: "MISSING_KEY" }]]);
  const [room] = syncBatch(parts, { ...CONTEXT, ...REFUSING }, { former: [was("$e")], crashes: 0 }).rooms;
  assert(room !== undefined);
  assertEquals(refused(room), []);
  assertEquals([...room.remarks.values()].map(({ type }) => type), ["UNDECRYPTABLE"]);
});

Deno.test("The stripped state of an invitation reports nothing but the invitation", () => {
  const events = [state("m.room.name", { name: "Tea", membership: "invite" }), member(OWN, "invite")];
  const response = { next_batch: "n", rooms: { invite: { [ROOM]: { invite_state: { events } } } } };
  const [room] = syncBatch(takeApart(response, OWN), CONTEXT, { former: [undefined], crashes: 0 }).rooms;
  assertEquals([...room?.remarks.values() ?? []].map(({ type }) => type), ["INVITE"]);
});
