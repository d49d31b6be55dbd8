/** Random choices that a seed repeats. */

/** Numbers near which code goes wrong. */
const INTERESTING: readonly number[] = [
  ...[
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    255,
    256,
    2000,
    2001,
    5000,
    5001,
    65535,
    65536,
  ],
  ...[0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff],
];

/** A generator (sfc32 after one number), and what a fuzzer draws from it. */
export class Random {
  readonly #state: Uint32Array<ArrayBuffer>;

  constructor(seed: number) {
    this.#state = Uint32Array.of(seed, seed ^ 0x9e37_79b9, 0x243f_6a88, 1);
    for (let round = 0; round < 16; round++) this.next();
  }

  next(): number {
    const [a = 0, b = 0, c = 0, counter = 0] = this.#state;
    const result = (a + b + counter) >>> 0;
    this.#state.set([b ^ (b >>> 9), c + (c << 3), ((c << 21) | (c >>> 11)) + result, counter + 1]);
    return result;
  }

  below(limit: number): number {
    return this.next() % limit;
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)];
    if (picked === undefined) throw new Error("nothing to pick from");
    return picked;
  }

  number(): number {
    return this.chance(80) ? this.pick(INTERESTING) : this.next();
  }

  bytes(length: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from({ length }, () => this.below(256));
  }

  /** Something near the given bytes. */
  mutate(bytes: Uint8Array, others: readonly Uint8Array[]): Uint8Array {
    let result = Uint8Array.from(bytes);
    for (let rounds = 1 + this.below(4); rounds > 0; rounds--) result = this.#mutateOnce(result, others);
    return result;
  }

  #mutateOnce(bytes: Uint8Array<ArrayBuffer>, others: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
    const at = this.below(bytes.length + 1);
    const to = at + this.below(bytes.length - at + 1);
    const join = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));
    switch (this.below(9)) {
      case 0: // a bit
        return bytes.length === 0
          ? bytes
          : bytes.with(at % bytes.length, (bytes[at] ?? 0) ^ (1 << this.below(8)));
      case 1: // a byte
        return bytes.length === 0
          ? bytes
          : bytes.with(at % bytes.length, this.pick([0, 1, 0x7f, 0x80, 0xff, this.below(256)]));
      case 2: // a number
        bytes.set(numberBytes(this.number()).subarray(0, bytes.length - at), at);
        return bytes;
      case 3: // cut off
        return bytes.slice(0, at);
      case 4: // cut out
        return join(bytes.subarray(0, at), bytes.subarray(to));
      case 5: // twice
        return join(bytes.subarray(0, to), bytes.subarray(at));
      case 6: // more
        return join(bytes.subarray(0, at), this.bytes(this.below(40)), bytes.subarray(at));
      case 7: { // half of another
        const other = others.length === 0 ? bytes : this.pick(others);
        return join(bytes.subarray(0, at), other.subarray(this.below(other.length + 1)));
      }
      default: // a run
        return bytes.fill(this.pick([0, 0xff, 0x80]), at, to);
    }
  }
}

/** A number as the instance reads it. */
function numberBytes(number: number): Uint8Array {
  return Uint8Array.of(number, number >>> 8, number >>> 16, number >>> 24);
}
