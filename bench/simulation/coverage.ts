/**
 * What simulated worlds have reached: actions, threats and states, and which faults each operation
 * has had.
 *
 * @module
 */

import { ALL_KINDS } from "./actions/all_kinds.ts";
import { CELLS_ELSEWHERE, CRASH_POINTS, CRASHES_ELSEWHERE, ELSEWHERE, THREAT } from "./numbered.ts";
import { SERVICE_STATES } from "./appservice/service_operations.ts";
import { cellOf, COLUMNS, columnsOf, partsOf, ROWS } from "./table.ts";

/** Begins the names of operations of application services. */
const SERVICE = "service ";
/** What can't be reached. */
const OUT_OF_REACH: ReadonlySet<string> = new Set([...CELLS_ELSEWHERE.values()].flat());
/** How wide the names of operations are. */
const WIDTH = 56;
/** Counts what was reached. */
export class Coverage {
  readonly counts = new Map<string, number>();

  /** Adds what a world has reached. */
  add(reached: ReadonlyMap<string, number>): void {
    for (const [what, count] of reached) this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }

  /**
   * Prints a table of operations and faults, then all other things by name and number, then what is missing.
   */
  print(print: (line: string) => void): void {
    const operations = new Map(ROWS.map((operation) => [operation, new Map<string, number>()]));
    const others: string[] = [];
    for (const [what, count] of [...this.counts].sort(([one], [other]) => one < other ? -1 : 1)) {
      const [operation, column] = partsOf(what);
      if (column === undefined) others.push(line(count, what));
      else operations.getOrInsertComputed(operation, () => new Map()).set(column, count);
    }
    const missing = this.#printOperations(operations, print);
    this.#printShare(operations, print);
    for (const other of others) print(other);
    missing.push(...this.#printNumbered(print));
    missing.push(...SERVICE_STATES.filter((state) => !this.has(state)));
    for (const name of ALL_KINDS.keys()) if (!this.has(`action: ${name}`)) missing.push(`action: ${name}`);
    print(`not reached (${missing.length}): ${missing.join("; ")}`);
  }

  /** Whether something was reached. */
  has(what: string): boolean {
    return this.counts.has(what);
  }

  /** Prints the table; returns what is missing in it. */
  #printOperations(
    operations: ReadonlyMap<string, ReadonlyMap<string, number>>,
    print: (line: string) => void,
  ): string[] {
    print(`${" ".repeat(WIDTH)}${COLUMNS.map((column) => column.padStart(13)).join("")}`);
    return [...operations].flatMap(([operation, counts]) => {
      const columns = columnsOf(operation);
      const isOut = (column: string): boolean => OUT_OF_REACH.has(cellOf(operation, column));
      const cells = COLUMNS.map((column) =>
        (columns.includes(column) ? String(counts.get(column) ?? (isOut(column) ? "x" : "-")) : "")
          .padStart(13)
      );
      print(`${operation.padEnd(WIDTH)}${cells.join("").trimEnd()}`);
      return columns.filter((column) => counts.has(column) === isOut(column)).map((column) =>
        `${operation}: ${column}${isOut(column) ? ", which is said to be out of reach" : ""}`
      );
    });
  }

  /** Prints how many cells of the table there are, and how many were reached. */
  #printShare(
    operations: ReadonlyMap<string, ReadonlyMap<string, number>>,
    print: (line: string) => void,
  ): void {
    for (const [whose, isTheirs] of [["clients", false], ["application services", true]] as const) {
      const cells = operations.keys().filter((operation) => operation.startsWith(SERVICE) === isTheirs)
        .flatMap((operation) => columnsOf(operation).map((column) => cellOf(operation, column)))
        .filter((cell) => !OUT_OF_REACH.has(cell)).toArray();
      print(`${whose}: ${cells.filter((cell) => this.has(cell)).length} of ${cells.length} cells`);
    }
  }

  /** Prints crash points and threats; returns those that nothing has reached. */
  #printNumbered(print: (line: string) => void): string[] {
    const missing: string[] = [];
    for (const [point, ways] of CRASH_POINTS) {
      print(line(ways.reduce((sum, way) => sum + (this.counts.get(way) ?? 0), 0), point));
      missing.push(...ways.filter((way) => !this.has(way)).map((way) => `${point}: ${way}`));
    }
    for (const [why, cells] of CELLS_ELSEWHERE) print(`           ${cells.join(", ")}: ${why}`);
    for (const [point, why] of CRASHES_ELSEWHERE) print(`           ${point}: ${why}`);
    for (const [why, threats] of ELSEWHERE) print(`           ${threats.join(", ")}: ${why}`);
    const reached = new Set([...this.counts.keys()].flatMap((what) => what.match(/\bT\d+/g) ?? []));
    const elsewhere = new Set([...ELSEWHERE.values()].flat());
    for (const threat of threatsOf(Deno.readTextFileSync(SECURITY))) {
      if (!reached.has(threat) && !elsewhere.has(threat)) missing.push(`${THREAT}${threat}`);
    }
    return missing;
  }
}

/** Where the threats are listed. */
const SECURITY = new URL("../../SECURITY.md", import.meta.url);

function threatsOf(text: string): Set<string> {
  return new Set(text.match(/(?<=^- \*\*)T\d+/gm) ?? []);
}

function line(count: number, what: string): string {
  return `${String(count).padStart(9)}  ${what}`;
}
