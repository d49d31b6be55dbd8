/**
 * The order of the parts of keys, the same in every store.
 *
 * @module
 */

const isHigh = (unit: number) => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit: number) => unit >= 0xdc00 && unit < 0xe000;

/**
 * The rank of a code unit: halves of pairs, which encode code points above 0xFFFF, come after all
 * others.
 */
function rank(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  const paired = (isHigh(unit) && isLow(text.charCodeAt(index + 1))) ||
    (isLow(unit) && isHigh(text.charCodeAt(index - 1)));
  return paired ? unit + 0x10000 : unit;
}

/**
 * Compares parts of keys by code point, as their UTF-8 bytes would be: `"\uFFFF"` comes before
 * `"😀"`, unlike with `<`.
 *
 * @returns Negative if the first comes first, positive if the second does, 0 if they are equal.
 */
export function compareParts(first: string, second: string): number {
  const length = Math.min(first.length, second.length);
  for (let index = 0; index < length; index++) {
    if (first.charCodeAt(index) !== second.charCodeAt(index)) return rank(first, index) - rank(second, index);
  }
  return first.length - second.length;
}
