/**
 * What simulated worlds have reached: actions, faults with each kind of operation, threats.
 *
 * @module
 */

/** Counts what was reached. */
export class Coverage {
  readonly counts = new Map<string, number>();

  /** Adds what a world has reached. */
  add(reached: ReadonlyMap<string, number>): void {
    for (const [what, count] of reached) this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }

  /** Prints a table. */
  print(print: (line: string) => void): void {
    const rows = [...this.counts].sort(([one], [other]) => one < other ? -1 : 1);
    for (const [what, count] of rows) print(`${String(count).padStart(8)}  ${what}`);
    print(`${rows.length} rows`);
  }
}
