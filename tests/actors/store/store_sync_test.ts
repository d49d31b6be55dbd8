import { assertEquals, assertRejects } from "@std/assert";
import { ActorError, StoreError } from "@greenroom/matrix/errors";
import type { RoomID, StoredState } from "@greenroom/matrix/types";
import {
  type CommittedSync,
  type RoomChange,
  spawnStore,
  type SyncChange,
} from "../../../src/actors/store/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { recordingLogger, rejectionOf } from "../kernel/support.ts";
import { member, ROOM, state } from "../support/events.ts";
import { HeldStore } from "../support/held_store.ts";

/** A Store that knows a room, whose commits wait from now on. */
async function stage() {
  const kv = new HeldStore();
  const clock = new TestClock();
  const log = recordingLogger();
  const store = spawnStore({ kv, clock, log });
  await store.open([]);
  await store.commitSync(sync("t0", room({ state: events(member("@a:a", "join")) })));
  await store.handled("t0"); // of the first response that is written at once
  kv.commits.length = 0;
  kv.isHeld = true;
  const answered: string[] = [];
  /** Asks for a commit, and notes when it has been answered. */
  const commit = (change: SyncChange): Promise<CommittedSync> => {
    const committed = store.commitSync(change);
    committed.then(() => answered.push(change.nextBatch), () => answered.push(`no ${change.nextBatch}`));
    return committed;
  };
  const noted = <T>(name: string, asked: Promise<T>): Promise<T> => {
    asked.then(() => answered.push(name), () => {});
    return asked;
  };
  const dispose = async () => {
    kv.free();
    await store.stop();
  };
  return {
    kv,
    log,
    store,
    answered,
    commit,
    noted,
    settle: () => clock.tick(0),
    [Symbol.asyncDispose]: dispose,
  };
}

function sync(nextBatch: string, ...rooms: RoomChange[]): SyncChange {
  return { nextBatch, repeated: false, rooms };
}

function room(more: Partial<RoomChange> = {}): RoomChange {
  return { roomId: ROOM, membership: "join", state: [], complete: false, lossy: false, ...more };
}

function events(...list: object[]): StoredState[] {
  return list as StoredState[];
}

/** The last parts of the keys that each commit has changed. */
const written = ({ commits }: HeldStore) =>
  commits.map((mutations) => mutations.map(({ key }) => key.at(-1)).join(" "));

const tokens = ({ commits }: HeldStore) =>
  commits.map((mutations) =>
    mutations.flatMap((each) => each.type === "set" && each.key.at(-1) === "sync" ? [each.value] : [])
  );

Deno.test("Responses that come while a commit is on its way are committed by one, and answered in order", async () => {
  await using here = await stage();
  for (const token of ["t1", "t2", "t3"]) here.commit(sync(token, room()));
  await here.settle();
  assertEquals([here.kv.waiting, here.answered], [1, []]);
  here.kv.letGo();
  await here.settle();
  assertEquals([here.kv.waiting, here.answered], [1, ["t1"]]);
  here.kv.letGo();
  await here.settle();
  assertEquals(here.answered, ["t1", "t2", "t3"]);
  assertEquals(tokens(here.kv), [[{ nextBatch: "t1", handled: "t0" }], [{ nextBatch: "t3", handled: "t0" }]]);
});

Deno.test("Events that were handled in the meantime are recorded with the next token", async () => {
  await using here = await stage();
  for (const token of ["t1", "t2"]) here.commit(sync(token, room()));
  here.kv.letGo();
  await here.settle();
  await here.store.handled("t1");
  here.kv.letGo();
  await here.settle();
  here.kv.free();
  await here.store.flush();
  assertEquals(tokens(here.kv).at(-1), [{ nextBatch: "t2", handled: "t1" }]);
});

Deno.test("A change of state has a commit of its own, and sees the changes before it", async () => {
  await using here = await stage();
  const leave = room({ membership: "leave", state: events(member("@a:a", "leave")) });
  const first = here.commit(sync("t1", leave));
  const second = here.commit(sync("t2", room({ state: events(member("@a:a", "join")) })));
  const third = here.commit(
    sync("t3", room({ roomId: "!other" as RoomID, state: events(state("m.room.name", {})) })),
  );
  await here.settle();
  for (const count of [1, 2, 3]) {
    assertEquals([here.kv.waiting, here.answered.length], [1, count - 1]);
    here.kv.letGo();
    await here.settle();
  }
  const formers = [await first, await second, await third].map(({ former: [room] }) => room);
  assertEquals(formers.map((room) => [room?.membership, room?.members.get("@a:a")?.content.membership]), [
    ["join", "join"],
    ["leave", "leave"],
    [undefined, undefined],
  ]);
  assertEquals((await here.store.room(ROOM))?.membership, "join");
});

Deno.test("A message in a room that is being changed waits, and finds the room as it is then; in others it does not", async () => {
  await using here = await stage();
  const added = "!new" as RoomID;
  const encryption = events(state("m.room.encryption", { algorithm: "a" }));
  here.commit(sync("t1", room({ roomId: added, state: encryption })));
  for (const token of ["t2", "t3"]) here.commit(sync(token, room()));
  const inside = here.commit(sync("t4", room({ roomId: added })));
  await here.settle();
  for (const answered of [["t1"], ["t1", "t2", "t3"], ["t1", "t2", "t3", "t4"]]) {
    here.kv.letGo();
    await here.settle();
    assertEquals(here.answered, answered);
  }
  const [former] = (await inside).former;
  assertEquals([former?.membership, former?.encrypted], ["join", true]);
});

Deno.test("A read of state or the position during a commit is answered after it", async () => {
  await using here = await stage();
  const name = async () => {
    const known = await here.store.getState({ roomId: ROOM, type: "m.room.name", stateKey: "" });
    return known?.content.token;
  };
  const position = async () => (await here.store.position()).nextBatch;
  for (const [token, ask] of [["t1", name], ["t2", position]] as const) {
    here.answered.length = 0;
    here.commit(sync(token, room({ state: events(state("m.room.name", { token })) })));
    const asked = here.noted<unknown>("asked", ask());
    await here.settle();
    assertEquals(here.answered, []);
    here.kv.letGo();
    await here.settle();
    assertEquals(here.answered, [token, "asked"]);
    assertEquals(await asked, token);
  }
});

Deno.test("What the user was to rooms is said after a commit that changes it", async () => {
  await using here = await stage();
  const left = here.commit(sync("t1", room({ membership: "leave" })));
  const asked = here.noted("asked", here.store.handledMemberships());
  await here.settle();
  assertEquals(here.answered, []);
  here.kv.letGo();
  await left;
  assertEquals(await asked, new Map([[ROOM, "leave"]]));
});

Deno.test("Changes that are deferred during a commit can be read immediately, and go with the next commit", async () => {
  await using here = await stage();
  const read = () => here.store.readRecords([["kept", "a"], ["kept", "b"]]);
  await here.store.deferRecords([{ type: "set", key: ["kept", "a"], value: 1 }]);
  here.commit(sync("t1", room()));
  await here.settle();
  assertEquals(await read(), [1, undefined]); // it is on its way
  await here.store.deferRecords([{ type: "set", key: ["kept", "b"], value: 2 }]);
  assertEquals(await read(), [1, 2]);
  here.commit(sync("t2", room()));
  const flushed = here.noted("flush", here.store.flush());
  await here.settle();
  here.kv.letGo();
  await here.settle();
  assertEquals(here.answered, ["t1"]);
  here.kv.letGo();
  await flushed;
  assertEquals(here.answered, ["t1", "t2", "flush"]);
  assertEquals(written(here.kv), ["sync a", "sync b"]);
});

Deno.test("A commit that fails fails all that waited for it, and nothing that follows from it is written", async () => {
  const here = await stage();
  const failures = ["t1", "t2", "t3"].map((token) => rejectionOf(here.commit(sync(token, room()))));
  await here.settle();
  await here.store.handled("t1");
  here.kv.failure = new StoreError("The disk is full");
  here.kv.letGo();
  const [first] = await Promise.all(failures);
  assertEquals([(first as ActorError).actor, (first as ActorError).cause], ["store", here.kv.failure]);
  assertEquals(here.answered.toSorted(), ["no t1", "no t2", "no t3"]);
  await assertRejects(() => here.store.done, ActorError);
  here.kv.failure = undefined;
  here.kv.free();
  await here.store.stop();
  assertEquals([here.kv.commits, here.log.lines.length], [[], 1]);
});

Deno.test("Responses after one that could not be stored are not stored either, until that one comes again", async () => {
  await using here = await stage();
  here.kv.free();
  const other = room({ roomId: "!unknown" as RoomID });
  here.kv.unreadable = new StoreError("Not now");
  assertEquals(await rejectionOf(here.commit(sync("t1", other))), here.kv.unreadable);
  here.kv.unreadable = undefined;
  const refused = async (token: string, after: string) =>
    await assertRejects(() => here.commit({ ...sync(token), after }), StoreError, "the one before it");
  await refused("t2", "t1");
  await refused("t3", "t2");
  await refused("t1", "t3");
  await here.commit(sync("t1", other));
  await here.commit({ ...sync("t2"), after: "t1" });
  assertEquals((await here.store.position()).nextBatch, "t2");
});

Deno.test("By which event a room became encrypted is said only while that may come again unhandled", async () => {
  await using here = await stage();
  here.kv.free();
  const encryption = state("m.room.encryption", { algorithm: "a" }, { event_id: "$encryption" });
  await here.commit(sync("t1", room({ state: events(encryption) })));
  const before = async (token: string) => (await here.commit(sync(token, room()))).former[0];
  const { encryptedBy, encrypted } = await before("t2") ?? {};
  assertEquals([encrypted, encryptedBy], [true, "$encryption"]);
  await here.store.handled("t2");
  const later = await before("t3");
  assertEquals([later?.encrypted, later?.encryptedBy], [true, undefined]);
});
