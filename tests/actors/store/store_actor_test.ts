import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Actor } from "../../../src/actors/kernel/mod.ts";
import { ActorError } from "@greenroom/matrix/errors";
import type { JsonObject, RoomID, StoredState } from "@greenroom/matrix/types";
import { spawnStore, type StoreHandlers } from "../../../src/actors/store/store_actor.ts";
import type { FormerRooms } from "../../../src/actors/store/store_protocol.ts";
import type { RoomChange, SyncChange } from "../../../src/actors/store/mod.ts";
import { recordingLogger } from "../kernel/support.ts";
import { CountingStore } from "../support/counting_store.ts";
import { member, ROOM, state } from "../support/events.ts";

interface Stage extends AsyncDisposable {
  readonly kv: CountingStore;
  readonly store: Actor<StoreHandlers>;
  /** Commits one room's change. */
  commit(room: Partial<RoomChange>, token?: string): Promise<FormerRooms>;
}

async function stage(kv: CountingStore = new CountingStore(), prefix: string[] = []): Promise<Stage> {
  const store = spawnStore({ kv, log: recordingLogger() });
  await store.open(prefix);
  return {
    kv,
    store,
    commit: async (room, nextBatch = "n") => (await store.commitSync(sync(nextBatch, change(room)))).former,
    [Symbol.asyncDispose]: () => store.stop(),
  };
}

function sync(nextBatch: string, ...rooms: RoomChange[]): SyncChange {
  return { nextBatch, repeated: false, rooms };
}

function change(room: Partial<RoomChange>): RoomChange {
  return { roomId: ROOM, membership: "join", state: [], complete: true, lossy: false, ...room };
}

function events(...list: JsonObject[]): StoredState[] {
  return list as unknown as StoredState[];
}

function encryption(content: JsonObject, more: JsonObject = {}): StoredState[] {
  return events(state("m.room.encryption", content, more));
}

Deno.test("commitSync keeps state, what the room is, and the token, in one commit", async () => {
  await using here = await stage();
  const rooms = ["!a", "!b"].map((roomId) =>
    change({
      roomId: roomId as RoomID,
      state: events(state("m.room.name", { roomId }), member("@a:a", "join")),
    })
  );
  await here.store.commitSync(sync("t1", ...rooms));
  assertEquals(here.kv.commits.length, 1);
  assertEquals((await here.store.position()).nextBatch, "t1");
  const name = await here.store.getState({ roomId: "!b", type: "m.room.name", stateKey: "" });
  assertEquals(name?.content, { roomId: "!b" });
  assertEquals((await here.store.listState({ roomId: "!a" })).length, 2);
  assertEquals((await here.store.rooms()).map(({ roomId }) => roomId), ["!a", "!b"]);
});

Deno.test("commitSync keeps the last of several events of the same state", async () => {
  await using here = await stage();
  await here.commit({ state: events(member("@a:a", "join"), member("@a:a", "leave")) });
  const [kept, ...others] = await here.store.listState({ roomId: ROOM });
  assertEquals(kept?.content.membership, "leave");
  assertEquals(others, []);
});

Deno.test("commitSync reads nothing for a message in a room that it knows", async () => {
  await using here = await stage();
  await here.commit({ state: events(member("@a:a", "join")) });
  const getMany = here.kv.getMany.bind(here.kv);
  let reads = 0;
  here.kv.getMany = (keys) => {
    reads += keys.length;
    return getMany(keys);
  };
  const [former] = await here.commit({}, "n2");
  assertEquals([former?.membership, reads], ["join", 0]);
  await here.commit({ state: events(member("@a:a", "leave"), member("@b:a", "join")) }, "n3");
  assertEquals(reads, 3); // both members, and the room's pack
});

Deno.test("A failed commit ends the store with its reason", async () => {
  await using here = await stage();
  here.kv.failure = new Error("The disk is full");
  const error = await assertRejects(() => here.commit({}), ActorError);
  assertEquals([error.actor, error.kind, error.cause], ["store", "commitSync", here.kv.failure]);
  assertEquals(await assertRejects(() => here.store.done, ActorError), error);
});

Deno.test("commitSync returns what the store had of each room before", async () => {
  await using here = await stage();
  const [unknown] = await here.commit({ state: events(member("@a:a", "join")) });
  assertEquals(unknown, undefined);
  const two = events(member("@a:a", "leave"), member("@b:a", "join"), state("m.room.name", {}));
  const [former] = await here.commit({ membership: "leave", state: two });
  assertEquals(former?.membership, "join");
  const memberships = [...former?.members ?? []].map(([user, { content }]) => [user, content.membership]);
  assertEquals(memberships, [["@a:a", "join"]]);
  const [again] = await here.commit({ state: events(member("@a:a", "join")) });
  assertEquals([again?.membership, again?.members.get("@a:a")?.content.membership], ["leave", "leave"]);
});

Deno.test("commitSync drops what it knew of a room when the user comes back into it", async () => {
  await using here = await stage();
  await here.commit({
    state: events(state("m.room.name", {}), member("@a:a", "join"), member("@b:a", "join")),
  });
  await here.commit({ membership: "leave" });
  assertEquals((await here.store.listState({ roomId: ROOM })).length, 3);
  await here.commit({ state: events(member("@b:a", "join"), state("m.room.topic", {})) });
  const kept = await here.store.listState({ roomId: ROOM });
  assertEquals(kept.map(({ type, state_key }) => [type, state_key]), [["m.room.member", "@b:a"], [
    "m.room.topic",
    "",
  ]]);
});

Deno.test("A room that was left and is joined again in one response ends as joined", async () => {
  await using here = await stage();
  await here.commit({ state: encryption({ algorithm: "a" }) });
  const rooms = [
    change({ membership: "leave", state: events(member("@o:a", "leave")) }),
    change({ membership: "invite", state: events(member("@o:a", "invite")) }),
  ];
  const { former } = await here.store.commitSync(sync("n2", ...rooms));
  assertEquals(former.map((room) => room?.membership), ["join", "leave"]);
  const record = await here.store.room(ROOM);
  assertEquals([record?.membership, record?.encryption], ["invite", { algorithm: "a" }]);
});

const attempts: [string, StoredState[]][] = [
  ["altered", encryption({ algorithm: "none" })],
  ["redacted", encryption({})],
  ["sent with another state key", encryption({ algorithm: "b" }, { state_key: "x" })],
];
for (const [name, later] of attempts) {
  Deno.test(`A room stays encrypted as it was when m.room.encryption is ${name}`, async () => {
    await using here = await stage();
    await here.commit({ state: encryption({ algorithm: "a" }) });
    await here.commit({ state: later });
    await here.store.putState({ roomId: ROOM, events: later });
    await here.store.noEncryption(ROOM);
    assertEquals((await here.store.room(ROOM))?.encryption, { algorithm: "a" });
  });
}

Deno.test("A room stays encrypted when the user leaves it and comes back", async () => {
  await using here = await stage();
  await here.commit({ state: encryption({ algorithm: "a" }) });
  await here.commit({ membership: "leave" });
  await here.commit({ state: events(state("m.room.name", {})) });
  assertEquals((await here.store.room(ROOM))?.encryption, { algorithm: "a" });
});

Deno.test("A room whose m.room.encryption was redacted before it was seen is encrypted", async () => {
  await using here = await stage();
  await here.commit({ state: encryption({}) });
  assertEquals((await here.store.room(ROOM))?.encryption, {});
});

Deno.test("m.room.encryption with a state key says nothing, and one without does, once there was none", async () => {
  await using here = await stage();
  await here.commit({ state: encryption({ algorithm: "b" }, { state_key: "x" }) });
  assertEquals((await here.store.room(ROOM))?.encryption, undefined);
  await here.store.noEncryption(ROOM);
  await here.commit({});
  const none = false;
  assertEquals((await here.store.room(ROOM))?.encryption, none);
  await here.store.putState({ roomId: ROOM, events: encryption({ algorithm: "a" }) });
  assertEquals((await here.store.room(ROOM))?.encryption, { algorithm: "a" });
});

Deno.test("Members are complete when a join brings them all, and until a lossy response", async () => {
  await using here = await stage();
  const all = async () => (await here.store.room(ROOM))?.allMembers;
  const steps: [Partial<RoomChange>, boolean][] = [
    [{ complete: false }, false],
    [{ complete: true }, false], // not new, so that nothing says who was there before
    [{ membership: "leave" }, false],
    [{ complete: true }, true],
    [{ complete: false }, true],
    [{ lossy: true }, false],
    [{ complete: true }, false],
  ];
  for (const [room, expected] of steps) {
    await here.commit(room);
    assertEquals(await all(), expected, JSON.stringify(room));
  }
  await here.store.replaceMembers({ roomId: ROOM, events: [], complete: true });
  assert(await all());
});

Deno.test("replaceMembers replaces all members, or those of one membership", async () => {
  await using here = await stage();
  const members = async () =>
    (await here.store.listState({ roomId: ROOM, type: "m.room.member" })).map((
      { state_key, content },
    ) => `${state_key} ${content.membership}`);
  await here.commit({
    state: events(member("@a:a", "join"), member("@b:a", "leave"), state("m.room.name", {})),
  });
  const joined = events(member("@c:a", "join"));
  await here.store.replaceMembers({ roomId: ROOM, events: joined, only: "join", complete: false });
  assertEquals(await members(), ["@b:a leave", "@c:a join"]);
  await here.store.replaceMembers({
    roomId: ROOM,
    events: events(member("@d:a", "invite")),
    complete: true,
  });
  assertEquals(await members(), ["@d:a invite"]);
  assertEquals((await here.store.listState({ roomId: ROOM })).length, 2);
});

Deno.test("A store that is shared keeps each account's state and position apart", async () => {
  const kv = new CountingStore();
  await using one = await stage(kv, ["@a:a", "D"]);
  await using two = await stage(kv, ["@b:a", "D"]);
  await one.commit({ state: events(state("m.room.name", {})) }, "one");
  await two.commit({ roomId: "!other" }, "two");
  assertEquals((await one.store.position()).nextBatch, "one");
  assertEquals((await two.store.position()).nextBatch, "two");
  assertEquals((await two.store.rooms()).map(({ roomId }) => roomId), ["!other"]);
  assertEquals(await two.store.listState({ roomId: ROOM }), []);
});

Deno.test("A process continues with what an earlier one has stored", async () => {
  const kv = new CountingStore();
  {
    await using before = await stage(kv);
    await before.commit({ state: events(state("m.room.name", {})) }, "t1");
    await before.store.handled("t1");
    await before.commit({}, "t2");
    await before.store.saveFilter({ id: "f", definition: "{}" });
  }
  await using after = await stage(kv);
  assertEquals(await after.store.position(), {
    nextBatch: "t2",
    handled: "t1",
    filter: { id: "f", definition: "{}" },
  });
  assertEquals((await after.store.listState({ roomId: ROOM })).length, 1);
  assertEquals(kv.closed, 0);
});

Deno.test("A position that was moved stays there, though handlers settle that were on their way", async () => {
  await using here = await stage();
  await here.commit({}, "t1");
  await here.commit({}, "t2");
  await here.store.handled("t1");
  await here.store.move("elsewhere");
  await here.store.handled("t2");
  const { again, ...moved } = await here.store.position();
  assertEquals(moved, { nextBatch: "elsewhere", handled: "elsewhere" });
  assertEquals([again?.until, again?.moved], ["t2", true]);
  await here.commit({}, "t3");
  await here.store.handled("t3");
  assertEquals((await here.store.position()).handled, "t3");
});

Deno.test("A store that was not opened refuses to be read or written", async () => {
  const store = spawnStore({ kv: new CountingStore() });
  await assertRejects(() => store.position());
  await assertRejects(() => store.noEncryption(ROOM));
  await store.stop();
});

Deno.test("A room that was made in the place of an encrypted one is encrypted, whatever its state says", async () => {
  await using here = await stage();
  await here.commit({ state: encryption({ algorithm: "a" }) });
  const create = events(state("m.room.create", { predecessor: { room_id: ROOM } }));
  await here.commit({ roomId: "!new:a", state: create });
  assertEquals((await here.store.room("!new:a"))?.encryption, { algorithm: "a" });
  await here.commit({
    roomId: "!other:a",
    state: events(state("m.room.create", { predecessor: { room_id: 1 } })),
  });
  assertEquals((await here.store.room("!other:a"))?.encryption, undefined);
});
