import { assert, assertEquals } from "@std/assert";
import { RecentMap, RecentSet } from "../../src/base/recent_map.ts";

/** The values from the oldest to the newest, which are removed. */
function drain(map: RecentMap<string, number>): number[] {
  const values: number[] = [];
  while (map.size > 0) values.push(map.removeOldest() ?? NaN);
  return values;
}

Deno.test("RecentMap removes the entry first that was not used for longest", () => {
  const map = new RecentMap<string, number>();
  for (const [index, key] of [..."abcd"].entries()) map.set(key, index);
  assertEquals([map.get("a"), map.get("c"), map.get("x")], [0, 2, undefined]);
  map.set("b", 10);
  assertEquals(map.size, 4);
  assertEquals(drain(map), [3, 0, 2, 10]);
  assertEquals(map.removeOldest(), undefined);
});

Deno.test("RecentMap.remove() takes an entry out wherever it is, and returns its value", () => {
  for (const removed of "abc") {
    const map = new RecentMap<string, number>();
    for (const [index, key] of [..."abc"].entries()) map.set(key, index);
    assertEquals(map.remove(removed), "abc".indexOf(removed));
    assertEquals([map.remove(removed), map.get(removed), map.size], [undefined, undefined, 2]);
    assertEquals(drain(map), [0, 1, 2].filter((index) => "abc"[index] !== removed));
  }
});

Deno.test("RecentMap.clear() leaves an empty map that can be used", () => {
  const map = new RecentMap<string, number>();
  for (const key of "ab") map.set(key, 1);
  map.clear();
  assertEquals([map.size, map.get("a"), map.removeOldest()], [0, undefined, undefined]);
  map.set("c", 3);
  assertEquals(drain(map), [3]);
});

Deno.test("RecentMap with a capacity forgets the oldest entry for one more, and none for a new value", () => {
  const map = new RecentMap<string, number>(2);
  for (const [index, key] of [..."abab"].entries()) map.set(key, index);
  assertEquals(map.size, 2);
  assertEquals(map.get("a"), 2);
  map.set("c", 4);
  assertEquals([map.get("b"), map.size], [undefined, 2]);
  assertEquals(drain(map), [2, 4]);
});

Deno.test("RecentSet keeps the values that were added or looked for last", () => {
  const set = new RecentSet<string>(2);
  set.add("a");
  set.add("b");
  assert(set.has("a"));
  set.add("c");
  assertEquals(["a", "b", "c"].map((value) => set.has(value)), [true, false, true]);
});
