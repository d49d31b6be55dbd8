import { assertEquals } from "@std/assert";
import { spawnStore } from "../../../src/actors/store/mod.ts";
import type { StoreMutation } from "@greenroom/matrix";
import { recordingLogger } from "../kernel/support.ts";
import { CountingStore } from "../support/counting_store.ts";

async function stage() {
  const kv = new CountingStore();
  const store = spawnStore({ kv, log: recordingLogger() });
  await store.open([]);
  await store.commitSync({ nextBatch: "t1", repeated: false, rooms: [] });
  await store.handled("t1"); // of the first response that is written at once
  await store.commitRecords([{ type: "set", key: ["kept", "old"], value: 1 }]);
  kv.commits.length = 0;
  return { kv, store, [Symbol.asyncDispose]: () => store.stop() };
}

const changes: StoreMutation[] = [
  { type: "set", key: ["kept", "new"], value: 2 },
  { type: "delete", key: ["kept", "old"] },
];

/** The last parts of the keys that each commit has changed. */
const written = (kv: CountingStore) =>
  kv.commits.map((mutations) => mutations.map(({ key }) => key.at(-1)).join(" "));

Deno.test("Deferred changes can be read immediately, and are written with the next commit", async () => {
  await using here = await stage();
  await here.store.deferRecords(changes);
  const values = await here.store.readRecords([["kept", "old"], ["kept", "new"], ["kept", "other"]]);
  assertEquals([values, written(here.kv)], [[undefined, 2, undefined], []]);
  await here.store.commitSync({ nextBatch: "t2", repeated: false, rooms: [] });
  assertEquals(written(here.kv), ["sync new old"]);
});

Deno.test("Deferred changes are written by a sync response that changes nothing else", async () => {
  await using here = await stage();
  await here.store.deferRecords(changes);
  await here.store.commitSync({ nextBatch: "t1", repeated: false, rooms: [] });
  assertEquals(written(here.kv), ["sync new old"]);
  await here.store.commitSync({ nextBatch: "t1", repeated: false, rooms: [] });
  assertEquals(written(here.kv).length, 1);
});

Deno.test("Deferred changes are written before records are listed, and when asked to", async () => {
  await using here = await stage();
  await here.store.deferRecords(changes);
  assertEquals(await here.store.listRecords({ prefix: ["kept"] }), [{
    key: ["kept", "new"],
    value: 2,
  }]);
  await here.store.deferRecords([{ type: "set", key: ["kept", "more"], value: 3 }]);
  const [first] = await here.store.listRecords({ prefix: ["kept"], limit: 1 });
  assertEquals(first, { key: ["kept", "more"], value: 3 });
  await here.store.deferRecords([{ type: "delete", key: ["kept", "more"] }]);
  await here.store.flush();
  await here.store.flush();
  assertEquals(written(here.kv), ["sync new old", "more", "more"]);
});

Deno.test("A record that encryption is ahead of the position is stored with its changes, until the position has moved", async () => {
  await using here = await stage();
  const position = async () => (await here.kv.getMany([["sync"]]))[0]?.value;
  await here.store.deferRecords(changes);
  await here.store.commitSync({ nextBatch: "t2", repeated: false, rooms: [] });
  await here.store.handled("t2");
  await here.store.flush();
  assertEquals(await position(), { nextBatch: "t2", handled: "t2" }); // all in one commit
  await here.store.deferRecords(changes);
  await here.store.commitRecords([{ type: "set", key: ["kept", "more"], value: 3 }]);
  assertEquals(await position(), { nextBatch: "t2", handled: "t2", ahead: true });
  await here.store.commitSync({ nextBatch: "t2", repeated: false, rooms: [] });
  await here.store.flush();
  assertEquals(await position(), { nextBatch: "t2", handled: "t2" });
});

Deno.test("Records that are committed during a commit share the next one, and are read immediately", async () => {
  await using here = await stage();
  const gate = Promise.withResolvers<void>();
  const commit = here.kv.commit.bind(here.kv);
  here.kv.commit = (...of) => gate.promise.then(() => commit(...of));
  const put = (name: string, value: number) =>
    here.store.commitRecords([{ type: "set", key: ["kept", name], value }]);
  const first = put("a", 1);
  assertEquals(await here.store.readRecords([["kept", "a"]]), [1]);
  const others = [put("b", 2), put("c", 3), put("b", 4)];
  assertEquals(await here.store.readRecords([["kept", "a"], ["kept", "b"]]), [1, 4]);
  gate.resolve();
  await Promise.all([first, ...others]);
  assertEquals(written(here.kv), ["a", "b c"]);
  assertEquals(await here.store.readRecords([["kept", "b"]]), [4]);
});

Deno.test("A read that comes during a commit shows it, however long the read takes", async () => {
  await using here = await stage();
  const [reads, commits] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const begun = Promise.withResolvers<void>();
  const { kv } = here;
  const [commit, getMany] = [kv.commit.bind(kv), kv.getMany.bind(kv)];
  kv.commit = (...of) => commits.promise.then(() => commit(...of));
  kv.getMany = async (keys) => {
    const found = await getMany(keys);
    begun.resolve();
    await reads.promise;
    return found;
  };
  const committed = here.store.commitRecords([{ type: "set", key: ["kept", "old"], value: 2 }]);
  const read = here.store.readRecords([["kept", "old"]]);
  await begun.promise; // what was there before has been read
  commits.resolve();
  await committed;
  reads.resolve();
  assertEquals(await read, [2]);
});
