/**
 * When to begin again with work of several requests.
 *
 * A request that must not be repeated as it is has one try. The work that it is part of may find out
 * what has become of it, and go on from there: that begins again as often as any other request has
 * tries. What the transport has tried again itself is not tried even more.
 *
 * @module
 */

import { retryDelay, type RetryPolicy } from "./retry.ts";

/** Why requests failed that had one try. */
const singleTries = new WeakSet<object>();

/** Notes that a request had one try because it must not be repeated. */
export function singleTry(error: unknown): unknown {
  if (error instanceof Error) singleTries.add(error);
  return error;
}

/**
 * How long to wait before the work begins again, in milliseconds; undefined if it is not to.
 *
 * @param error Why it ended.
 * @param restarts How often it has begun again.
 */
export function restartDelay(error: unknown, restarts: number, policy: RetryPolicy): number | undefined {
  return error instanceof Error && singleTries.has(error) ? retryDelay(error, restarts, policy) : undefined;
}
