/**
 * Requests in which the server is asked to wait.
 *
 * @module
 */

/** What the server gets beyond the wait before the connection counts as dead, in milliseconds. */
const GRACE = 30_000;

/**
 * The time limit of a request in which the server is asked to wait.
 *
 * @param wait How long the server may wait, in milliseconds.
 */
export function waitLimit(wait: number): number {
  return wait + GRACE;
}
