import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { keyBytes, logicalKey, partKey, valueKey } from "../../../src/store/deno_kv/database.ts";
import { compareKeys } from "../support/compare_keys.ts";

const unit = fc.constantFrom(
  "\0",
  "a",
  "é",
  "\uD7FF",
  "\uD800",
  "\uDC00",
  "\uDFFF",
  "\uE000",
  "\uE001",
  "\u07FF",
  "\uFFFF",
  "😀",
);
const key = fc.array(fc.array(unit, { maxLength: 4 }).map((units) => units.join("")), { maxLength: 3 });

const strings = (physical: Deno.KvKey) => physical.map(String);

Deno.test("valueKey() keeps each key, and the order of two, in text that UTF-8 can carry", () => {
  fc.assert(
    fc.property(key, key, (first, second) => {
      const [one, two] = [valueKey(first), valueKey(second)];
      assertEquals(logicalKey(one), first);
      assert(strings(one).every((part) => part.isWellFormed()));
      assertEquals(Math.sign(compareKeys(strings(one), strings(two))), Math.sign(compareKeys(first, second)));
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("valueKey() leaves usual parts as they are", () => {
  assertEquals(valueKey(["state", "!room:a", "", "😀"]), [
    "greenroom",
    "value",
    "state",
    "!room:a",
    "",
    "😀",
  ]);
});

Deno.test("keyBytes() is what Deno KV takes for the size of a key", async () => {
  using kv = await Deno.openKv(":memory:");
  const fits = async (physical: Deno.KvKey) => await kv.set(physical, 1).then(() => true, () => false);
  for (const part of ["", "a", "\0", "é", "€", "😀", "\0é😀"]) {
    for (const rest of [[], ["b", "\0"], [7]]) {
      const physical = [part, ...rest];
      const filler = "x".repeat(2048 - 2 - keyBytes(physical));
      assert(await fits([...physical, filler]), part);
      assert(!await fits([...physical, `${filler}x`]), part);
    }
  }
  assert(keyBytes(partKey(crypto.randomUUID(), 7)) < 100);
});
