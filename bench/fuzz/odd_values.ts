/**
 * Unexpected values, and JSON that no object can be written as.
 *
 * @module
 */

import fc from "fast-check";
import type { Random } from "../../vodozemac-wasm/fuzz/random.ts";

/** Stands in a tree for text that `JSON.stringify` would not write. */
export const RAW = "\u0000raw:";
const RAW_TEXTS = [
  "-0",
  "1e400",
  "-1e400",
  "1E-400",
  "9007199254740993",
  "0.1e-7",
  "123456789012345678901234567890",
];
const NAMES = [
  ...[
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "then",
    "toJSON",
    "length",
    "valueOf",
  ],
  ...["\u0001".repeat(255), "\ue000".repeat(255), "\ud800".repeat(255)],
  ...[
    "",
    " ",
    "\u0000",
    "\u0001",
    "\ud800",
    "\udfff",
    "\uffff",
    "é",
    "e\u0301",
    "🎉",
    "\u202e",
    "a".repeat(255),
    "*",
  ],
];
const TEXTS = [
  ...[
    "@a:b",
    "@:",
    "@",
    "!",
    "!:x",
    "$",
    "$\u0000",
    "mxc://",
    "m.room.message",
    "m.room.encrypted",
    "join",
    "true",
  ],
  ...["@me:example.org", "@alice:example.org", "2147483648", "null", "undefined", "[object Object]"],
];
const NUMBERS = [0, 1, -1, 0.5, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 53), 1e21, 1.7976931348623157e308, 5e-324];
/** More than Deno KV takes for a value. */
const LONG = "x".repeat(70_000);
const POOL = 2_000;

/** Draws unexpected values. */
export class OddValues {
  readonly #random: Random;
  readonly #pool: readonly unknown[];

  /**
   * @param random Draws.
   * @param seed What the pool is made of, which is slow to make: those with the same seed share it.
   */
  constructor(random: Random, seed: number) {
    this.#random = random;
    this.#pool = poolOf(seed);
  }

  /** A value. */
  value(): unknown {
    const random = this.#random;
    switch (random.below(10)) {
      case 0:
        return RAW + random.pick(RAW_TEXTS);
      case 1:
        return random.pick(NUMBERS);
      case 2:
        return this.text();
      case 3:
        return random.pick<unknown>([null, true, false, [], {}, "", [[]], [null], { "": null }]);
      case 4:
        return random.below(50) === 0 ? deepest(random.pick([1_000, 6_000])) : this.deep(random.below(100));
      case 5:
        return Array.from({ length: random.pick([2, 50, 1_000]) }, () => random.pick(TEXTS).slice(0, 40));
      case 6:
        return named(this.name(), this.text());
      default:
        return structuredClone(random.pick(this.#pool)); // what is drawn is changed in place
    }
  }

  /** A name of a member. */
  name(): string {
    return this.#random.pick(NAMES);
  }

  /** A text. */
  text(): string {
    if (this.#random.below(500) === 0) return LONG;
    return this.#random.chance(50) ? this.#random.pick(TEXTS) : this.#random.pick(NAMES);
  }

  /** Lists and objects in each other. */
  deep(levels: number): unknown {
    let value: unknown = this.#random.pick<unknown>([0, "x", null, {}]);
    for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
    return value;
  }
}

/** Lists in each other, as text: deeper than `JSON.stringify` can go. */
function deepest(levels: number): string {
  return `${RAW}${"[".repeat(levels)}${"]".repeat(levels)}`;
}

/** An object with one member, whatever that is called. */
function named(name: string, value: unknown): Record<string, unknown> {
  return put({}, name, value);
}

/** Gives an object a member, also if that is called `__proto__`. */
export function put(object: Record<string, unknown>, name: string, value: unknown): Record<string, unknown> {
  return Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** A tree as JSON text. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"\\u0000raw:([^"]*)"/g, "$1");
}

const pools = new Map<number, readonly unknown[]>();

function poolOf(seed: number): readonly unknown[] {
  return pools.getOrInsertComputed(seed, () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      fc.string({ unit: "binary-ascii", maxLength: 300 }),
      fc.array(fc.nat(0xffff), { maxLength: 50 }).map((units) => String.fromCharCode(...units)),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.dictionary(fc.constantFrom(...NAMES), fc.jsonValue({ maxDepth: 2 })),
    );
    return fc.sample(value, { seed, numRuns: POOL });
  });
}
