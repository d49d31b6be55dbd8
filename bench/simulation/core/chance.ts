/**
 * Random numbers of a seed: the same seed gives the same numbers.
 *
 * @module
 */

const TWO_TO_32 = 0x1_0000_0000;

/** A generator of random numbers (sfc32), which can't be used for secrets. */
export class Chance {
  readonly #seed: string;
  #a = 0x9e3779b9;
  #b = 0x243f6a88;
  #c = 0xb7e15162;
  #count = 1;

  /** @param seed Any text. */
  constructor(seed: string) {
    this.#seed = seed;
    for (let at = 0; at < seed.length; at++) {
      this.#a ^= seed.charCodeAt(at) << (8 * (at % 4));
      this.#word();
    }
    for (let round = 0; round < 15; round++) this.#word();
  }

  /** A generator with numbers of its own, which what is drawn from this one does not change. */
  branch(name: string): Chance {
    return new Chance(`${this.#seed}/${name}`);
  }

  /** A number from 0 up to, but not, 1. */
  next(): number {
    return this.#word() / TWO_TO_32;
  }

  /** A whole number from 0 up to, but not, `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** Whether something of a probability happens. */
  odds(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of some values. */
  pick<const Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value;
  }

  /** Fills an array of any type with random bytes. */
  fill<Target extends ArrayBufferView>(target: Target): Target {
    const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
    for (let at = 0; at < bytes.length; at += 4) {
      const word = this.#word();
      for (let byte = 0; byte < 4 && at + byte < bytes.length; byte++) bytes[at + byte] = word >>> (8 * byte);
    }
    return target;
  }

  #word(): number {
    const sum = (this.#a + this.#b + this.#count++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum | 0;
    return sum >>> 0;
  }
}
