import { assertEquals } from "@std/assert";
import { WeighedCache } from "../../src/base/recent_map.ts";

/** What is left under the letters of the alphabet. */
function kept(cache: WeighedCache<string, number>): string {
  return [..."abcdef"].filter((key) => cache.get(key) !== undefined).join("");
}

Deno.test("a weighed cache evicts what was not used for longest as soon as all weighs too much", () => {
  const cache = new WeighedCache<string, number>(10);
  for (const key of "abc") cache.set(key, 1, 3);
  cache.get("a");
  cache.set("d", 1, 4);
  assertEquals(kept(cache), "acd");
  cache.set("e", 1, 10);
  assertEquals(kept(cache), "e");
});

Deno.test("a weighed cache keeps the newest entry, however heavy", () => {
  const cache = new WeighedCache<string, number>(10);
  cache.set("a", 1, 1);
  cache.set("b", 1, 100);
  assertEquals(kept(cache), "b");
  cache.set("c", 1, 1);
  assertEquals(kept(cache), "c");
});

Deno.test("a weighed cache counts a replaced or removed entry once", () => {
  const cache = new WeighedCache<string, number>(10);
  for (let time = 0; time < 20; time++) cache.set("a", time, 5);
  cache.set("b", 1, 5);
  assertEquals(kept(cache), "ab");
  cache.delete("a");
  cache.delete("a");
  cache.set("c", 1, 5);
  assertEquals(kept(cache), "bc");
  cache.clear();
  for (const key of "def") cache.set(key, 1, 3);
  assertEquals(kept(cache), "def");
});

Deno.test("an entry that is set again is the newest", () => {
  const cache = new WeighedCache<string, number>(3);
  for (const key of "abcad") cache.set(key, 1, 1);
  assertEquals(kept(cache), "acd");
});
