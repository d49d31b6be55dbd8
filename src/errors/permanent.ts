/**
 * Errors that come again whenever the same is tried.
 *
 * @module
 */

const PERMANENT = Symbol("permanent");

/** Marks an error as one that the same would lead to at any other time, too. */
export function permanent<Failure extends Error>(error: Failure): Failure {
  return Object.defineProperty(error, PERMANENT, { value: true }); // not enumerable: logs don't show it
}

/** Whether an error was marked by {@linkcode permanent}. */
export function isPermanent(error: Error): boolean {
  return PERMANENT in error;
}
