import { assert, assertEquals } from "@std/assert";
import { syncBatch, type SyncContext } from "../../../src/actors/syncer/sync_batch.ts";
import type { CommittedSync, FormerRoom, RoomBatch } from "../../../src/actors/store/mod.ts";
import { takeApart } from "../../../src/actors/syncer/sync_parts.ts";
import { DecryptionError } from "@greenroom/matrix/errors";
import {
  type JsonObject,
  type MatrixEvent,
  type Membership,
  type MessageEvent,
  type StoredState,
  SyncStream,
} from "@greenroom/matrix/types";
import { joined, member, message, OWN, ROOM, state, timeline } from "../support/events.ts";
import { CONTEXT } from "../support/sync_context.ts";

/**
 * What the store knew of the room: the user's membership there, and the member events of others.
 */
function was(membership: Membership, ...members: JsonObject[]): FormerRoom {
  const events = members as unknown as StoredState[];
  return { membership, encrypted: false, members: new Map(events.map((event) => [event.state_key, event])) };
}

function committed(...former: (FormerRoom | undefined)[]): CommittedSync {
  return { former, crashes: 0 };
}

/** The only room of a response, as handlers get it. */
function delivered(response: JsonObject, former?: FormerRoom, more: Partial<SyncContext> = {}): RoomBatch {
  const batch = syncBatch(takeApart(response, OWN), { ...CONTEXT, ...more }, committed(former));
  const [room] = batch.rooms;
  assert(room !== undefined && batch.rooms.length === 1);
  return room;
}

function ids(events: readonly MatrixEvent[]): unknown[] {
  return events.map((event) => "event_id" in event ? event.event_id : event.type);
}

/** The internal events, each with the ID of the event that it is about. */
function remarks({ events, remarks }: RoomBatch): [unknown, string][] {
  return [...remarks].map(([index, { type }]) => [ids(events)[index], type]);
}

Deno.test("syncBatch() has key counts and devices first, then account data, presence and to-device, then rooms", () => {
  const response = joined({}, {
    account_data: { events: [{ type: "m.direct", content: {} }] },
    presence: { events: [{ type: "m.presence", sender: "@bob:a", content: {} }] },
    to_device: { events: [{ type: "m.dummy", sender: "@bob:a", content: {} }] },
    device_one_time_keys_count: { signed_curve25519: 3 },
  });
  const batch = syncBatch(takeApart(response, OWN), CONTEXT, committed());
  assertEquals(batch.nextBatch, "n");
  assertEquals(batch.internal, [
    {
      type: "DEVICE_OTK_COUNT",
      data: { signed_curve25519: 3, curve25519: 0, unusedFallbackTypes: undefined },
    },
    { type: "DEVICE_LISTS", data: { changed: [], left: [] } },
  ]);
  assertEquals(batch.global.map(({ type }) => type), ["m.direct", "m.presence", "m.dummy"]);
});

Deno.test("syncBatch() has a room's state, timeline, ephemeral events and account data in this order", () => {
  const room = delivered(joined({
    account_data: { events: [{ type: "m.tag", content: {} }] },
    ephemeral: { events: [{ type: "m.typing", content: {} }] },
    ...timeline([message("1"), message("2")]),
    state: { events: [state("m.room.name", {}, { event_id: "$name" })] },
  }));
  assertEquals(
    [room.events, room.ephemeral, room.accountData].map(ids),
    [["$name", "$1", "$2"], ["m.typing"], ["m.tag"]],
  );
});

for (const count of [1, 50]) {
  Deno.test(`syncBatch() delivers events once that are in state_after and in the timeline: ${count}`, () => {
    const both = Array.from({ length: count }, (_, number) => member(`@u${number}:a`, "join"));
    const after = { events: [state("m.room.topic", {}), ...structuredClone(both)] };
    const room = delivered(joined({ state_after: after, ...timeline(both) }));
    assertEquals(ids(room.events), ["$m.room.topic{}", ...both.map(({ event_id }) => event_id)]);
    assert(room.events.every(({ source }, index) => (source & SyncStream.TIMELINE) !== 0 || index === 0));
  });
}

Deno.test("syncBatch() delivers an event once that is in state and in a gap that was filled", () => {
  const name = state("m.room.name", {}, { event_id: "$name" });
  const parts = takeApart(joined({ state: { events: [name] }, ...timeline([message("2")]) }), OWN);
  const [part] = parts.rooms;
  assert(part !== undefined);
  part.filled = [message("1"), structuredClone(name)] as unknown as MessageEvent[];
  const [room] = syncBatch(parts, CONTEXT, committed()).rooms;
  assertEquals(ids(room?.events ?? []), ["$1", "$name", "$2"]);
});

Deno.test("A timeline reports each change of a membership, several of one user too", () => {
  const room = delivered(
    joined(timeline([member("@a:a", "join"), member("@a:a", "leave"), member("@b:a", "leave")])),
    was("join", member("@b:a", "join")),
  );
  assertEquals(remarks(room), [["$@a:a-join", "JOIN"], ["$@a:a-leave", "LEAVE"], ["$@b:a-leave", "LEAVE"]]);
});

Deno.test("A timeline reports each change also where the state comes as state_after", () => {
  const events = [member("@a:a", "join"), member("@a:a", "leave")];
  const room = delivered(
    joined({ state_after: { events: [structuredClone(events[1])] }, ...timeline(events) }),
    was("join"),
  );
  assertEquals(remarks(room), [["$@a:a-join", "JOIN"], ["$@a:a-leave", "LEAVE"]]);
});

Deno.test("A change comes after what the state in front of the timeline has changed", () => {
  const room = delivered(
    joined({ state: { events: [member("@a:a", "leave")] }, ...timeline([member("@a:a", "join")]) }),
    was("join", member("@a:a", "join", { event_id: "$old" })),
  );
  assertEquals(remarks(room), [["$@a:a-leave", "LEAVE"], ["$@a:a-join", "JOIN"]]);
});

Deno.test("A timeline that comes again after a crash reports the same changes, though the store has them", () => {
  const leave = member("@a:a", "leave");
  const join = member("@b:a", "join");
  const ban = member("@c:a", "ban", { unsigned: { prev_content: { membership: "join" } } });
  const room = delivered(
    joined(timeline([{ ...leave, unsigned: { prev_content: { membership: "join" } } }, join, ban])),
    was("join", leave, join, member("@c:a", "ban", { event_id: undefined })),
  );
  assertEquals(remarks(room), [["$@a:a-leave", "LEAVE"], ["$@b:a-join", "JOIN"], ["$@c:a-ban", "BAN"]]);
});

Deno.test("A change of the own user is what the timeline says, and not what is stored since", () => {
  const later = member(OWN, "join", { event_id: "$later" });
  const parts = takeApart(joined(timeline([member(OWN, "join")])), OWN);
  const [part] = parts.rooms;
  assert(part !== undefined);
  const before = { isJoined: false, shown: "", entries: [] };
  part.news = { before, after: before, added: "", entry: `$${OWN}-join` };
  const [room] = syncBatch(parts, CONTEXT, committed(was("join", later))).rooms;
  assert(room !== undefined);
  assertEquals(remarks(room), [[`$${OWN}-join`, "JOIN"]]);
});

Deno.test("State that says again how things are reports nothing", () => {
  const own = member(OWN, "join");
  const parts = takeApart(joined({ state: { events: [structuredClone(own)] } }), OWN);
  const [part] = parts.rooms;
  assert(part !== undefined);
  const before = { isJoined: true, shown: "", entries: [`$${OWN}-join` as const] };
  part.news = { before, after: before, added: "", entry: undefined };
  const [room] = syncBatch(parts, CONTEXT, committed(was("join", own))).rooms;
  assert(room !== undefined);
  assertEquals(remarks(room), []);
});

Deno.test("State says how things are: what it says was before does not count", () => {
  const prev_content = { membership: "join" };
  const join = member("@a:a", "join", { unsigned: { prev_content } });
  const former = was("join", member("@a:a", "leave", { event_id: "$old" }));
  assertEquals(remarks(delivered(joined({ state: { events: [join] } }), former)), [["$@a:a-join", "JOIN"]]);
});

Deno.test("The state of a new room reports no change but the own joining", () => {
  const events = [member("@a:a", "join"), member("@b:a", "ban"), member(OWN, "join")];
  const own: [unknown, string][] = [[`$${OWN}-join`, "JOIN"]];
  assertEquals(remarks(delivered(joined({ state: { events } }))), own);
  assertEquals(remarks(delivered(joined({ state: { events } }), was("invite", member(OWN, "invite")))), own);
  assertEquals(remarks(delivered(joined({ state: { events } }), was("leave", member("@b:a", "join")))), own);
  assertEquals(remarks(delivered(joined({ state: { events } }), undefined, { initial: true })), []);
});

Deno.test("The state of a known room reports what changed in a gap", () => {
  const events = [member("@a:a", "join"), member("@b:a", "leave"), member("@c:a", "join")];
  const former = was("join", member("@b:a", "join"), member("@c:a", "join"));
  assertEquals(remarks(delivered(joined({ state: { events } }), former)), [
    ["$@a:a-join", "JOIN"],
    ["$@b:a-leave", "LEAVE"],
  ]);
  // It is unknown whether it is a change of a user whom the server has left out until now.
  for (const members of ["lazy", "some"] as const) {
    assertEquals(remarks(delivered(joined({ state: { events } }), former, { members })), [
      ["$@b:a-leave", "LEAVE"],
    ]);
  }
});

Deno.test("The own member event that comes again reports nothing, unless handlers may have missed it", () => {
  const join = member(OWN, "join", { unsigned: { prev_content: { membership: "invite" } } });
  const response = joined({ state: { events: [join] } });
  assertEquals(remarks(delivered(response, was("join", join))), []);
  assertEquals(remarks(delivered(response, was("join", join), { repeated: true })), [
    [`$${OWN}-join`, "JOIN"],
  ]);
});

Deno.test("State of another type is no membership change, whatever its content says", () => {
  const mood = state("com.example.mood", { membership: "ban" }, { state_key: "@a:a" });
  const room = delivered(joined(timeline([mood])), was("join", member("@a:a", "join")));
  assertEquals(remarks(room), []);
});

Deno.test("An initial sync reports no change of the own membership by state, joined or left", () => {
  const join = joined({ state: { events: [member(OWN, "join")] } });
  const ignored = { initial: true, dropTimeline: true };
  assertEquals(remarks(delivered(join, was("invite", member(OWN, "invite")), ignored)), []);
  const events = [member(OWN, "ban", { sender: "@bob:a" })];
  const left = { next_batch: "n", rooms: { leave: { [ROOM]: { state: { events } } } } };
  assertEquals(remarks(delivered(left, undefined, { initial: true })), []);
  assertEquals(remarks(delivered(left)).map(([, type]) => type), ["BAN"]);
});

Deno.test("The own joining by state is reported when the filter leaves out members", () => {
  const response = joined({ state: { events: [member(OWN, "join")] } });
  for (const members of ["lazy", "some"] as const) {
    assertEquals(remarks(delivered(response, undefined, { members })), [[`$${OWN}-join`, "JOIN"]]);
  }
});

Deno.test("A repeated response reports the own leaving by state after an invitation", () => {
  const response = joined({ state: { events: [member(OWN, "leave")] } });
  const former = was("invite", member(OWN, "invite"));
  assertEquals(remarks(delivered(response, former, { repeated: true })), [[
    `$${OWN}-leave`,
    "REJECT_INVITE",
  ]]);
});

Deno.test("A repeated response does not report again what the store has of another member's state", () => {
  const join = member("@a:a", "join");
  const response = joined({ state: { events: [join] } });
  assertEquals(remarks(delivered(response, was("join", join), { repeated: true })), []);
});

Deno.test("The timeline of an initial sync reports changes against its state, and the state itself none", () => {
  const events = [member("@a:a", "join"), member("@b:a", "ban")];
  const room = { state: { events }, ...timeline([message("1"), member("@b:a", "leave")]) };
  const batch = (former?: FormerRoom) => delivered(joined(room), former, { initial: true });
  assertEquals(remarks(batch()), [["$@b:a-leave", "UNBAN"]]);
  const known = was("join", member("@a:a", "join"), member("@b:a", "join"));
  assertEquals(remarks(batch(known)), [["$@b:a-ban", "BAN"], ["$@b:a-leave", "UNBAN"]]);
});

Deno.test("An invitation, a knock and the end of either are reported, the own invitation once", () => {
  const invite = {
    next_batch: "n",
    rooms: { invite: { [ROOM]: { invite_state: { events: [member(OWN, "invite")] } } } },
  };
  assertEquals(remarks(delivered(invite)), [[`$${OWN}-invite`, "INVITE"]]);
  assertEquals(remarks(delivered(invite, undefined, { initial: true })), [[`$${OWN}-invite`, "INVITE"]]);
  const history = joined(timeline([member(OWN, "invite"), member("@a:a", "invite")]));
  assertEquals(remarks(delivered(history)), [["$@a:a-invite", "USER_INVITED"]]);
  const knock = {
    next_batch: "n",
    rooms: { knock: { [ROOM]: { knock_state: { events: [member(OWN, "knock")] } } } },
  };
  assertEquals(remarks(delivered(knock)), [[`$${OWN}-knock`, "KNOCK"]]);
  const leave = { next_batch: "n", rooms: { leave: { [ROOM]: timeline([member(OWN, "leave")]) } } };
  assertEquals(remarks(delivered(leave, was("invite", member(OWN, "invite")))), [[
    `$${OWN}-leave`,
    "REJECT_INVITE",
  ]]);
});

Deno.test("A dropped timeline leaves the state it led to, and reports only the own changes and invitations", () => {
  const name = (value: string) => state("m.room.name", { name: value }, { event_id: `$${value}` });
  const room = {
    state: { events: [name("old"), member("@a:a", "join")] },
    ...timeline([message("1"), name("new"), member("@a:a", "leave"), member(OWN, "join")]),
    ephemeral: { events: [{ type: "m.typing", content: {} }] },
    account_data: { events: [{ type: "m.tag", content: {} }] },
  };
  const former = was("join", member(OWN, "invite"), member("@a:a", "join"));
  const batch = delivered(joined(room), former, { dropTimeline: true });
  assertEquals(ids(batch.events), ["$new", "$@a:a-leave", `$${OWN}-join`]);
  assertEquals(ids([...batch.ephemeral, ...batch.accountData]), ["m.typing", "m.tag"]);
  assertEquals(remarks(batch), [[`$${OWN}-join`, "JOIN"]]);
  for (const { source } of batch.events) assertEquals(source & SyncStream.TIMELINE, 0);
});

Deno.test("An event that can't be decrypted is delivered as it came, and then reported with the reason", () => {
  const parts = takeApart(joined(timeline([message("1", { type: "m.room.encrypted" }), message("2")])), OWN);
  const event = parts.rooms[0]?.timeline[0];
  assert(event !== undefined);
  const reason = new DecryptionError("No key");
  parts.undecryptable = new Map([[event, { reason, code: "MISSING_KEY" }]]);
  const [room] = syncBatch(parts, CONTEXT, committed()).rooms;
  assert(room !== undefined);
  assertEquals(ids(room.events), ["$1", "$2"]);
  assertEquals([...room.remarks] as unknown, [[0, {
    type: "UNDECRYPTABLE",
    data: { event, reason, code: "MISSING_KEY", source: SyncStream.INTERNAL },
  }]]);
});
