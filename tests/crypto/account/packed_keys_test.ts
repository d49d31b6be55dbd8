import { assertEquals, assertStrictEquals } from "@std/assert";
import { oldestKey, withKeys, withoutKey } from "../../../src/crypto/account/key_upload.ts";

const NONE = new Uint8Array();
/** Three keys that differ in one byte, at other places. */
const [first, second, third] = [1, 16, 31].map((at) => new Uint8Array(32).fill(7).fill(1, at, at + 1)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];

Deno.test("withoutKey() takes out the one-time key that was used, and no other, wherever it stands", () => {
  const all = withKeys(NONE, [first, second, third]);
  assertEquals(withoutKey(all, first), withKeys(NONE, [second, third]));
  assertEquals(withoutKey(all, second), withKeys(NONE, [first, third]));
  assertEquals(withoutKey(all, third), withKeys(NONE, [first, second]));
  assertEquals(withoutKey(third, third), NONE);
});

Deno.test("withoutKey() leaves all as they are when the key is none of them, as the fallback key is", () => {
  const kept = withKeys(NONE, [first, second]);
  assertStrictEquals(withoutKey(kept, third), kept);
});

Deno.test("oldestKey() takes the first of the one-time keys; where there are none it says so", () => {
  assertEquals(oldestKey(withKeys(first, [second])), { key: first, rest: second });
  assertEquals(oldestKey(NONE), undefined);
});
