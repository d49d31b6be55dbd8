/** What of an event counts when it comes, and what of it is taken away, whatever a server says. */

import { assert, assertEquals } from "@std/assert";
import {
  clientEvent,
  eventList,
  isRedacted,
  isRoomEvent,
  isState,
  isStripped,
  tidyEvent,
  tidyStripped,
} from "../../../src/types/checks/event_check.ts";
import { Misfit, type Notes } from "../../../src/types/checks/shape.ts";

const EVENT = {
  type: "m.room.message",
  event_id: "$event",
  sender: "@alice:a",
  origin_server_ts: 1,
  content: {},
};

/** An event with other members, tidied. */
function tidied(members: Record<string, unknown>): Record<string, unknown> {
  const event: Record<string, unknown> = { ...EVENT, ...members };
  tidyEvent(event);
  return event;
}

Deno.test("An event of a room has a sender, an ID, a time, and a state key that is one if it has any", () => {
  assertEquals([isRoomEvent(EVENT), isRoomEvent({ ...EVENT, state_key: "" })], [true, true]);
  for (const wrong of [{ event_id: 7 }, { sender: "alice" }, { origin_server_ts: "1" }, { state_key: 7 }]) {
    assertEquals([wrong, isRoomEvent({ ...EVENT, ...wrong })], [wrong, false]);
  }
  assertEquals([isState(EVENT), isState({ ...EVENT, state_key: "" })], [false, true]);
  assert(!isState({ ...EVENT, state_key: "", sender: "alice" }));
});

Deno.test("State that is shown outside of its room has a sender and a state key, of a member event a user", () => {
  const stripped = (type: string, state_key: unknown, sender = "@alice:a") =>
    isStripped({ type, state_key, sender, content: {} } as Parameters<typeof isStripped>[0]);
  assertEquals([stripped("m.room.name", ""), stripped("m.room.member", "@bob:a")], [true, true]);
  assertEquals(
    [stripped("m.room.name", 7), stripped("m.room.member", "bob"), stripped("m.room.name", "", "alice")],
    [false, false, false],
  );
});

Deno.test("An event is redacted if its server says by which event", () => {
  const said = [{ redacted_because: {} }, { redacted_because: "$other" }, { age: 1 }, "redacted", undefined];
  assertEquals(said.map((unsigned) => isRedacted({ unsigned })), [true, false, false, false, false]);
});

Deno.test("What an event need not have goes if it does not fit, also beside what nearly all have", () => {
  assertEquals(tidied({}), EVENT);
  assertEquals(tidied({ redacted_because: {} }), EVENT);
  assertEquals([tidied({ redacts: "$other" }).redacts, "redacts" in tidied({ redacts: 7 })], [
    "$other",
    false,
  ]);
  for (
    const fine of [{ age: 1 }, { age: 1, membership: "join" }, {
      age: 1,
      prev_content: {},
      replaces_state: "$a",
    }]
  ) {
    assertEquals(tidied({ unsigned: fine }).unsigned, fine);
  }
  const wrong = {
    ...{ membership: 7, prev_content: 7, replaces_state: 7, redacted_because: 7, transaction_id: 7 },
    ...{ "m.relations": 7, invite_room_state: 7, knock_room_state: 7 },
  };
  for (const [name, value] of Object.entries(wrong)) {
    assertEquals([name, tidied({ unsigned: { age: 1, [name]: value } }).unsigned], [name, { age: 1 }]);
  }
  assertEquals(tidied({ unsigned: { age: "1", membership: "join" } }).unsigned, { membership: "join" });
  for (const unsigned of [7, null]) assertEquals(tidied({ unsigned }), EVENT);
});

Deno.test("State that is shown outside of its room keeps its ID and time if they are such", () => {
  const tidy = (event: { event_id?: unknown; origin_server_ts?: unknown }) => {
    tidyStripped(event);
    return event;
  };
  assertEquals(tidy({ event_id: "$a", origin_server_ts: 1 }), { event_id: "$a", origin_server_ts: 1 });
  assertEquals([tidy({ event_id: 7, origin_server_ts: "1" }), tidy({})], [{}, {}]);
});

Deno.test("Of a list of events those are left out, and counted, that are none, or of another room than was asked about", () => {
  const list = eventList(clientEvent);
  const [here, there] = ["!here", "!there"] as const;
  const events = [EVENT, { ...EVENT, room_id: here }, { ...EVENT, room_id: there }, 5];
  const notesOf = (more: Partial<Notes>): Notes => ({ taken: [], depth: 0, ...more });
  const asked = (more: Partial<Notes>) => {
    const notes = notesOf(more);
    const read = list(events, notes);
    assert(!(read instanceof Misfit));
    return [read.map(({ room_id }) => room_id), notes.leftOut];
  };
  assertEquals(asked({ room: here }), [[here, here], 2]);
  assertEquals(asked({}), [[here, there], 2]);
  assertEquals(asked({ room: here, leftOut: 3 }), [[here, here], 5]);
  const whole = notesOf({});
  list([{ ...EVENT, room_id: here }], whole);
  assertEquals(whole.leftOut, undefined);
  for (const wrong of [undefined, null, 5, "a", { length: 1 }]) {
    assert(list(wrong, notesOf({})) instanceof Misfit);
  }
});
