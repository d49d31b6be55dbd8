/**
 * When to send again what failed and may be repeated, and when to begin again with work of several
 * requests.
 *
 * A request that must not be repeated as it is has one try. The work that it is part of may find out
 * what has become of it, and go on from there: that begins again as often as any other request has
 * tries. What the transport has tried again itself is not tried even more.
 *
 * @module
 */

import { backoff } from "../../base/backoff.ts";
import { UnrecognizedError } from "../../errors/request_errcodes.ts";
import { NetworkError } from "../../errors/network_error.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";

/**
 * When and how often a request that failed is sent again. Only what may be repeated is.
 *
 * The status 429 says that the server wants fewer requests, and has done nothing. It uses up no try, and
 * every request waits for it: those of a kind wait in one row, in the order in which they were called, until the
 * server lets them through. {@link RetryPolicy.maxRetryAfter} and {@link RetryPolicy.maxLimitWait}
 * bound the wait, and so does the request's signal.
 */
export interface RetryPolicy {
  /**
   * How many tries there are after the first; 0 means a single one, which does not wait for a 429
   * either. A request that may have been done, and must not be done twice (most that are a `POST`), has a
   * single try unless the call itself says how many. Default: 4.
   */
  readonly maxRetries: number;
  /**
   * The first delay, in milliseconds; it doubles with each try and is up to a fifth shorter by
   * chance. Default: 500.
   */
  readonly base: number;
  /** The longest delay, in milliseconds. Default: 30,000. */
  readonly cap: number;
  /**
   * The longest wait that a server may ask for (`Retry-After`, `retry_after_ms`), in milliseconds.
   * If it asks for more, the request fails immediately, with the server's wish in the error.
   * Default: 120,000.
   */
  readonly maxRetryAfter: number;
  /**
   * How long requests wait for 429 while the server lets none of their kind through, in milliseconds.
   * Waiting behind others that it lets through does not count. Default: 600,000.
   */
  readonly maxLimitWait: number;
  /**
   * Which refusals are worth another try. Default: the statuses 429, 502, 503 and 504, but for
   * `M_NOT_YET_UPLOADED`.
   */
  readonly retryable: (error: MatrixRequestError) => boolean;
}

/** Whether a server has refused since it has failed, or has too much to do: it may not the next time. */
export function isPassing({ status }: MatrixRequestError): boolean {
  return status === 429 || status >= 500;
}

/** Whether a server has refused since it wants fewer requests. */
export function isLimit(error: unknown): error is MatrixRequestError {
  return error instanceof MatrixRequestError && error.status === 429;
}

/** The policy where nothing else is said. */
export const DEFAULT_RETRY: RetryPolicy = {
  maxRetries: 4,
  base: 500,
  cap: 30_000,
  maxRetryAfter: 120_000,
  maxLimitWait: 600_000,
  // The server has waited already for media that is not there yet, as long as it was asked to.
  retryable: ({ status, errcode }) =>
    [429, 502, 503, 504].includes(status) && errcode !== "M_NOT_YET_UPLOADED",
};

const SINGLE_TRY: RetryPolicy = { ...DEFAULT_RETRY, maxRetries: 0 };

/** A policy with a caller's changes; `false` means a single try. */
export function retryPolicy(
  base: RetryPolicy,
  changes: Partial<RetryPolicy> | false | undefined,
): RetryPolicy {
  if (changes === undefined) return base;
  return changes === false ? SINGLE_TRY : { ...base, ...changes };
}

/** How long to wait before the next try, in milliseconds; undefined if there is to be none. */
export function retryDelay(error: unknown, retries: number, policy: RetryPolicy): number | undefined {
  if (retries >= policy.maxRetries) return undefined;
  const own = backoff(retries, policy);
  if (error instanceof NetworkError) return own;
  if (!(error instanceof MatrixRequestError) || !policy.retryable(error)) return undefined;
  const asked = error.retryAfter;
  if (asked === undefined) return own;
  return asked <= policy.maxRetryAfter ? asked : undefined;
}

/**
 * How long an answer asks to wait, in milliseconds: its `Retry-After` header first,
 * `retry_after_ms` of its body second.
 */
export function retryAfter(header: string | null, inBody: unknown, now: number): number | undefined {
  if (header !== null && header.trim() !== "") {
    const seconds = Number(header);
    const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
    if (Number.isFinite(ms)) return Math.max(0, ms);
  }
  return typeof inBody === "number" && inBody >= 0 ? inBody : undefined;
}

/** Whether a homeserver refused, and no proxy did, nor another API. */
export function isMatrixRefusal(error: unknown): boolean {
  return error instanceof MatrixRequestError && typeof error.body.errcode === "string" &&
    !(error instanceof UnrecognizedError);
}

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
