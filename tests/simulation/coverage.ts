/**
 * What simulated worlds have reached: actions, threats and states, and which faults each operation
 * has had.
 *
 * @module
 */

import { ALL_KINDS } from "./actions/all_kinds.ts";
import { CRASH_POINTS, CRASHES_ELSEWHERE, ELSEWHERE, THREAT } from "./numbered.ts";
import {
  SERVICE_ASKS,
  SERVICE_COLUMNS,
  SERVICE_COMMIT,
  SERVICE_COMMITS,
  SERVICE_REQUESTS,
  SERVICE_STATES,
  SERVICE_TAKEN,
  SERVICE_TAKES,
} from "./appservice/service_operations.ts";
import { COMMITS, HISTORY_COMMITS, HISTORY_REQUESTS, REQUESTS } from "./world/operations.ts";

/** Divides the operation from what happened to it. */
const DIVIDER = " | ";
/** What happens to operations of processes, and to requests on the network. */
const COLUMNS = [
  ...["done", "crash before", "crash after", "error before", "error after"],
  ...["lost", "lost after", "twice", "late", "late answer", "overtaken", "429", "502", "500"],
];
/** How wide the names of operations are. */
const WIDTH = 56;
/** What does not happen to commits: they do not pass the network. */
const NETWORK_COLUMNS = COLUMNS.indexOf("lost");

/** Counts what was reached. */
export class Coverage {
  readonly counts = new Map<string, number>();

  /** Adds what a world has reached. */
  add(reached: ReadonlyMap<string, number>): void {
    for (const [what, count] of reached) this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }

  /** Prints a table of operations and faults, then all other things by name and number, then what is missing. */
  print(print: (line: string) => void): void {
    const operations = new Map<string, Map<string, number>>();
    const others: string[] = [];
    for (const name of [...COMMITS, ...HISTORY_COMMITS]) operations.set(`commit ${name}`, new Map());
    for (const name of [...REQUESTS, ...HISTORY_REQUESTS]) operations.set(name, new Map());
    for (const name of SERVICE_COMMITS) operations.set(SERVICE_COMMIT + name, new Map());
    for (const name of SERVICE_REQUESTS) operations.set(SERVICE_ASKS + name, new Map());
    for (const name of SERVICE_TAKEN) operations.set(SERVICE_TAKES + name, new Map());
    for (const [what, count] of [...this.counts].sort(([one], [other]) => one < other ? -1 : 1)) {
      const [operation = "", column] = what.split(DIVIDER);
      if (column === undefined) others.push(line(count, what));
      else operations.getOrInsertComputed(operation, () => new Map()).set(column, count);
    }
    const missing = this.#printOperations(operations, print);
    for (const other of others) print(other);
    missing.push(...this.#printNumbered(print));
    missing.push(...SERVICE_STATES.filter((state) => !this.#has(state)));
    for (const name of ALL_KINDS.keys()) if (!this.#has(`action: ${name}`)) missing.push(`action: ${name}`);
    print(`not reached (${missing.length}): ${missing.join("; ")}`);
  }

  #has(what: string): boolean {
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
      const cells = COLUMNS.map((column) =>
        (columns.includes(column) ? String(counts.get(column) ?? "-") : "").padStart(13)
      );
      print(`${operation.padEnd(WIDTH)}${cells.join("").trimEnd()}`);
      return columns.filter((column) => !counts.has(column)).map((column) => `${operation}: ${column}`);
    });
  }

  /** Prints crash points and threats; returns those that nothing has reached. */
  #printNumbered(print: (line: string) => void): string[] {
    const missing: string[] = [];
    for (const [point, ways] of CRASH_POINTS) {
      print(line(ways.reduce((sum, way) => sum + (this.counts.get(way) ?? 0), 0), point));
      missing.push(...ways.filter((way) => !this.#has(way)).map((way) => `${point}: ${way}`));
    }
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

/** What can happen to an operation. */
function columnsOf(operation: string): readonly string[] {
  const ofService = SERVICE_COLUMNS.entries().find(([prefix]) => operation.startsWith(prefix))?.[1];
  return ofService ?? (operation.startsWith("commit ") ? COLUMNS.slice(0, NETWORK_COLUMNS) : COLUMNS);
}

/** Where the threats are listed. */
const SECURITY = new URL("../../SECURITY.md", import.meta.url);

function threatsOf(text: string): Set<string> {
  return new Set(text.match(/(?<=^- \*\*)T\d+/gm) ?? []);
}

function line(count: number, what: string): string {
  return `${String(count).padStart(9)}  ${what}`;
}
