/**
 * What simulated worlds have reached: actions, threats and states, and which faults each operation
 * has had.
 *
 * @module
 */

import { ALL_KINDS } from "./actions/all_kinds.ts";

/** Divides the operation from what happened to it. */
const DIVIDER = " | ";
/** What happens to operations of processes, and to requests on the network. */
const COLUMNS = [
  ...["done", "crash before", "crash after", "error before", "error after"],
  ...["lost", "lost after", "twice", "late", "late answer", "429", "502", "500"],
];
/** What does not happen to commits: they do not pass the network. */
const NETWORK_COLUMNS = COLUMNS.indexOf("lost");

/** Counts what was reached. */
export class Coverage {
  readonly counts = new Map<string, number>();

  /** Adds what a world has reached. */
  add(reached: ReadonlyMap<string, number>): void {
    for (const [what, count] of reached) this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }

  /** Prints a table of operations and faults, then all other things, then what was not reached. */
  print(print: (line: string) => void): void {
    const operations = new Map<string, Map<string, number>>();
    const others: string[] = [];
    const missing = [...ALL_KINDS.keys()].map((name) => `action: ${name}`).filter((name) =>
      !this.counts.has(name)
    );
    for (const [what, count] of [...this.counts].sort(([one], [other]) => one < other ? -1 : 1)) {
      const [operation = "", column] = what.split(DIVIDER);
      if (column === undefined) others.push(`${String(count).padStart(9)}  ${what}`);
      else operations.getOrInsertComputed(operation, () => new Map()).set(column, count);
    }
    print(`${" ".repeat(44)}${COLUMNS.map((column) => column.padStart(13)).join("")}`);
    for (const [operation, counts] of operations) {
      const columns = operation.startsWith("commit ") ? COLUMNS.slice(0, NETWORK_COLUMNS) : COLUMNS;
      print(
        `${operation.padEnd(44)}${
          columns.map((column) => String(counts.get(column) ?? "-").padStart(13)).join("")
        }`,
      );
      missing.push(
        ...columns.filter((column) => !counts.has(column)).map((column) => `${operation}: ${column}`),
      );
    }
    for (const line of others) print(line);
    print(`not reached (${missing.length}): ${missing.join("; ")}`);
  }
}
