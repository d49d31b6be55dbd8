/** Timing, the same for every JavaScript contestant. */

const CHUNKS = 8;
/** V8 compiles what is hot a second time while it runs: what is measured is what comes after. */
const UNTIMED_CHUNKS = 2;

/** Microseconds of one run of an operation, one number for each chunk. */
export type Results = Map<string, number[]>;

/** Measures operations one after the other. */
export class Bench {
  readonly results: Results = new Map();

  /**
   * Times `count` runs of what `make` gives, several times.
   *
   * @param name The operation.
   * @param count How many runs make a chunk.
   * @param make Prepares a chunk, untimed.
   */
  run(name: string, count: number, make: () => (index: number) => unknown): void {
    const samples: number[] = [];
    for (let chunk = -UNTIMED_CHUNKS; chunk < CHUNKS; chunk++) {
      const operation = make();
      const start = performance.now();
      for (let index = 0; index < count; index++) operation(index);
      const took = performance.now() - start;
      if (chunk >= 0) samples.push(took * 1000 / count);
    }
    this.results.set(name, samples);
  }

  /** The results, as the other contestants print them. */
  toString(): string {
    return [...this.results].map(([name, samples]) =>
      [name, ...samples.map((sample) => sample.toFixed(3))].join(" ")
    )
      .join("\n");
  }
}
