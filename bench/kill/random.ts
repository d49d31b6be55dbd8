/**
 * Random numbers that come again with the same seed.
 *
 * @module
 */

/** Numbers from 0 up to 1. */
export type Random = () => number;

/** Makes a source of numbers from a seed (a linear congruential step, its result scrambled). */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) >>> 0;
    return ((mixed ^ (mixed >>> 12)) >>> 0) / 2 ** 32;
  };
}

/** One of several. */
export function oneOf<T>(random: Random, items: readonly [T, ...T[]]): T {
  return items[Math.floor(random() * items.length)] ?? items[0];
}
