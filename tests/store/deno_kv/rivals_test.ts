import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { KvStore } from "@greenroom/matrix/store/kv";
import { PausingWatch } from "../support/pausing_watch.ts";
import { Crash, CrashingWatch, type KvWatch, recordCounts, watchedKv } from "../support/watched_kv.ts";
import { large, many, set, valueOf } from "../support/records.ts";

for (let at = 1; at <= 8; at++) {
  Deno.test(`KvStore keeps to what others do while its large commit stands still before its commit ${at}`, async () => {
    using kv = await Deno.openKv(":memory:");
    const watch = new PausingWatch();
    const slow = await KvStore.over(watchedKv(kv, watch));
    await slow.commit(many("old"));
    const bystander = await KvStore.over(watchedKv(kv, {}));
    watch.start(at);
    const commit = slow.commit([...many("slow"), set(["large"], large(7))]);
    const paused = await Promise.race([watch.reached.then(() => true), commit.then(() => false)]);
    assert(await bystander.commit([set(["many", "3"], "bystander")]));
    // Opening puts right what does not count, and carries out what does; what is newer is not to be
    // overwritten.
    const quick = await KvStore.over(watchedKv(kv, {}));
    const counts = await valueOf(quick, ["many", "1"]) === "slow";
    assert(await quick.commit([set(["many", "1"], "quick")]));
    watch.go();
    assert(await commit);
    assertEquals(await valueOf(slow, ["many", "1"]), counts ? "quick" : "slow");
    assertEquals(await valueOf(slow, ["many", "3"]), counts ? "bystander" : "slow");
    assertEquals(await valueOf(slow, ["many", "2"]), "slow");
    assertEquals(await valueOf(quick, ["large"]), large(7));
    assertEquals(await recordCounts(kv), { value: 1_101, part: 2, parts: 1, journal: 1 });
    if (at <= 3) assert(paused);
  });
}

Deno.test("KvStore keeps the order of commits side by side after another's large commit", async () => {
  using kv = await Deno.openKv(":memory:");
  const [store, other] = [
    await KvStore.over(watchedKv(kv, {})),
    await KvStore.over(watchedKv(kv, {})),
  ];
  for (let round = 0; round < 5; round++) {
    await other.commit(many(round));
    const commits = Array.from({ length: 20 }, (_, index) => store.commit([set(["last"], index)]));
    assertEquals(await Promise.all(commits), commits.map(() => true));
    assertEquals(await valueOf(store, ["last"]), 19);
  }
});

Deno.test("KvStore leaves nothing of a large commit that was refused", async () => {
  using kv = await Deno.openKv(":memory:");
  const store = await KvStore.over(watchedKv(kv, {}));
  await store.commit([set(["a"], 1)]);
  const checks = (count: number) =>
    Array.from(
      { length: count },
      (_, index) => ({ key: [index === 0 ? "a" : `none${index}`], versionstamp: null }),
    );
  for (const count of [1, 98, 99, 300]) {
    assertFalse(await store.commit([...many("new"), set(["large"], large(1))], checks(count)));
    const { journal, ...counts } = await recordCounts(kv);
    assert(journal === undefined || count > 98);
    assertEquals(counts, { value: 1 });
  }
});

Deno.test("KvStore does not discard what has come to count after it was seen", async () => {
  using kv = await Deno.openKv(":memory:");
  const [pausing, crashing, opening] = [
    new PausingWatch(),
    new CrashingWatch(5, "before"), // the first notes the format
    new PausingWatch(),
  ];
  const slow = await KvStore.over(watchedKv(watchedKv(kv, crashing), pausing));
  pausing.start(3); // with the third commit, it counts
  opening.start(1);
  const commit = slow.commit(many("new"));
  await pausing.reached;
  const opened = KvStore.over(watchedKv(kv, opening));
  await opening.reached;
  pausing.go();
  await assertRejects(() => commit, Crash);
  opening.go();
  assertEquals(await valueOf(await opened, ["many", "1099"]), "new");
  assertEquals(await recordCounts(kv), { value: 1_100, journal: 1 });
});

Deno.test("KvStore does not take parts for left over while another store carries out a commit", async () => {
  for (let at = 1; at <= 6; at++) {
    using kv = await Deno.openKv(":memory:");
    const slow = await KvStore.over(watchedKv(kv, {}));
    const [pausing, writer] = [new PausingWatch(), await KvStore.over(watchedKv(kv, {}))];
    await slow.commit([set(["a"], large(1)), set(["b"], large(1))]);
    await writer.commit([set(["a"], 1)]); // it does not know the parts, and leaves them behind
    pausing.start(at);
    const opening = KvStore.over(watchedKv(kv, pausing));
    await Promise.race([pausing.reached, opening]);
    await writer.commit([...many("new"), set(["b"], large(2, 2 ** 20)), set(["c"], large(3, 2 ** 20))]);
    pausing.go();
    assertEquals(await valueOf(await opening, ["b"]), large(2, 2 ** 20));
    assertEquals(await valueOf(writer, ["c"]), large(3, 2 ** 20));
  }
});

Deno.test("KvStore does not list half a commit that another store begins to carry out meanwhile", async () => {
  using kv = await Deno.openKv(":memory:");
  const pausing = new PausingWatch();
  const writer = await KvStore.over(watchedKv(kv, pausing));
  await writer.commit(many("old"));
  let commit: Promise<boolean> | undefined;
  const beforeStep = async () => {
    if (commit !== undefined) return;
    pausing.start(5); // the first half is carried out then
    commit = writer.commit(many("new"));
    await pausing.reached;
  };
  const watch: KvWatch = {};
  const reader = await KvStore.over(watchedKv(kv, watch));
  watch.beforeStep = beforeStep;
  const entries = await Array.fromAsync(reader.list(["many"]));
  assertEquals([...new Set(entries.map(({ value }) => value))], ["new"]);
  assertEquals(entries.length, 1_100);
  pausing.go();
  assert(await commit);
});

Deno.test("KvStore reads a large value again that is replaced while its parts are read", async () => {
  for (const value of [large(2), "small", undefined]) {
    using kv = await Deno.openKv(":memory:");
    const writer = await KvStore.over(watchedKv(kv, {}));
    await writer.commit([set(["a"], large(1)), set(["b"], 1)]);
    const replace = { type: "delete", key: ["a"] } as const;
    let replaced = false;
    const beforeMany = async (keys: Deno.KvKey[]) => {
      if (replaced || !keys.some((key) => key[1] === "part")) return;
      replaced = true;
      await writer.commit([value === undefined ? replace : set(["a"], value)]);
    };
    const reader = await KvStore.over(watchedKv(kv, { beforeMany }));
    const entries = await Array.fromAsync(reader.list([]));
    assertEquals(entries.map(({ value }) => value), value === undefined ? [1] : [value, 1]);
    assertEquals(await valueOf(reader, ["a"]), value);
  }
});
