import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type SyncParts, takeApart } from "../../../src/actors/syncer/sync_parts.ts";
import { type JsonObject, type MatrixEvent, SyncStream } from "@greenroom/matrix/types";
import { joined, member, message, OWN, ROOM, state, timeline } from "../support/events.ts";

const { JOINED_ROOM, INVITED_ROOM, LEFT_ROOM, KNOCKED_ROOM, TIMELINE, STATE } = SyncStream;
const { EPHEMERAL, ACCOUNT_DATA, PRESENCE, TO_DEVICE } = SyncStream;

function take(response: JsonObject): SyncParts {
  return takeApart(response, OWN);
}

function sources(events: readonly MatrixEvent[]): number[] {
  return events.map(({ source }) => source);
}

Deno.test("takeApart() tags every event with the section that it came from", () => {
  const room = {
    state: { events: [state("m.room.name", { name: "x" })] },
    ...timeline([message("1")], { limited: true, prev_batch: "p" }),
    ephemeral: { events: [{ type: "m.typing", content: { user_ids: [] } }] },
    account_data: { events: [{ type: "m.tag", content: {} }] },
  };
  const parts = take({
    next_batch: "n",
    account_data: { events: [{ type: "m.direct", content: {} }] },
    presence: { events: [{ type: "m.presence", sender: "@bob:a", content: { presence: "online" } }] },
    to_device: { events: [{ type: "m.room_key", sender: "@bob:a", content: {} }] },
    device_lists: { changed: ["@bob:a"], left: ["@eve:a"] },
    device_one_time_keys_count: { signed_curve25519: 7 },
    device_unused_fallback_key_types: ["signed_curve25519"],
    rooms: { join: { [ROOM]: room }, leave: { "!left": structuredClone(room) } },
  });
  assertEquals(sources(parts.accountData), [ACCOUNT_DATA]);
  assertEquals(sources(parts.presence), [PRESENCE]);
  assertEquals(sources(parts.toDevice), [TO_DEVICE]);
  assertEquals(parts.deviceLists, { changed: ["@bob:a"], left: ["@eve:a"] });
  assertEquals(parts.oneTimeKeyCounts, { signed_curve25519: 7 });
  assertEquals(parts.unusedFallbackTypes, ["signed_curve25519"]);
  assertEquals(parts.rooms.map(({ roomId, membership }) => [roomId, membership]), [["!left", "leave"], [
    ROOM,
    "join",
  ]]);
  for (const [index, base] of [LEFT_ROOM, JOINED_ROOM].entries()) {
    const part = parts.rooms[index];
    assert(part !== undefined);
    const { roomId, limited, prevBatch } = part;
    assertEquals({ limited, prevBatch }, { limited: true, prevBatch: "p" });
    const events = [...part.state, ...part.timeline, ...part.ephemeral, ...part.accountData];
    assertEquals(sources(events), [STATE, TIMELINE, EPHEMERAL, ACCOUNT_DATA].map((flag) => base | flag));
    assert(events.every((event) => "room_id" in event && event.room_id === roomId));
  }
  assertEquals(parts.malformed, 0);
});

Deno.test("takeApart() leaves out of the other sections a room that the user is in", () => {
  const invited = { events: [member(OWN, "invite", { sender: "@bob:a" })] };
  const parts = take({
    rooms: {
      join: { [ROOM]: timeline([message("1")]) },
      leave: { [ROOM]: timeline([message("1")]), "!left": timeline([]) },
      invite: { [ROOM]: { invite_state: invited }, "!left": { invite_state: invited } },
      knock: { [ROOM]: { knock_state: invited } },
    },
  });
  assertEquals(parts.rooms.map(({ roomId, membership }) => [roomId, membership]), [
    ["!left", "leave"],
    [ROOM, "join"],
    ["!left", "invite"], // a server shows both if it happened in between
  ]);
  assertEquals(parts.malformed, 3);
});

Deno.test("takeApart() reads state_after in place of state, though it is empty", () => {
  const name = state("m.room.name", { name: "x" });
  const after = take(joined({ state_after: { events: [name] } })).rooms[0];
  assertEquals([after?.stateAfter, after?.state.length], [true, 1]);
  const empty = take(joined({ state_after: {}, state: { events: [name] } })).rooms[0];
  assertEquals([empty?.stateAfter, empty?.state.length], [true, 0]);
  for (const nothing of [undefined, null, "x"]) {
    const before = take(joined({ state_after: nothing, state: { events: [name] } })).rooms[0];
    assertEquals([before?.stateAfter, before?.state.length], [false, 1]);
  }
});

Deno.test("takeApart() gives an invitation or a knock as the own member event, the other state attached", () => {
  const name = { type: "m.room.name", sender: "@bob:a", state_key: "", content: { name: "x" } };
  for (const kind of ["invite", "knock"] as const) {
    const own = { ...member(OWN, kind, { sender: "@bob:a", event_id: undefined }), unsigned: { age: 1 } };
    const parts = take({ rooms: { [kind]: { [ROOM]: { [`${kind}_state`]: { events: [name, own] } } } } });
    const room = parts.rooms[0];
    assertEquals(parts.rooms.length, 1);
    assertEquals(room?.membership, kind);
    assertEquals(sources(room?.state ?? []), [(kind === "invite" ? INVITED_ROOM : KNOCKED_ROOM) | STATE]);
    const attached = room?.state[0]?.unsigned;
    assertEquals(attached?.age, 1);
    assertEquals(attached?.[`${kind}_room_state`]?.map(({ type }) => type), ["m.room.name"]);
  }
});

Deno.test("takeApart() takes the last own member event of an invitation: who invites may put others before it", () => {
  const [forged, own] = ["@forged:a", "@bob:a"].map((sender) => member(OWN, "invite", { sender }));
  const parts = take({ rooms: { invite: { [ROOM]: { invite_state: { events: [forged, own] } } } } });
  assertEquals(parts.rooms[0]?.state.map(({ sender }) => sender), ["@bob:a"]);
});

Deno.test("takeApart() leaves out an invitation without the own member event, and counts it", () => {
  const invite = (events: unknown) => take({ rooms: { invite: { [ROOM]: { invite_state: { events } } } } });
  assertEquals(invite([member("@bob:a", "invite")]).rooms, []);
  assertEquals(invite([]).malformed, 1);
  assert(invite("x").malformed > 0);
});

Deno.test("takeApart() has the room that was left before the same room, to which the user is invited again", () => {
  const parts = take({
    rooms: {
      invite: { [ROOM]: { invite_state: { events: [member(OWN, "invite")] } } },
      leave: { [ROOM]: timeline([member(OWN, "leave")]) },
    },
  });
  assertEquals(parts.rooms.map(({ membership }) => membership), ["leave", "invite"]);
});

Deno.test("takeApart() leaves out and counts each event of the wrong shape, and keeps those beside it", () => {
  const good = message("good");
  const bad: unknown[] = [
    null,
    7,
    "x",
    [],
    {},
    { ...good, type: 7 },
    { ...good, content: undefined },
    { ...good, content: [] },
    { ...good, event_id: 7 },
    { ...good, sender: undefined },
    { ...good, state_key: null },
    { ...good, state_key: 7 },
  ];
  const parts = take(joined({ timeline: { events: [good, ...bad, message("good too")] } }));
  assertEquals(parts.rooms[0]?.timeline.map(({ event_id }) => event_id), ["$good", "$good too"]);
  assertEquals(parts.malformed, bad.length);
  assertEquals(take(joined({ state: { events: [good] } })).malformed, 1);
  const sender = { events: [{ type: "m.x", content: {} }] };
  assertEquals(take({ presence: sender, to_device: sender }).malformed, 2);
});

Deno.test("takeApart() leaves out and counts sections of the wrong shape", () => {
  for (const bad of ["x", 7, true, []]) {
    const parts = take({
      rooms: { join: { [ROOM]: { timeline: bad, state: bad }, "no-room": {}, "!b": bad }, leave: bad },
      presence: bad,
      account_data: { events: bad === "x" ? "x" : { bad } },
      device_lists: bad,
      device_one_time_keys_count: bad,
      device_unused_fallback_key_types: bad === true ? undefined : bad,
    });
    assertEquals(parts.rooms.length, 1);
    assertEquals(parts.oneTimeKeyCounts, {});
    assert(parts.malformed >= 7, `${parts.malformed}`);
  }
  const parts = take({
    device_lists: { changed: ["@bob:a", 7, "bob"] },
    device_one_time_keys_count: { a: "7", b: -1 },
  });
  assertEquals(parts.deviceLists, { changed: ["@bob:a"], left: [] });
  assertEquals(parts.oneTimeKeyCounts, {});
});

Deno.test("takeApart() is not misled by names that every object has", () => {
  const response = JSON.parse(`{
    "next_batch": "n",
    "__proto__": { "rooms": { "join": { "!x": { "timeline": { "events": [] } } } } },
    "rooms": { "join": { "__proto__": {}, "constructor": {} } },
    "device_one_time_keys_count": { "__proto__": 5, "constructor": 6 },
    "to_device": { "events": [{ "type": "__proto__", "sender": "@a:b", "content": { "__proto__": { "x": 1 } } }] }
  }`);
  const parts = take(response);
  assertEquals(parts.rooms, []);
  assertEquals(parts.malformed, 2);
  assertEquals(parts.toDevice.length, 1);
  assertEquals(Object.entries(parts.oneTimeKeyCounts), [["__proto__", 5], ["constructor", 6]]);
  assertEquals((({}) as JsonObject).x, undefined);
});

Deno.test("takeApart() takes apart 100,000 events", () => {
  const events = Array.from({ length: 100_000 }, (_, index) => message(String(index)));
  assertEquals(take(joined(timeline(events))).rooms[0]?.timeline.length, 100_000);
});

/** Responses that are almost right: each place holds what belongs there, or any JSON. */
const responses = (() => {
  const json = fc.jsonValue({ maxDepth: 3 });
  const or = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 4, arbitrary: right }, { weight: 1, arbitrary: json });
  const text = or(fc.constantFrom("", "$a", "m.room.member", OWN, "join", "__proto__"));
  const event = or(fc.record({
    type: text,
    content: or(fc.record({ membership: text })),
    event_id: text,
    sender: text,
    state_key: text,
    unsigned: or(fc.record({ prev_content: json })),
  }, { requiredKeys: [] }));
  const section = or(
    fc.record({ events: or(fc.array(event)), limited: json, prev_batch: text }, { requiredKeys: [] }),
  );
  const room = or(fc.record({
    state: section,
    state_after: section,
    timeline: section,
    ephemeral: section,
    account_data: section,
    invite_state: section,
    knock_state: section,
  }, { requiredKeys: [] }));
  const rooms = or(fc.dictionary(fc.constantFrom("!a", "!b", "x", "__proto__"), room));
  return fc.record({
    rooms: or(fc.record({ join: rooms, invite: rooms, knock: rooms, leave: rooms }, { requiredKeys: [] })),
    account_data: section,
    presence: section,
    to_device: section,
    device_lists: or(fc.record({ changed: json, left: json }, { requiredKeys: [] })),
    device_one_time_keys_count: json,
    device_unused_fallback_key_types: json,
  }, { requiredKeys: [] });
})();

Deno.test("takeApart() never throws, and every event that it lets through has what its kind must have", () => {
  fc.assert(
    fc.property(responses, (response) => {
      const parts = take({ next_batch: "n", ...JSON.parse(JSON.stringify(response)) });
      for (const { state, timeline, ephemeral, accountData, roomId } of parts.rooms) {
        for (const event of [...state, ...timeline, ...ephemeral, ...accountData]) {
          assert(typeof event.type === "string" && typeof event.content === "object" && event.source > 0);
          assertEquals(event.room_id, roomId);
        }
        for (const event of state) {
          assert(typeof event.state_key === "string" && typeof event.sender === "string");
        }
        for (const event of timeline) {
          assert(typeof event.event_id === "string" && typeof event.sender === "string");
        }
      }
      for (const event of [...parts.toDevice, ...parts.presence]) assert(typeof event.sender === "string");
    }),
    { numRuns: 100 },
  );
});

Deno.test("takeApart() leaves out types, state keys and identifiers of more than 255 bytes", () => {
  const name = (bytes: number, start = "") => {
    const left = bytes - start.length;
    return start + "é".repeat(left >> 1) + "x".repeat(left & 1);
  };
  const events = (bytes: number) => [
    state(name(bytes), {}, { event_id: "$1" }),
    { ...state("m.room.name", {}), state_key: name(bytes) },
    { ...state("m.room.name", {}), event_id: name(bytes, "$") },
    { ...state("m.room.name", {}), sender: name(bytes, "@a:") },
  ];
  assertEquals(take(joined({ state: { events: events(255) } })).malformed, 0);
  assertEquals(take(joined({ state: { events: events(256) } })).malformed, 4);
});
