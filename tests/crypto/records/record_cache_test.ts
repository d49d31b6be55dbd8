import { assert, assertEquals } from "@std/assert";
import { RecordCache } from "../../../src/crypto/records/record_cache.ts";

const ids = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `record ${from + index}`);

Deno.test("a record cache knows what was set last, and that there is nothing under a key", () => {
  const cache = new RecordCache(10);
  assertEquals(cache.get("a"), undefined);
  cache.set("a", 1);
  cache.set("a", 2);
  cache.set("b", undefined);
  assertEquals(cache.get("a"), { value: 2 });
  assertEquals(cache.get("b"), { value: undefined });
  cache.clear();
  assertEquals(cache.get("a"), undefined);
});

Deno.test("a record cache never gives what was set before, however many others come between", () => {
  const cache = new RecordCache(10);
  for (let between = 0; between < 12; between++) {
    cache.set("a", "before");
    for (const id of ids(0, between)) cache.set(id, id);
    cache.set("a", "after");
    for (const id of ids(20, 20 + between)) cache.set(id, id);
    const found = cache.get("a");
    assert(found === undefined || found.value === "after", `${between} others`);
  }
});

Deno.test("a record cache keeps the last half of as many as it may, and never more than it may", () => {
  for (let count = 100; count < 260; count += 7) {
    const cache = new RecordCache(100);
    const all = ids(0, count);
    for (const id of all) cache.set(id, id);
    let kept = 0;
    for (const id of all.toReversed()) {
      if (cache.get(id) === undefined) break;
      kept++;
    }
    assert(kept >= 50 && kept <= 100, `${kept} of ${count}`);
  }
});

Deno.test("a record that is used again and again stays, however many others come", () => {
  const cache = new RecordCache(100);
  cache.set("used", 1);
  for (const id of ids(0, 1_000)) {
    cache.set(id, id);
    assertEquals(cache.get("used"), { value: 1 });
  }
});
