import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { StoreFormatError } from "@greenroom/matrix/errors";
import { compareKeys } from "../support/compare_keys.ts";
import { decodeKey, encodeKey, endOfRange } from "../../../src/store/base/mod.ts";

/** Characters of each length, and both edges of what UTF-8 leaves out. */
const unit = fc.constantFrom(
  "\0",
  "\x01",
  "a",
  "\x7F",
  "\x80",
  "é",
  "\u07FF",
  "\u0800",
  "€",
  "\uD000",
  "\uD7FF",
  "\uD800",
  "\uDBFF",
  "\uDC00",
  "\uDFFF",
  "\uE000",
  "\uFEFF",
  "\uFFFF",
  "😀",
  "\u{10FFFF}",
);
const part = fc.array(unit, { maxLength: 4 }).map((units) => units.join(""));
const key = fc.array(part, { maxLength: 3 });
const runs = { numRuns: 2_000 };

function compareBytes(first: Uint8Array, second: Uint8Array): number {
  for (const [index, byte] of first.entries()) {
    const other = second[index];
    if (other === undefined) return 1;
    if (byte !== other) return byte - other;
  }
  return first.length - second.length;
}

Deno.test("encodeKey() makes bytes that compare as the keys do", () => {
  fc.assert(
    fc.property(key, key, (first, second) => {
      assertEquals(
        Math.sign(compareBytes(encodeKey(first), encodeKey(second))),
        Math.sign(compareKeys(first, second)),
      );
    }),
    runs,
  );
});

Deno.test("decodeKey() gives the key back", () => {
  fc.assert(fc.property(key, (each) => assertEquals(decodeKey(encodeKey(each)), each)), runs);
});

Deno.test("endOfRange() ends what lies below a key, and lets nothing else in", () => {
  fc.assert(
    fc.property(key, key, (prefix, each) => {
      const [start, bytes] = [encodeKey(prefix), encodeKey(each)];
      const within = compareBytes(bytes, start) > 0 && compareBytes(bytes, endOfRange(start)) < 0;
      const below = each.length > prefix.length && prefix.every((part, index) => part === each[index]);
      assertEquals(within, below);
    }),
    runs,
  );
  fc.assert(
    fc.property(key, key, (prefix, rest) => {
      const bytes = encodeKey([...prefix, ...rest, ""]);
      assert(compareBytes(bytes, endOfRange(encodeKey(prefix))) < 0);
      assert(compareBytes(bytes, encodeKey(prefix)) > 0);
    }),
    runs,
  );
});

Deno.test("decodeKey() refuses bytes whose last part does not end", () => {
  for (const bytes of [[97], [97, 0, 97], [97, 0, 255], [0, 255]]) {
    assertThrows(() => decodeKey(Uint8Array.from(bytes)), StoreFormatError, "Cannot read a key of the store");
  }
});
