import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { compareParts } from "../../src/store/base/mod.ts";
import { compareKeys } from "./support/compare_keys.ts";

/** Units at the edges of what UTF-16 and UTF-8 tell apart. */
const unit = fc.constantFrom(
  "\0",
  "a",
  "\x7F",
  "\x80",
  "\u07FF",
  "\u0800",
  "\uD7FF",
  "\uE000",
  "\uFFFF",
  "😀",
  "😁",
  "\u{10FFFF}",
);
const half = fc.constantFrom("\uD800", "\uD83D", "\uDBFF", "\uDC00", "\uDE00", "\uDFFF");
const wellFormed = fc.array(unit, { maxLength: 4 }).map((units) => units.join(""));
const anyPart = fc.array(fc.oneof(unit, half), { maxLength: 4 }).map((units) => units.join(""));

function compareNumbers(first: readonly number[], second: readonly number[]): number {
  for (const [index, value] of first.entries()) {
    const other = second[index];
    if (other === undefined) return 1;
    if (value !== other) return value - other;
  }
  return first.length - second.length;
}

const codePoints = (text: string) => Array.from(text, (character) => character.codePointAt(0) ?? 0);
const bytes = (text: string) => [...new TextEncoder().encode(text)];

Deno.test("compareParts() gives the order of the UTF-8 bytes", () => {
  fc.assert(
    fc.property(wellFormed, wellFormed, (first, second) => {
      assertEquals(
        Math.sign(compareParts(first, second)),
        Math.sign(compareNumbers(bytes(first), bytes(second))),
      );
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("compareParts() gives the order of the code points, halves of pairs included", () => {
  fc.assert(
    fc.property(anyPart, anyPart, (first, second) => {
      const expected = compareNumbers(codePoints(first), codePoints(second));
      assertEquals(Math.sign(compareParts(first, second)), Math.sign(expected));
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("compareKeys() puts a key before those below it, and these before the next", () => {
  const keys = [[], [""], ["", "z"], ["a"], ["a", ""], ["a", "b"], ["a\0"], ["ab"], ["\uFFFF"], ["😀"]];
  assertEquals(keys.toReversed().sort(compareKeys), keys);
  for (const key of keys) assert(compareKeys(key, [...key]) === 0);
});
