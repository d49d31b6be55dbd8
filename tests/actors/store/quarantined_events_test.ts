import { assert, assertEquals, assertFalse } from "@std/assert";
import { type QuarantineRecord, spawnStore } from "../../../src/actors/store/mod.ts";
import { recordingLogger } from "../kernel/support.ts";
import { CountingStore } from "../support/counting_store.ts";

async function stage(kv = new CountingStore()) {
  const store = spawnStore({ kv, log: recordingLogger() });
  await store.open([]);
  return {
    kv,
    store,
    list: () => store.quarantined(),
    ids: async () => (await store.quarantined()).map(({ id }) => id),
    add: async (record: QuarantineRecord) => (await store.quarantine(record)).map(({ id }) => id),
    /** What a process finds that is started when this one is killed. */
    next: () => stage(kv),
    [Symbol.asyncDispose]: () => store.stop(),
  };
}

function record(id: string, { tries = 0, text = "bad" } = {}): QuarantineRecord {
  const data = { type: "m.room.message", event_id: id, content: { body: text } } as never;
  return { id, data, settled: [], attempts: 3, tries, since: 1, waitsFrom: 1, isTrying: false };
}

Deno.test("A quarantined event is durable immediately, and in order after a restart, whatever its ID", async () => {
  await using here = await stage();
  const ids = ["$b", "$a", `$${"long".repeat(2_000)}`, "__proto__"];
  for (const id of ids) assertEquals(await here.add(record(id)), []);
  await using next = await here.next();
  assertEquals(await next.ids(), ids);
  await next.add(record("$c"));
  await using last = await next.next();
  assertEquals(await last.ids(), [...ids, "$c"]);
  assertEquals((await last.list())[0], record("$b"));
});

Deno.test("A hundred are kept; one too many has that go which was tried most often, but not what is being tried", async () => {
  await using here = await stage();
  for (let index = 0; index < 100; index++) {
    await here.add(record(`$${index}`, { tries: index === 7 ? 3 : 1 }));
  }
  assertEquals(await here.add(record("$new")), ["$7"]);
  await here.store.retryQuarantined({ id: "$0", at: 5 });
  assertEquals(await here.add(record("$newer")), ["$1"]);
  await using next = await here.next();
  const ids = await next.ids();
  assertEquals([ids.length, ids.includes("$0"), ids.includes("$newer")], [100, true, true]);
});

Deno.test("Four mebibytes are kept; what is too large by itself is not kept, and nothing goes for it", async () => {
  await using here = await stage();
  const text = "x".repeat(1_000_000);
  for (const id of ["$1", "$2", "$3", "$4"]) assertEquals(await here.add(record(id, { text })), []);
  assertEquals(await here.add(record("$huge", { text: text.repeat(5) })), ["$huge"]);
  assertEquals(await here.add(record("$5", { text })), ["$1"]);
  await using next = await here.next();
  assertEquals(await next.ids(), ["$2", "$3", "$4", "$5"]);
});

Deno.test("A try is durable before it is begun, and taken back if the process ends by itself", async () => {
  await using here = await stage();
  await here.add(record("$1"));
  const tried = await here.store.retryQuarantined({ id: "$1", at: 50 });
  assertEquals(tried, { ...record("$1"), isTrying: true, tries: 1, attempts: 4, waitsFrom: 50 });
  await using killed = await stage(await copy(here.kv));
  assertEquals(await killed.list(), tried && [tried]);
  await here.store.noteSettled(["$1-a"]);
  await here.store.ending({ isEnding: true });
  await using closed = await stage(await copy(here.kv));
  assertEquals(await closed.list(), [{ ...record("$1"), settled: ["$1-a"] }]);
  assertEquals(await closed.store.retryQuarantined({ id: "$2", at: 50 }), undefined);
});

Deno.test("Settled deliveries of quarantined events stay recorded, whatever is marked", async () => {
  await using here = await stage();
  await here.store.noteSettled(["$1-a", "$12-a"]);
  await here.add(record("$1"));
  await here.store.commitSessions({ mutations: [], settled: ["$1-b"] });
  for (const token of ["t1", "t2", "t3"]) {
    await here.store.commitSync({ nextBatch: token, repeated: false, rooms: [] });
    await here.store.handled(token);
  }
  await here.store.flush();
  await using next = await here.next();
  assertEquals(await next.store.settled(), []);
  assertEquals((await next.list())[0]?.settled, ["$1-a", "$1-b"]);
});

Deno.test("release() removes one, and records its deliveries, in one commit", async () => {
  await using here = await stage();
  await here.add(record("$1"));
  const before = here.kv.commits.length;
  assert(await here.store.release({ id: "$1", settled: ["$1-a"] }));
  assertEquals(here.kv.commits.length, before + 1);
  assertFalse(await here.store.release({ id: "$1", settled: [] }));
  await using next = await here.next();
  assertEquals([await next.ids(), await next.store.settled()], [[], ["$1-a"]]);
});

Deno.test("A quarantined event is not tried while its response may come again, also if it was released", async () => {
  await using here = await stage();
  const verdict = async (id: string) => (await here.store.attempt({ id, ended: [] })).verdict;
  await here.add(record("$1"));
  assertEquals([await verdict("$1"), await verdict("$2")], ["out", "begin"]);
  await here.store.release({ id: "$1", settled: [] });
  assertEquals(await verdict("$1"), "out");
  await here.store.commitSync({ nextBatch: "t", repeated: false, rooms: [] });
  await here.store.handled("t");
  assertEquals(await verdict("$1"), "begin"); // it is another that has its ID
});

Deno.test("A life that ends by itself counts neither for what it has begun, nor for what it begins until then", async () => {
  await using here = await stage();
  const attempt = (id: string) => here.store.attempt({ id, ended: [] });
  for (let life = 0; life < 5; life++) {
    assertEquals((await attempt("$1")).lives, 0);
    await here.store.ending({ isEnding: true });
    assertEquals((await attempt("$1")).lives, 0);
    await here.store.ending({ isEnding: false });
  }
  await attempt("$1");
  await using killed = await stage(await copy(here.kv));
  assertEquals((await killed.store.attempt({ id: "$1", ended: [] })).lives, 1);
});

Deno.test("A process that ends by itself does not count as one that was ended while a response was handled", async () => {
  await using here = await stage();
  const crashes = async (kv: CountingStore) => {
    await using next = await stage(kv);
    return (await next.store.commitSync({ nextBatch: "t", repeated: true, rooms: [] })).crashes;
  };
  const repeated = { nextBatch: "t", repeated: true, rooms: [] };
  assertEquals((await here.store.commitSync(repeated)).crashes, 1);
  assertEquals(await crashes(await copy(here.kv)), 2);
  await here.store.ending({ isEnding: true });
  assertEquals(await crashes(await copy(here.kv)), 1);
  assert(here.kv.commits.length > 0);
});

/** What is left of a store when its process is killed now. */
async function copy(kv: CountingStore): Promise<CountingStore> {
  const left = new CountingStore();
  for await (const { key, value } of kv.list([])) await left.commit([{ type: "set", key, value }]);
  return left;
}
