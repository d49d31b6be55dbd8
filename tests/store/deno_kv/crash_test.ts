import { assert, assertEquals, assertFalse } from "@std/assert";
import { KvStore } from "@greenroom/matrix/store/kv";
import type { StoreCheck, StoreKey, StoreMutation } from "@greenroom/matrix";
import { Crash, CrashingWatch, recordCounts, watchedKv } from "../support/watched_kv.ts";

const MANY = 1_100; // two commits

const key = (index: number): StoreKey => ["many", String(index).padStart(4, "0")];
const large = (fill: number) => new Uint8Array(100_000).fill(fill);

/** Small changes, a large value and its replacement, and a removal. */
function changes(round: number): StoreMutation[] {
  return [
    ...Array.from(
      { length: MANY },
      (_, index): StoreMutation => ({ type: "set", key: key(index), value: round }),
    ),
    { type: "set", key: ["large"], value: large(round) },
    { type: "set", key: ["other", String(round)], value: large(round) },
    { type: "delete", key: ["other", String(round - 1)] },
  ];
}

/** The round that the store is in; fails if it is between two. */
async function roundOf(store: KvStore): Promise<number> {
  const [entry] = await store.getMany([["large"]]);
  const round = (entry?.value as Uint8Array)[0] ?? -1; // changes() wrote it
  assertEquals(entry?.value, large(round));
  const entries = await Array.fromAsync(store.list(["many"]));
  assertEquals(entries.length, MANY);
  assertEquals(new Set(entries.map(({ value }) => value)), new Set([round]));
  assertEquals((await Array.fromAsync(store.list(["other"]))).map(({ key }) => key), [[
    "other",
    String(round),
  ]]);
  return round;
}

/** What is there when nothing is left over: two large values of two parts each. */
const TIDY = { value: MANY + 2, part: 4, parts: 2, journal: 1 };

async function prepared(): Promise<Deno.Kv> {
  const kv = await Deno.openKv(":memory:");
  const store = await KvStore.over(watchedKv(kv, {}));
  await store.commit(changes(1));
  return kv;
}

/** Runs until the crash; whether there was one. */
async function crashes(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    return false;
  } catch (error) {
    if (error instanceof Crash) return true;
    throw error;
  }
}

const MOMENTS = ["before", "after"] as const;

for (const when of MOMENTS) {
  Deno.test(`KvStore keeps a large commit whole when the process dies ${when} any of its commits`, async () => {
    const outcomes: number[] = [];
    for (let at = 1;; at++) {
      using kv = await prepared();
      const watch = new CrashingWatch(at, when);
      const store = await KvStore.over(watchedKv(kv, {}));
      const bystander = await KvStore.over(watchedKv(kv, {}));
      const dying = await KvStore.over(watchedKv(kv, watch));
      assertEquals(watch.commits, 0); // opening what is tidy writes nothing
      const crashed = await crashes(() => dying.commit(changes(2)));

      // One who had it open all the time sees it whole, and so does one who opens it now.
      const round = await roundOf(bystander);
      const opened = await KvStore.over(watchedKv(kv, {}));
      assertEquals(await roundOf(opened), round);
      assertEquals(await recordCounts(kv), TIDY);
      assert(await opened.commit([{ type: "set", key: ["more"], value: 1 }]));
      assert(await store.commit(changes(round + 1)));
      assertEquals(await roundOf(bystander), round + 1);
      if (!crashed) {
        assertEquals(round, 2);
        break;
      }
      outcomes.push(round);
    }
    // From one commit on it counts.
    assertEquals(outcomes, outcomes.toSorted());
    assertEquals(new Set(outcomes), new Set([1, 2]));
    assert(outcomes.length >= 7, `${outcomes.length} commits`);
  });
}

Deno.test("KvStore keeps a large commit whole when the process dies again while it puts things right", async () => {
  for (let at = 1, crashed = true; crashed; at++) {
    let rounds: number | undefined;
    for (let again = 1, recovering = true; recovering; again++) {
      using kv = await prepared();
      const dying = await KvStore.over(watchedKv(kv, new CrashingWatch(at, "after")));
      crashed = await crashes(() => dying.commit(changes(2)));
      const watch = new CrashingWatch(again, again % 2 === 0 ? "before" : "after");
      recovering = await crashes(() => KvStore.over(watchedKv(kv, watch)));
      const round = await roundOf(await KvStore.over(watchedKv(kv, {})));
      assertEquals(round, rounds ?? round);
      rounds = round;
      assertEquals(await recordCounts(kv), TIDY);
    }
  }
});

Deno.test("KvStore leaves no lock behind when the process dies while it reads many checks", async () => {
  const checks = Array.from(
    { length: 150 },
    (_, index): StoreCheck => ({ key: ["none", String(index)], versionstamp: null }),
  );
  const outcomes: number[] = [];
  for (let at = 1;; at++) {
    using kv = await prepared();
    const bystander = await KvStore.over(watchedKv(kv, {}));
    const dying = await KvStore.over(watchedKv(kv, new CrashingWatch(at, "after")));
    const crashed = await crashes(() => dying.commit(changes(2), checks));
    outcomes.push(await roundOf(bystander));
    assert(await bystander.commit([{ type: "set", key: ["none", "7"], value: 1 }]));
    assertFalse(await bystander.commit(changes(3), checks));
    const opened = await KvStore.over(watchedKv(kv, {}));
    assertEquals(await roundOf(opened), outcomes.at(-1));
    assertEquals((await recordCounts(kv)).staged, undefined);
    if (!crashed) break;
  }
  assertEquals(outcomes, outcomes.toSorted());
  assertEquals(new Set(outcomes), new Set([1, 2]));
});
