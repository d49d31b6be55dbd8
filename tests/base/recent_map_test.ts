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

/** What is left under the letters of the alphabet. */
function kept(map: RecentMap<string, number>): string {
  return [..."abcdef"].filter((key) => map.get(key) !== undefined).join("");
}

Deno.test("RecentMap with weights removes what was not used for longest as soon as all weighs too much", () => {
  const map = new RecentMap<string, number>(10);
  for (const key of "abc") map.set(key, 1, 3);
  map.get("a");
  map.set("d", 1, 4);
  assertEquals(kept(map), "acd");
  map.set("e", 1, 10);
  assertEquals(kept(map), "e");
});

Deno.test("RecentMap with weights keeps the newest entry, however heavy", () => {
  const map = new RecentMap<string, number>(10);
  map.set("a", 1, 1);
  map.set("b", 1, 100);
  assertEquals(kept(map), "b");
  map.set("c", 1, 1);
  assertEquals(kept(map), "c");
});

Deno.test("RecentMap with weights counts a replaced or removed entry once", () => {
  const map = new RecentMap<string, number>(10);
  for (let time = 0; time < 20; time++) map.set("a", time, 5);
  map.set("b", 1, 5);
  assertEquals(kept(map), "ab");
  map.remove("a");
  map.remove("a");
  map.set("c", 1, 5);
  assertEquals(kept(map), "bc");
  map.clear();
  for (const key of "def") map.set(key, 1, 3);
  assertEquals(kept(map), "def");
});

Deno.test("RecentMap: an entry that is set again is the newest", () => {
  const map = new RecentMap<string, number>(3);
  for (const key of "abcad") map.set(key, 1);
  assertEquals(kept(map), "acd");
});
