import { assert, assertEquals } from "@std/assert";
import { MemoryRoomState } from "../../../src/actors/store/room_state.ts";
import { type RoomChange, spawnStore } from "../../../src/actors/store/mod.ts";
import type { FormerRooms } from "../../../src/actors/store/store_protocol.ts";
import type { JsonObject, RoomID, StoredState } from "@greenroom/matrix/types";
import { TestClock } from "@greenroom/matrix/testing";
import { CountingStore } from "../support/counting_store.ts";
import { member, ROOM, state } from "../support/events.ts";

const DAY = 86_400_000;

async function stage(kv: CountingStore | undefined) {
  const clock = new TestClock(0);
  const store = spawnStore({ kv, clock });
  await store.open([]);
  return {
    clock,
    store,
    async commit(list: JsonObject[], more: Partial<RoomChange> = {}): Promise<FormerRooms> {
      const room: RoomChange = {
        roomId: ROOM,
        membership: "join",
        state: list as unknown as StoredState[],
        complete: true,
        lossy: false,
        ...more,
      };
      return (await store.commitSync({ nextBatch: "n", repeated: false, rooms: [room] })).former;
    },
    list: async (type?: string, roomId: RoomID = ROOM) =>
      (await store.listState({ roomId, type })).map(({ type, state_key, event_id }) =>
        [type, state_key, event_id].join(" ")
      ),
    [Symbol.asyncDispose]: () => store.stop(),
  };
}

const name = (id: string) => state("m.room.name", {}, { event_id: id });

for (const [where, kv] of [["a store", () => new CountingStore()], ["memory", () => undefined]] as const) {
  Deno.test(`State in ${where} has the last event of each type and state key, alone and in a list`, async () => {
    await using here = await stage(kv());
    await here.commit([name("$1"), member("@b:a", "join"), member("@a:a", "join"), name("$2")]);
    const get = async (type: string, stateKey: string) =>
      (await here.store.getState({ roomId: ROOM, type, stateKey }))?.event_id;
    assertEquals(await get("m.room.name", ""), "$2");
    await here.commit([name("$3"), member("@\u{1F600}:a", "join"), member("@\uFFFF:a", "join")]);
    assertEquals(await get("m.room.name", ""), "$3");
    assertEquals([await get("m.room.name", "x"), await get("m.room.topic", "")], [undefined, undefined]);
    const members = ["@a:a", "@b:a", "@\uFFFF:a", "@\u{1F600}:a"].map((user) =>
      `m.room.member ${user} $${user}-join`
    );
    assertEquals(await here.list("m.room.member"), members);
    assertEquals(await here.list(), [...members, "m.room.name  $3"]);
    assertEquals([await here.list("m.room"), await here.list(undefined, "!no:a")], [[], []]);
  });

  Deno.test(`State in ${where} tells who members were before a response`, async () => {
    await using here = await stage(kv());
    await here.commit([member("@a:a", "join"), member("@c:a", "join")]);
    const [former] = await here.commit([member("@a:a", "leave"), member("@b:a", "join")]);
    assertEquals([...former?.members ?? []].map(([user, event]) => [user, event.content.membership]), [[
      "@a:a",
      "join",
    ]]);
  });

  Deno.test(`State in ${where} is replaced when the user comes back`, async () => {
    await using here = await stage(kv());
    await here.commit([name("$1"), member("@a:a", "join")]);
    await here.commit([], { membership: "leave" });
    assertEquals((await here.list()).length, 2);
    await here.commit([member("@b:a", "join")]);
    assertEquals(await here.list(), ["m.room.member @b:a $@b:a-join"]);
  });

  Deno.test(`Members in ${where} are replaced, all or those of one membership`, async () => {
    await using here = await stage(kv());
    const replace = async (list: JsonObject[], only?: "join") => {
      const events = list as unknown as StoredState[];
      await here.store.replaceMembers({ roomId: ROOM, events, only, complete: false });
    };
    await here.commit([name("$1"), member("@a:a", "join"), member("@b:a", "leave")]);
    await replace([member("@c:a", "join")], "join");
    assertEquals(await here.list("m.room.member"), [
      "m.room.member @b:a $@b:a-leave",
      "m.room.member @c:a $@c:a-join",
    ]);
    await replace([]);
    assertEquals(await here.list(), ["m.room.name  $1"]);
  });

  Deno.test(`State in ${where} goes some days after the room was left`, async () => {
    await using here = await stage(kv());
    await here.commit([name("$1"), name("$2"), member("@a:a", "join")]);
    await here.commit([member("@b:a", "join")]);
    const members = [member("@a:a", "join")] as unknown as StoredState[];
    await here.store.replaceMembers({ roomId: ROOM, events: members, complete: true });
    await here.commit([name("$3")], { roomId: "!other:a" });
    await here.commit([], { membership: "leave" });
    await here.clock.tick(8 * DAY);
    assertEquals(await here.store.pruneRooms({ leftBefore: DAY }), { removed: 2, isDone: true });
    assertEquals(await here.list(), []);
    assertEquals(await here.list(undefined, "!other:a"), ["m.room.name  $3"]);
  });
}

/** A state event that says when it is looked at. */
function watched(look: () => void, stateKey: string): StoredState {
  const event = member(stateKey, "join");
  return Object.defineProperty(event, "type", {
    get() {
      look();
      return "m.room.member";
    },
  }) as unknown as StoredState;
}

Deno.test("State in memory is sorted only when it is read, and only that of the room that is read", async () => {
  const rooms = new MemoryRoomState();
  let looks = 0;
  const events = Array.from({ length: 1_000 }, (_, number) => watched(() => looks++, `@u${number}:a`));
  rooms.set("!a:a", events);
  rooms.set("!b:a", [watched(() => looks++, "@a:a")]);
  assertEquals(looks, 0);
  assertEquals((await rooms.list("!b:a")).length, 1);
  assert(looks < 1_000);
  assertEquals((await rooms.list("!a:a")).length, 1_000);
});

Deno.test("State in memory that replaces other state does not pile up without reads", () => {
  const rooms = new MemoryRoomState();
  rooms.set(ROOM, Array.from({ length: 100 }, (_, number) => watched(() => {}, `@u${number}:a`)));
  let waiting = 0;
  let most = 0;
  for (let number = 0; number < 1_000; number++) {
    most = Math.max(most, ++waiting);
    let isNew = true;
    const look = () => {
      if (isNew) waiting--;
      isNew = false;
    };
    rooms.set(ROOM, [watched(look, "@a:a")]);
  }
  assert(most <= 101 + 64 + 2, `${most} events wait for a room of 101 pieces`);
});

Deno.test("A piece of state is read from the store once, until it changes, and so is that there is none", async () => {
  const kv = new CountingStore();
  await using here = await stage(kv);
  await here.commit([]);
  const getMany = kv.getMany.bind(kv);
  const reads: string[] = [];
  kv.getMany = (keys) => {
    for (const key of keys) reads.push(key.join(" "));
    return getMany(keys);
  };
  const nameIs = async (name: string | undefined) => {
    for (let times = 0; times < 2; times++) {
      const found = await here.store.getState({ roomId: ROOM, type: "m.room.name", stateKey: "" });
      assertEquals(found?.content.name, name);
    }
    return reads.splice(0).length;
  };
  assertEquals(await nameIs(undefined), 2); // the piece, and the room's pack
  await here.commit([state("m.room.topic", { topic: "t" })]);
  assertEquals(await nameIs(undefined), 0);
  for (const name of ["one", "two"]) {
    await here.commit([state("m.room.name", { name })]);
    assertEquals(await nameIs(name), 1);
  }
});
