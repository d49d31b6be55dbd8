import { assert, assertEquals, assertRejects } from "@std/assert";
import { RoomGaps } from "../../../src/actors/syncer/room_gaps.ts";
import { takeApart } from "../../../src/actors/syncer/sync_parts.ts";
import { requestError } from "../../../src/errors/errcodes.ts";
import { joined, member, message, OWN, ROOM, timeline } from "../support/events.ts";

Deno.test("How often a gap is given up is counted for each response by itself", async () => {
  let asked = 0;
  const gaps = new RoomGaps({
    requests: {
      getMessages() {
        asked++;
        const status = 502;
        return Promise.reject(
          requestError({ operation: "getMessages", method: "GET", path: "/", status, body: {} }),
        );
      },
    },
    filter: { members: "all", timeline: undefined },
    registry: { wantsHistory: false },
    patience: 2,
    signal: new AbortController().signal,
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const view = { own: OWN, before: { isJoined: true, shown: " $old ", entries: [] } };
  for (const since of ["one", "two", "three"]) {
    const read = async () => {
      const [room] =
        takeApart(joined(timeline([message("new")], { limited: true, prev_batch: "p" })), OWN).rooms;
      assert(room !== undefined);
      await gaps.fill({ room, view, since }, "next", 100);
      return room.gap?.reason;
    };
    await assertRejects(read);
    await assertRejects(read);
    assertEquals(await read(), "refused");
  }
  assertEquals(asked, 9);
});

Deno.test("An own join that the filter hides comes in front of what a gap hides behind it", async () => {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const entry = member(OWN, "join");
  const said = ["m0", "m1"].map((text) => ({ ...message(text), room_id: ROOM }));
  const gaps = new RoomGaps({
    requests: {
      getMessages: (_room, _direction, from) => {
        const chunk = from === "next"
          ? [...said.toReversed(), { ...entry, room_id: ROOM }]
          : said.slice(0, 1);
        return Promise.resolve({ start: from, chunk } as never);
      },
    },
    filter: { members: "some", timeline: { types: ["m.room.message"] } },
    registry: { wantsHistory: false },
    patience: 0,
    signal: new AbortController().signal,
    log,
  });
  const shown = timeline([message("m1")], { limited: true, prev_batch: "p" });
  const [room] = takeApart(joined(shown), OWN).rooms;
  assert(room !== undefined);
  const view = { own: OWN, before: { isJoined: false, shown: "", entries: [] } };
  await gaps.fill({ room, view, since: "s" }, "next", 100);
  assertEquals(room.filled.map(({ event_id }) => event_id), [entry.event_id, "$m0"]);
  assertEquals(room.gap, undefined);
});

Deno.test("An own join that the filter hides comes once, though the gap in front of it is not read", async () => {
  const entry = member(OWN, "join");
  const said = ["m0", "m1"].map((text) => ({ ...message(text), room_id: ROOM }));
  for (const limit of [false, 0, 100] as const) {
    const gaps = new RoomGaps({
      requests: {
        getMessages: (_room, _direction, from) => {
          const chunk = [...said.toReversed(), { ...entry, room_id: ROOM }];
          return Promise.resolve({ start: from, chunk } as never);
        },
      },
      filter: { members: "some", timeline: { types: ["m.room.message"] } },
      registry: { wantsHistory: false },
      patience: 0,
      signal: new AbortController().signal,
      log: { debug() {}, info() {}, warn() {}, error() {} },
    });
    const more = limit === 100 ? {} : { prev_batch: "p" }; // without it, a gap is refused
    const [room] = takeApart(joined(timeline([message("m1")], { limited: true, ...more })), OWN).rooms;
    assert(room !== undefined);
    const view = { own: OWN, before: { isJoined: false, shown: "", entries: [] } };
    await gaps.fill({ room, view, since: "s" }, "next", limit);
    assertEquals(room.filled.map(({ event_id }) => event_id), [entry.event_id]);
    assertEquals(room.gap?.read, 1);
  }
});
