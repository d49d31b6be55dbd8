import { assert, assertEquals } from "@std/assert";
import type { Actor } from "../../../src/actors/kernel/mod.ts";
import {
  type RoomChange,
  spawnStore,
  type StoreHandlers,
  type SyncChange,
} from "../../../src/actors/store/mod.ts";
import type { JsonObject, RoomID } from "@greenroom/matrix/types";
import type { Store } from "@greenroom/matrix";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { TestClock } from "@greenroom/matrix/testing";
import { CountingStore } from "../support/counting_store.ts";
import { member, ROOM, state } from "../support/events.ts";

const DAY = 86_400_000;

async function stage(kv: Store) {
  const clock = new TestClock(0);
  const store = spawnStore({ kv, clock });
  await store.open([]);
  return {
    clock,
    store,
    async commit(room: Partial<RoomChange>): Promise<void> {
      const whole = { roomId: ROOM, membership: "join", state: [], complete: true, lossy: false, ...room };
      const change = { nextBatch: "n", repeated: false, rooms: [whole] };
      await store.commitSync(change as unknown as SyncChange);
    },
    prune: async (after?: RoomID) => await store.pruneRooms({ leftBefore: clock.now() - 7 * DAY, after }),
    [Symbol.asyncDispose]: () => store.stop(),
  };
}

function events(...list: JsonObject[]): RoomChange["state"] {
  return list as unknown as RoomChange["state"];
}

async function known(store: Actor<StoreHandlers>, roomId: RoomID = ROOM): Promise<number> {
  return (await store.listState({ roomId })).length;
}

const DONE = { removed: 0, isDone: true };

Deno.test("State of a room that was left is removed some days later; what is known beside it stays", async () => {
  await using here = await stage(new CountingStore());
  const encryption = state("m.room.encryption", { algorithm: "a" });
  await here.commit({ state: events(encryption, member("@a:a", "join")) });
  await here.clock.tick(30 * DAY);
  await here.commit({ membership: "leave", state: events(member("@own:a", "leave")) });
  assertEquals((await here.store.room(ROOM))?.leftAt, 30 * DAY);
  await here.clock.tick(7 * DAY);
  assertEquals(await here.prune(), DONE);
  assertEquals(await known(here.store), 3);
  await here.clock.tick(1);
  assertEquals(await here.prune(), { removed: 3, isDone: true });
  assertEquals(await known(here.store), 0);
  assertEquals(await here.store.room(ROOM), {
    roomId: ROOM,
    membership: "leave",
    allMembers: false,
    encryption: { algorithm: "a" },
    encryptedBy: events(encryption)[0]?.event_id,
  });
  assertEquals(await here.prune(), DONE);
});

for (const membership of ["join", "invite", "knock"] as const) {
  Deno.test(`State of a room is kept however old, if the user is to it: ${membership}`, async () => {
    await using here = await stage(new CountingStore());
    await here.commit({ membership, state: events(member("@a:a", "join")) });
    await here.clock.tick(100 * DAY);
    assertEquals([await here.prune(), await known(here.store)], [DONE, 1]);
  });
}

Deno.test("State of a room that the user was banned from, or whose invite was turned down, goes as well", async () => {
  await using here = await stage(new CountingStore());
  await here.commit({ roomId: "!ban:a", state: events(state("m.room.name", {})) });
  await here.commit({ roomId: "!ban:a", membership: "ban" });
  await here.commit({ roomId: "!no:a", membership: "invite", state: events(state("m.room.name", {})) });
  await here.commit({ roomId: "!no:a", membership: "leave" });
  await here.clock.tick(8 * DAY);
  assertEquals(await here.prune(), { removed: 2, isDone: true });
});

Deno.test("A room is due from the time it was left, whatever events come later, and not if it is joined again", async () => {
  await using here = await stage(new CountingStore());
  await here.commit({ state: events(state("m.room.name", {})) });
  await here.commit({ membership: "leave" });
  await here.clock.tick(6 * DAY);
  await here.commit({ membership: "ban" });
  assertEquals((await here.store.room(ROOM))?.leftAt, 0);
  await here.commit({ membership: "join", state: events(state("m.room.name", {})) });
  assertEquals((await here.store.room(ROOM))?.leftAt, undefined);
  await here.clock.tick(100 * DAY);
  assertEquals([await here.prune(), await known(here.store)], [DONE, 1]);
});

Deno.test("A room that was left while the clock was years ahead counts from when the clock is right again", async () => {
  await using here = await stage(new CountingStore());
  await here.clock.tick(1_000 * DAY);
  await here.commit({ membership: "leave", state: events(member("@own:a", "leave")) });
  await here.clock.tick(-900 * DAY);
  assertEquals(await here.prune(), DONE);
  await here.clock.tick(7 * DAY);
  assertEquals(await here.prune(), DONE);
  await here.clock.tick(1);
  assertEquals(await here.prune(), { removed: 1, isDone: true });
});

Deno.test("State that is read of a room that was pruned is pruned again, some days later", async () => {
  await using here = await stage(new CountingStore());
  await here.commit({ membership: "leave" });
  await here.clock.tick(8 * DAY);
  await here.prune();
  const name = events(state("m.room.name", {}));
  const members = events(member("@a:a", "join"));
  await here.store.putState({ roomId: ROOM, events: name });
  await here.store.replaceMembers({ roomId: ROOM, events: members, only: "join", complete: false });
  assertEquals([await here.prune(), await known(here.store)], [DONE, 2]);
  await here.clock.tick(8 * DAY);
  assertEquals([await here.prune(), await known(here.store)], [{ removed: 2, isDone: true }, 0]);
});

Deno.test("Much state is removed in short steps, each of which the next can continue", async () => {
  const kv = new CountingStore();
  await using here = await stage(kv);
  const many = (count: number) =>
    events(...Array.from({ length: count }, (_, number) => member(`@u${number}:a`, "join")));
  await here.commit({ roomId: "!a:a", state: many(300) });
  await here.commit({ roomId: "!b:a", state: many(900) });
  for (const roomId of ["!a:a", "!b:a"] as const) await here.commit({ roomId, membership: "leave" });
  await here.clock.tick(8 * DAY);
  assertEquals(await here.prune(), { removed: 499, isDone: false, after: "!a:a" });
  assertEquals([await known(here.store, "!a:a"), await known(here.store, "!b:a")], [0, 701]);
  assertEquals(await here.prune("!a:a"), { removed: 500, isDone: false, after: "!a:a" });
  assertEquals(await here.prune("!a:a"), { removed: 201, isDone: true });
  assertEquals((await here.store.rooms()).map(({ leftAt }) => leftAt), [
    undefined,
    undefined,
  ]);
  assert(kv.commits.slice(-3).every(({ length }) => length <= 502));
});

for (
  const [where, open] of [["memory", () => new MemoryStore()], [
    "SQLite",
    () => new SqliteStore(":memory:"),
  ]] as const
) {
  Deno.test(`All pieces in packs are counted when a store in ${where} is pruned, and nothing is left`, async () => {
    const kv = open();
    await using here = await stage(kv);
    await leave(here, { rooms: 6, members: 200, later: 5 });
    assertEquals(await pruned(here), [1_230]);
    assertEquals(await kindsIn(kv), ["room", "sync"]);
  });

  Deno.test(`A step takes as many rooms, however much is in their packs, in ${where}`, async () => {
    for (const members of [10, 250]) {
      const kv = open();
      await using here = await stage(kv);
      await leave(here, { rooms: 300, members, later: 0 });
      assertEquals(await pruned(here), [250 * members, 50 * members]);
      assertEquals(await kindsIn(kv), ["room", "sync"]);
    }
  });
}

Deno.test("Rooms without state are pruned in short steps, too", async () => {
  const kv = new CountingStore();
  await using here = await stage(kv);
  await leave(here, { rooms: 700, members: 0, later: 0 });
  assertEquals(await pruned(here), [0, 0]);
  assert(kv.commits.slice(-2).every(({ length }) => length <= 1_000));
  assert((await here.store.rooms()).every(({ leftAt }) => leftAt === undefined));
});

Deno.test("No step reads the rooms that are done again, and none reads all of many", async () => {
  const kv = new CountingStore();
  await using here = await stage(kv);
  await leave(here, { rooms: 1_200, members: 0, later: 0 });
  await here.commit({ roomId: "!zz:a" });
  const before = kv.listed;
  assertEquals(await pruned(here), [0, 0, 0]);
  assertEquals(kv.listed - before, 500 + 500 + 201);
});

type Stage = Awaited<ReturnType<typeof stage>>;

/**
 * Comes into rooms with some members, sees more of them later, leaves all, and waits until they are pruned.
 */
async function leave(here: Stage, { rooms, members, later }: Record<"rooms" | "members" | "later", number>) {
  const users = (kind: string, count: number) =>
    events(...Array.from({ length: count }, (_, number) => member(`@${kind}${number}:a`, "join")));
  for (let number = 0; number < rooms; number++) {
    const roomId = `!${number}:a` as RoomID;
    await here.commit({ roomId, state: users("early", members) });
    if (later > 0) await here.commit({ roomId, state: users("late", later) });
    await here.commit({ roomId, membership: "leave" });
  }
  await here.clock.tick(8 * DAY);
}

/** Prunes until nothing is left; how much each step removed. */
async function pruned(here: Stage): Promise<number[]> {
  const steps: number[] = [];
  let step: Awaited<ReturnType<Stage["prune"]>> | undefined;
  while (step?.isDone !== true) {
    step = await here.prune(step?.after);
    steps.push(step.removed);
  }
  return steps;
}

/** The kinds of records in a store. */
async function kindsIn(kv: Store): Promise<string[]> {
  const kinds = new Set<string>();
  for await (const { key: [kind = ""] } of kv.list([])) kinds.add(kind);
  return [...kinds].sort();
}
