import { assertEquals } from "@std/assert";
import { spawnStore } from "../../../src/actors/store/store_actor.ts";
import type { KvMutation } from "../../../src/store/base/kv_store.ts";
import { recordingLogger } from "../kernel/support.ts";
import { CountingStore } from "../support/counting_store.ts";

async function stage() {
  const kv = new CountingStore();
  const store = spawnStore({ kv, log: recordingLogger() });
  await store.ask("open", []);
  await store.ask("commitSync", { nextBatch: "t1", repeated: false, rooms: [] });
  await store.ask("handled", "t1"); // of the first response that is written at once
  await store.ask("commitRecords", [{ type: "set", key: ["kept", "old"], value: 1 }]);
  kv.commits.length = 0;
  return { kv, store, [Symbol.asyncDispose]: () => store.stop() };
}

const changes: KvMutation[] = [
  { type: "set", key: ["kept", "new"], value: 2 },
  { type: "delete", key: ["kept", "old"] },
];

/** The last parts of the keys that each commit has changed. */
const written = (kv: CountingStore) =>
  kv.commits.map((mutations) => mutations.map(({ key }) => key.at(-1)).join(" "));

Deno.test("Deferred changes can be read immediately, and are written with the next commit", async () => {
  await using here = await stage();
  await here.store.ask("deferRecords", changes);
  const values = await here.store.ask("readRecords", [["kept", "old"], ["kept", "new"], ["kept", "other"]]);
  assertEquals([values, written(here.kv)], [[undefined, 2, undefined], []]);
  await here.store.ask("commitSync", { nextBatch: "t2", repeated: false, rooms: [] });
  assertEquals(written(here.kv), ["sync new old"]);
});

Deno.test("Deferred changes are written by a sync response that changes nothing else", async () => {
  await using here = await stage();
  await here.store.ask("deferRecords", changes);
  await here.store.ask("commitSync", { nextBatch: "t1", repeated: false, rooms: [] });
  assertEquals(written(here.kv), ["sync new old"]);
  await here.store.ask("commitSync", { nextBatch: "t1", repeated: false, rooms: [] });
  assertEquals(written(here.kv).length, 1);
});

Deno.test("Deferred changes are written before records are listed, and when asked to", async () => {
  await using here = await stage();
  await here.store.ask("deferRecords", changes);
  assertEquals(await here.store.ask("listRecords", { prefix: ["kept"] }), [{
    key: ["kept", "new"],
    value: 2,
  }]);
  await here.store.ask("deferRecords", [{ type: "set", key: ["kept", "more"], value: 3 }]);
  const [first] = await here.store.ask("listRecords", { prefix: ["kept"], limit: 1 });
  assertEquals(first, { key: ["kept", "more"], value: 3 });
  await here.store.ask("deferRecords", [{ type: "delete", key: ["kept", "more"] }]);
  await here.store.ask("flush", undefined);
  await here.store.ask("flush", undefined);
  assertEquals(written(here.kv), ["sync new old", "more", "more"]);
});

Deno.test("A record that encryption is ahead of the position is stored with its changes, until the position has moved", async () => {
  await using here = await stage();
  const position = async () => (await here.kv.getMany([["sync"]]))[0]?.value;
  await here.store.ask("deferRecords", changes);
  await here.store.ask("commitSync", { nextBatch: "t2", repeated: false, rooms: [] });
  await here.store.ask("handled", "t2");
  await here.store.ask("flush", undefined);
  assertEquals(await position(), { nextBatch: "t2", handled: "t2" }); // all in one commit
  await here.store.ask("deferRecords", changes);
  await here.store.ask("commitRecords", [{ type: "set", key: ["kept", "more"], value: 3 }]);
  assertEquals(await position(), { nextBatch: "t2", handled: "t2", ahead: true });
  await here.store.ask("commitSync", { nextBatch: "t2", repeated: false, rooms: [] });
  await here.store.ask("flush", undefined);
  assertEquals(await position(), { nextBatch: "t2", handled: "t2" });
});
