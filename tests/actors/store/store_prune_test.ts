import { assert, assertEquals } from "@std/assert";
import type { Actor } from "../../../src/actors/kernel/actor.ts";
import { spawnStore, type StoreHandlers } from "../../../src/actors/store/store_actor.ts";
import type { RoomChange, SyncChange } from "../../../src/actors/store/store_protocol.ts";
import type { RoomID } from "../../../src/types/ids.ts";
import type { JsonObject } from "../../../src/types/json.ts";
import { TestClock } from "../../../src/testing/mod.ts";
import { CountingStore } from "../support/counting_store.ts";
import { member, ROOM, state } from "../support/events.ts";

const DAY = 86_400_000;

async function stage() {
  const clock = new TestClock(0);
  const kv = new CountingStore();
  const store = spawnStore({ kv, clock });
  await store.open([]);
  return {
    clock,
    kv,
    store,
    async commit(room: Partial<RoomChange>): Promise<void> {
      const whole = { roomId: ROOM, membership: "join", state: [], complete: true, lossy: false, ...room };
      const change = { nextBatch: "n", repeated: false, rooms: [whole] };
      await store.commitSync(change as unknown as SyncChange);
    },
    prune: async () => await store.pruneRooms({ leftBefore: clock.now() - 7 * DAY }),
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
  await using here = await stage();
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
    await using here = await stage();
    await here.commit({ membership, state: events(member("@a:a", "join")) });
    await here.clock.tick(100 * DAY);
    assertEquals([await here.prune(), await known(here.store)], [DONE, 1]);
  });
}

Deno.test("State of a room that the user was banned from, or whose invite was turned down, goes as well", async () => {
  await using here = await stage();
  await here.commit({ roomId: "!ban:a", state: events(state("m.room.name", {})) });
  await here.commit({ roomId: "!ban:a", membership: "ban" });
  await here.commit({ roomId: "!no:a", membership: "invite", state: events(state("m.room.name", {})) });
  await here.commit({ roomId: "!no:a", membership: "leave" });
  await here.clock.tick(8 * DAY);
  assertEquals(await here.prune(), { removed: 2, isDone: true });
});

Deno.test("A room is due from the time it was left, whatever events come later, and not if it is joined again", async () => {
  await using here = await stage();
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
  await using here = await stage();
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
  await using here = await stage();
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
  await using here = await stage();
  const many = (count: number) =>
    events(...Array.from({ length: count }, (_, number) => member(`@u${number}:a`, "join")));
  await here.commit({ roomId: "!a:a", state: many(300) });
  await here.commit({ roomId: "!b:a", state: many(900) });
  for (const roomId of ["!a:a", "!b:a"] as const) await here.commit({ roomId, membership: "leave" });
  await here.clock.tick(8 * DAY);
  assertEquals(await here.prune(), { removed: 500, isDone: false });
  assertEquals([await known(here.store, "!a:a"), await known(here.store, "!b:a")], [0, 700]);
  assertEquals(await here.prune(), { removed: 500, isDone: false });
  assertEquals(await here.prune(), { removed: 200, isDone: true });
  assertEquals((await here.store.rooms()).map(({ leftAt }) => leftAt), [
    undefined,
    undefined,
  ]);
  assert(here.kv.commits.slice(-3).every(({ length }) => length <= 502));
});
