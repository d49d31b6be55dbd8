import { assert, assertEquals, assertRejects } from "@std/assert";
import { type RoomChange, spawnStore } from "../../../src/actors/store/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { type RoomID, SyncStream } from "@greenroom/matrix/types";
import { CountingStore } from "../support/counting_store.ts";
import { member, ROOM, state } from "../support/events.ts";
import { events, kinds, MEMBERS, opened, redactionsOf, textOf, topic } from "../support/packs.ts";

Deno.test("The state of a room that is new is two records; what changes then has records of its own", async () => {
  const kv = new CountingStore();
  {
    await using device = await opened(kv);
    await device.commit([topic("$1"), ...MEMBERS, topic("$2")]);
    assertEquals(await kinds(kv), { pack: 2, room: 1, sync: 1 });
    assertEquals(await device.get("m.room.topic"), "$2");
    await device.commit([topic("$3"), member("@f:a", "join")]);
    assertEquals(await kinds(kv), { pack: 2, room: 1, state: 2, sync: 1 });
  }
  await using next = await opened(kv);
  assertEquals(await next.get("m.room.topic"), "$3");
  assertEquals(await next.get("m.room.member", "@b:a"), "$@b:a-join");
  assertEquals(await next.get("m.room.name"), undefined);
  const users = ["a", "b", "c", "d", "e", "f"].map((name) => `$@${name}:a-join` as const);
  assertEquals(await next.ids("m.room.member"), users);
  assertEquals(await next.ids(), [...users, "$3" as const]);
});

Deno.test("Pieces of a pack can be removed and replaced, and are gone with the room", async () => {
  const kv = new CountingStore();
  await using device = await opened(kv);
  await device.commit([topic("$1"), ...MEMBERS]);
  const members = events([member("@a:a", "join"), member("@z:a", "join")]);
  await device.store.replaceMembers({ roomId: ROOM, events: members, complete: true });
  assertEquals(await device.ids(), ["$@a:a-join", "$@z:a-join", "$1"]);
  await device.commit([], { membership: "leave" });
  await device.commit([topic("$2"), ...MEMBERS, member("@y:a", "join")]);
  assertEquals(await device.get("m.room.member", "@z:a"), undefined);
  assertEquals((await device.ids()).length, 7);
  await device.commit([], { membership: "leave" });
  assertEquals(await device.store.pruneRooms({ leftBefore: 1 }), { removed: 7, isDone: true });
  assertEquals([await device.ids(), await kinds(kv)], [[], { room: 1, sync: 1 }]);
});

Deno.test("What a pack gives back is what was packed, whatever members an event has", async () => {
  const kv = new CountingStore();
  await using device = await opened(kv);
  const ofTimeline = { source: SyncStream.JOINED_ROOM | SyncStream.TIMELINE };
  const given = [
    topic("$1"),
    state("m.room.name", { name: "green" }, { event_id: "$2", unsigned: { age: 5 } }),
    { ...state("m.room.avatar", {}, { event_id: "$3" }), replaces_state: "$0" },
    state("m.room.name", JSON.parse('{"__proto__":{"a":1}}'), {
      event_id: "$4",
      state_key: "other",
      ...ofTimeline,
    }),
    { ...state("m.room.guest_access", {}, { event_id: "$5" }), ...JSON.parse('{"__proto__":{"b":2}}') },
    member("@a:a", "join", ofTimeline),
    member("@b:a", "join", { sender: "@a:a" }),
    member("@c:a", "leave", { unsigned: { prev_content: { membership: "join" } } }),
    member("@d:a", "join"),
  ].map((event) => ({ source: SyncStream.JOINED_ROOM | SyncStream.STATE, ...event, room_id: ROOM }));
  given.push({ ...member("@e:a", "join"), room_id: ROOM }); // as nothing that syncs gives
  await device.commit(given);
  const [pack] = await kv.getMany([["pack", ROOM, "members"]]);
  assertEquals(
    (pack?.value as unknown[]).map(Array.isArray),
    [true, true, true, true, false],
    "rows where it can be",
  );
  const read = await device.store.listState({ roomId: ROOM });
  assertEquals(read.length, given.length);
  for (const event of given) {
    assertEquals(read.find(({ event_id }) => event_id === event.event_id), events([event])[0]);
  }
  assertEquals(await kinds(kv), { pack: 2, room: 1, sync: 1 });
});

Deno.test("A pack of whole events is read, too", async () => {
  const kv = new CountingStore();
  await kv.commit([{ type: "set", key: ["pack", ROOM, "members"], value: MEMBERS }]);
  await using device = await opened(kv);
  assertEquals((await device.ids("m.room.member")).length, MEMBERS.length);
  assertEquals(await device.get("m.room.member", "@b:a"), "$@b:a-join");
});

Deno.test("A read that comes right behind a commit has what was committed, however soon it comes", async () => {
  for (let turns = 0; turns < 120; turns++) {
    await using device = await opened(new CountingStore());
    await device.commit([topic("$1")]);
    assertEquals(await device.get("m.room.topic"), "$1");
    const commit = device.commit([topic("$2")]);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    assertEquals(await device.get("m.room.topic"), "$2", `${turns} turns`);
    await commit;
  }
});

Deno.test("State that was read or sent before a room was known stays, in records", async () => {
  const kv = new CountingStore();
  await using device = await opened(kv);
  await device.store.putState({
    roomId: ROOM,
    events: events([topic("$sent"), state("m.room.name", {}, { event_id: "$name" })]),
  });
  await device.commit([topic("$synced"), ...MEMBERS]);
  assertEquals(await device.get("m.room.topic"), "$synced");
  assertEquals(await device.get("m.room.name"), "$name");
});

Deno.test("What is redacted is gone from a pack too, also where it was replaced before", async () => {
  const kv = new CountingStore();
  await using device = await opened(kv);
  await device.commit([topic("$shame"), ...MEMBERS, topic("$guilt"), topic("$good")]);
  await device.commit([topic("$now")]);
  await device.commit([], { redactions: redactionsOf("$shame", "$guilt", "$@b:a-join") });
  const text = await textOf(kv);
  assertEquals(["$shame", "$guilt", "$good"].map((id) => text.includes(`"topic":"${id}"`)), [
    false,
    false,
    true,
  ]);
  const found = await device.store.getState({ roomId: ROOM, type: "m.room.member", stateKey: "@b:a" });
  assert(found?.unsigned?.redacted_because !== undefined);
  assertEquals(await device.get("m.room.topic"), "$now");
});

Deno.test("What the first response of a room redacts is not stored, neither what it replaces nor what counts", async () => {
  const kv = new CountingStore();
  await using device = await opened(kv);
  const create = state("m.room.create", { room_version: "11" }, { event_id: "$create" });
  const changes = [topic("$secret"), topic("$sorry")].map((event) => ({
    ...event,
    source: SyncStream.TIMELINE,
  }));
  const first = [create, topic("$shame"), topic("$guilt"), ...MEMBERS, ...changes];
  const redactions = redactionsOf("$shame", "$sorry");
  await device.commit(first, { redactions });
  const text = await textOf(kv);
  for (const id of ["$shame", "$guilt", "$secret", "$sorry"]) assert(!text.includes(`"topic":"${id}"`), id);
  const found = await device.store.getState({ roomId: ROOM, type: "m.room.topic", stateKey: "" });
  assertEquals([found?.event_id, found?.content], ["$sorry", {}]);
  assertEquals(await kinds(kv), { pack: 2, room: 1, sync: 1 });
});

Deno.test("A first sync looks once for records of state, whatever the number of rooms", async () => {
  const kv = new CountingStore();
  let lists = 0;
  const list = kv.list.bind(kv);
  kv.list = (...args) => {
    if (args[0][0] === "state") lists++;
    return list(...args);
  };
  await using device = await opened(kv);
  const room = { membership: "join", complete: true, lossy: false } as const;
  const rooms = Array.from({ length: 20 }, (_, number) => ({
    ...room,
    roomId: `!${number}:a` as RoomID,
    state: events(number % 5 === 0 ? [topic("$1")] : MEMBERS),
  }));
  await device.store.commitSync({ nextBatch: "n", repeated: false, rooms });
  assertEquals([lists, await kinds(kv)], [1, { pack: 16, room: 20, state: 4, sync: 1 }]);
});

Deno.test("A member event of a timeline that says what its user was has nothing read for it", async () => {
  const kv = new CountingStore();
  await using device = await opened(kv);
  await device.commit(MEMBERS);
  const renamed = member("@a:a", "join", {
    event_id: "$renamed",
    source: SyncStream.JOINED_ROOM | SyncStream.TIMELINE,
    unsigned: { prev_content: { membership: "join" } },
  });
  let reads = 0;
  const getMany = kv.getMany.bind(kv);
  kv.getMany = (keys) => {
    reads += keys.length;
    return getMany(keys);
  };
  await device.commit([renamed]);
  assertEquals([reads, await device.get("m.room.member", "@a:a")], [0, "$renamed"]);
});

/**
 * Two rooms with packs, and then a response to both of which the second room's part fails once, in a read.
 */
async function afterFailedRead(
  before: Partial<RoomChange>,
  change: (room: "a" | "b") => Partial<RoomChange>,
): Promise<CountingStore> {
  const kv = new CountingStore();
  const list = kv.list.bind(kv);
  let failing = "";
  kv.list = (...args) => {
    if (!args[0].includes(failing)) return list(...args);
    failing = "";
    throw new Error("disk hiccup");
  };
  const store = spawnStore({ kv, clock: new TestClock(0) });
  await store.open([]);
  const commit = (nextBatch: string, of: (room: "a" | "b") => Partial<RoomChange>) => {
    const rooms = (["a", "b"] as const).map((name) => ({
      roomId: `!${name}:a` as RoomID,
      membership: "join" as const,
      state: [],
      complete: true,
      lossy: false,
      ...of(name),
    }));
    return store.commitSync({ nextBatch, repeated: false, rooms });
  };
  const create = state("m.room.create", { room_version: "11" });
  await commit("n0", (room) => ({ state: events([create, topic(`$${room}`), ...MEMBERS]) }));
  await commit("n1", () => before);
  failing = "!b:a";
  await assertRejects(() => commit("n2", change), Error, "disk hiccup");
  assertEquals((await store.listState({ roomId: "!a:a" })).length, 7); // as it was
  await commit("n2", change);
  await store.stop();
  return kv;
}

Deno.test("A redaction takes effect after a read that failed", async () => {
  const later = { state: events([topic("$later")]) };
  const kv = await afterFailedRead(later, (room) => ({ redactions: redactionsOf(`$${room}`) }));
  const text = await textOf(kv);
  assertEquals(["$a", "$b", "$later"].map((id) => text.includes(`"topic":"${id}"`)), [false, false, true]);
});

Deno.test("Nothing of what a room had is left after a read that failed", async () => {
  const state = events([member("@z:a", "join")]);
  const kv = await afterFailedRead({ membership: "leave" }, () => ({ state }));
  assertEquals(await kinds(kv), { room: 2, state: 2, sync: 1 });
});

Deno.test("What a room has is known after its packs have changed", async () => {
  await using device = await opened(new CountingStore());
  await device.commit([topic("$1"), ...MEMBERS]);
  assertEquals((await device.ids()).length, 6);
  await device.commit([], { redactions: redactionsOf("$1") });
  await device.commit([], { membership: "leave" });
  assertEquals((await device.ids()).length, 6);
  await device.commit([topic("$2"), ...MEMBERS, member("@f:a", "join")]);
  assertEquals((await device.ids()).length, 7);
  assertEquals(await device.get("m.room.topic"), "$2");
});

Deno.test("In a room that was left, what a response redacts beside its own state stays in the pack", async () => {
  const kv = new CountingStore();
  await using device = await opened(kv);
  await device.commit([...MEMBERS, topic("$topic"), state("m.room.name", {}, { event_id: "$name" })]);
  await device.commit([], { membership: "leave" });
  const redactions = redactionsOf("$new", "$name");
  await device.commit([topic("$new")], { membership: "leave", redactions });
  assertEquals([await device.get("m.room.topic"), await device.get("m.room.name")], ["$new", "$name"]);
});
