import { assert, assertEquals, assertFalse } from "@std/assert";
import type { Actor } from "../../../src/actors/kernel/mod.ts";
import {
  type CommittedSync,
  spawnStore,
  type StoreHandlers,
  type SyncChange,
} from "../../../src/actors/store/mod.ts";
import { recordingLogger } from "../kernel/support.ts";
import { CountingStore } from "../support/counting_store.ts";

interface Stage extends AsyncDisposable {
  readonly kv: CountingStore;
  readonly store: Actor<StoreHandlers>;
  /** Commits a response. */
  sync(token: string, options?: { readonly repeated: boolean }): Promise<CommittedSync>;
  /** Commits a response and notes that it has been handled. */
  mark(token: string): Promise<void>;
  settled(): Promise<string[]>;
  note(...names: string[]): Promise<void>;
  attempt(id: string, ended?: string[]): Promise<number>;
  flush(): Promise<void>;
  /** What a process finds that is started when this one is killed. */
  afterKill<T>(look: (next: Stage) => Promise<T>): Promise<T>;
}

async function stage(kv: CountingStore = new CountingStore()): Promise<Stage> {
  const store = spawnStore({ kv, log: recordingLogger() });
  await store.open([]);
  return {
    kv,
    store,
    sync: (token, options) => store.commitSync(sync(token, options)),
    async mark(token) {
      await store.commitSync(sync(token));
      await store.handled(token);
    },
    settled: () => store.settled(),
    note: (...names) => store.noteSettled(names),
    attempt: async (id, ended = []) => (await store.attempt({ id, ended })).lives,
    flush: () => store.flush(),
    async afterKill(look) {
      await using next = await stage(await killed(kv));
      return await look(next);
    },
    [Symbol.asyncDispose]: () => store.stop(),
  };
}

/** What is left of a store when its process is killed now. */
async function killed(kv: CountingStore): Promise<CountingStore> {
  const copy = new CountingStore();
  for await (const { key, value } of kv.list([])) await copy.commit([{ type: "set", key, value }]);
  copy.commits.length = 0;
  return copy;
}

function sync(nextBatch: string, { repeated } = { repeated: false }): SyncChange {
  return { nextBatch, repeated, rooms: [] };
}

Deno.test("Settled deliveries are recorded with the next commit, and need none of their own", async () => {
  await using here = await stage();
  await here.note("$1-a", "$2-a");
  assertEquals(here.kv.commits.length, 0);
  assertEquals(await here.settled(), ["$1-a", "$2-a"]);
  assertEquals(await here.afterKill((next) => next.settled()), []);
  await here.sync("t1");
  assertEquals(here.kv.commits.length, 1);
  assertEquals(await here.afterKill((next) => next.settled()), ["$1-a", "$2-a"]);
});

Deno.test("Settled deliveries are durable after a flush too, and are not written twice", async () => {
  await using here = await stage();
  await here.note("$1-a");
  await here.flush();
  assertEquals(await here.afterKill((next) => next.settled()), ["$1-a"]);
  await here.note("$1-a");
  await here.flush();
  assertEquals(here.kv.commits.length, 1);
});

Deno.test("Sessions are committed together with earlier records, under keys of their own", async () => {
  await using here = await stage();
  await here.note("$1-a");
  const key = ["session", "counter", "!room"];
  await here.store.commitSessions({
    mutations: [{ type: "set", key, value: { count: 1 } }],
    settled: ["$2-a", "$1-a"],
  });
  assertEquals(here.kv.commits.length, 1);
  await here.afterKill(async (next) => {
    assertEquals(await next.store.readRecords([key]), [{ count: 1 }]);
    assertEquals(await next.settled(), ["$1-a", "$2-a"]);
  });
});

Deno.test("Settled deliveries are removed with the second mark after they were recorded, in the store too", async () => {
  await using here = await stage();
  await here.note("$1-a");
  await here.mark("t1");
  assertEquals(await here.settled(), ["$1-a"]);
  await here.note("$2-a");
  await here.mark("t2");
  assertEquals(await here.settled(), ["$2-a"]);
  await here.mark("t3");
  assertEquals(await here.settled(), []);
  assertEquals(await here.afterKill((next) => next.settled()), ["$2-a"]); // its end is not durable yet
  await here.flush();
  assertEquals(await here.afterKill((next) => next.settled()), []);
});

Deno.test("Records of an earlier process are removed with the second mark of the next", async () => {
  await using here = await stage();
  await here.note("$1-a");
  await here.flush();
  await here.afterKill(async (next) => {
    assertEquals(await next.settled(), ["$1-a"]);
    await next.mark("t1");
    assertEquals(await next.settled(), ["$1-a"]);
    await next.mark("t2");
    assertEquals(await next.settled(), []);
  });
});

Deno.test("A token that is not news forgets nothing", async () => {
  await using here = await stage();
  await here.note("$1-a");
  await here.attempt("$1");
  await here.mark("t1");
  await here.attempt("$2");
  for (const token of ["t1", "t0"]) await here.store.handled(token);
  assertEquals(await here.settled(), ["$1-a"]);
  assertEquals(await here.attempt("$2"), 1);
});

Deno.test("At most 10,000 deliveries are remembered, the latest ones", async () => {
  await using here = await stage();
  const names = Array.from({ length: 10_050 }, (_, index) => `$${index}-a`);
  await here.note(...names.slice(0, 9_990));
  await here.flush();
  await here.note(...names.slice(9_990));
  assertEquals(await here.settled(), names.slice(50));
  await here.flush();
  const kept = await here.afterKill((next) => next.settled());
  assertEquals(kept.toSorted(), names.slice(50).toSorted());
});

Deno.test("An attempt is durable before it is begun, and counts the processes that did not end it", async () => {
  await using here = await stage();
  assertEquals(await here.attempt("$1"), 0);
  assertEquals(here.kv.commits.length, 1);
  await here.afterKill(async (second) => {
    assertEquals(await second.attempt("$1"), 1);
    await second.afterKill(async (third) => {
      assertEquals(await third.attempt("$0"), 0); // another is counted by itself
      assertEquals(await third.attempt("$1"), 2);
    });
  });
});

Deno.test("An attempt at the limit is not noted: what ended three lives soon is not to be begun", async () => {
  await using here = await stage();
  for (const before of [0, 1, 2]) assertEquals(await here.attempt("$1"), before);
  const commits = here.kv.commits.length;
  assertEquals([await here.attempt("$1"), await here.attempt("$1")], [3, 3]);
  assertEquals(here.kv.commits.length, commits);
});

Deno.test("Events that have settled do not count from the next attempt on", async () => {
  await using here = await stage();
  await here.attempt("$1");
  await here.attempt("$2", ["$1"]);
  await here.afterKill(async (next) => {
    assertEquals([await next.attempt("$1"), await next.attempt("$2")], [0, 1]);
  });
});

Deno.test("Attempts are forgotten with the next mark, in the store too", async () => {
  await using here = await stage();
  await here.attempt("$1");
  await here.mark("t1");
  await here.flush();
  const kinds = here.kv.commits.flat().map(({ type, key }) => `${type} ${key.join(" ")}`);
  assert(kinds.includes("delete attempts"));
  assertEquals(await here.afterKill((next) => next.attempt("$1")), 0);
  const commits = here.kv.commits.length;
  await here.mark("t2");
  await here.flush();
  const later = here.kv.commits.slice(commits).flat();
  assertFalse(later.some(({ key }) => key[0] === "attempts"));
});

Deno.test("An event whose ID is the name of a member of objects is counted as any other", async () => {
  await using here = await stage();
  for (const id of ["__proto__", "constructor", "toString"]) {
    assertEquals([await here.attempt(id), await here.attempt(id)], [0, 1], id);
    assertEquals(await here.afterKill((next) => next.attempt(id)), 2, id);
  }
});

Deno.test("A repeated response counts one crash more, once a process, until something is handled", async () => {
  await using here = await stage();
  const first = async (token: string): Promise<number> => (await here.sync(token)).crashes;
  const again = async (token: string): Promise<number> =>
    (await here.sync(token, { repeated: true })).crashes;
  assertEquals([await first("t1"), await again("t1"), await again("t1")], [0, 1, 1]);
  assertEquals(await here.afterKill((next) => next.sync("t1", { repeated: true })), {
    former: [],
    crashes: 2,
  });
  assertEquals(await first("t2"), 0); // if it causes the crash, the next process gets it again
  await here.store.handled("t1");
  assertEquals(await first("t3"), 0);
});
