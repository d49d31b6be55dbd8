/**
 * The table of operations and of what can happen to each.
 *
 * @module
 */

import {
  SERVICE_ASKS,
  SERVICE_COLUMNS,
  SERVICE_COMMIT,
  SERVICE_COMMITS,
  SERVICE_REQUESTS,
  SERVICE_TAKEN,
  SERVICE_TAKES,
} from "./appservice/service_operations.ts";
import { FAULTS, WEATHERS } from "./world/ambushes.ts";
import { COMMIT, COMMITS, HISTORY_COMMITS, HISTORY_REQUESTS, REQUESTS, SYNC } from "./world/operations.ts";

/** What an operation of a process is if nothing happens to it. */
export const DONE = "done";
/** What happens to commits: they do not pass the network. */
const COMMIT_COLUMNS: readonly string[] = [DONE, ...FAULTS];
/** What happens to operations of processes, and to requests on the network. */
export const COLUMNS: readonly string[] = [...COMMIT_COLUMNS, ...WEATHERS];

/** All operations, by their names in the table. */
export const ROWS: readonly string[] = [
  ...[...COMMITS, ...HISTORY_COMMITS].map((name) => COMMIT + name),
  ...[...REQUESTS, ...HISTORY_REQUESTS, SYNC],
  ...SERVICE_COMMITS.map((name) => SERVICE_COMMIT + name),
  ...SERVICE_REQUESTS.map((name) => SERVICE_ASKS + name),
  ...SERVICE_TAKEN.map((name) => SERVICE_TAKES + name),
];

/** What can happen to an operation. */
export function columnsOf(operation: string): readonly string[] {
  const ofService = SERVICE_COLUMNS.entries().find(([prefix]) => operation.startsWith(prefix))?.[1];
  return ofService ?? (operation.startsWith(COMMIT) ? COMMIT_COLUMNS : COLUMNS);
}

/** How something that happens to an operation is counted. */
export function cellOf(operation: string, column: string): string {
  return `${operation} | ${column}`;
}

/** An operation and what happened to it, by how that is counted; only one: that is something else. */
export function partsOf(counted: string): readonly [operation: string, column?: string] {
  const [operation = "", column] = counted.split(" | ");
  return column === undefined ? [operation] : [operation, column];
}
