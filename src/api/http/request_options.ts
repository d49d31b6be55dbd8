/**
 * What a caller may say of any single request.
 *
 * @module
 */

import type { MatrixRequestError } from "../../errors/request_error.ts";
import { ValueError } from "../../errors/value_error.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import type { Query } from "./path.ts";

/** When and how often a request that failed is sent again. Only what may be repeated is. */
export interface RetryPolicy {
  /** How many tries there are after the first; 0 means a single one. Default: 4. */
  readonly maxRetries: number;
  /** The first delay, in milliseconds; it doubles with each try and is up to a fifth shorter by chance. Default: 500. */
  readonly base: number;
  /** The longest delay, in milliseconds. Default: 30,000. */
  readonly cap: number;
  /**
   * The longest wait that a server may ask for (`Retry-After`, `retry_after_ms`), in milliseconds. If it asks for more, the
   * request fails at once, with the server's wish in the error. Default: 120,000.
   */
  readonly maxRetryAfter: number;
  /** Which refusals are worth another try. Default: the statuses 429, 502, 503 and 504, but for `M_NOT_YET_UPLOADED`. */
  readonly retryable: (error: MatrixRequestError) => boolean;
}

/** The options that every operation takes, beside its own. */
export interface RequestOptions {
  /** Ends the request, its retries and their waits; the operation then rejects with the signal's reason. */
  signal?: AbortSignal;
  /**
   * How long one try may stay without progress, in milliseconds; 0 means for ever. Default: the client's `requestTimeout`,
   * 60,000 unless set.
   */
  requestTimeout?: number;
  /** More headers. `Authorization` is the client's own and can't be set. */
  headers?: Readonly<Record<string, string>>;
  /** More parameters of the query. */
  query?: Query;
  /** Changes to the client's retry policy, or `false` for a single try. */
  retry?: Partial<RetryPolicy> | false;
  /** Application services: the user to act as (`user_id`). */
  asUserId?: UserID;
  /** Application services: the device to act as (`device_id`). */
  asDeviceId?: DeviceID;
  /** Application services: the time the event is said to be from, in milliseconds since the epoch (`ts`). */
  timestamp?: number;
}

/** Of the options of one operation, those that fit every request which the operation makes before. */
export function requestOptions(
  { signal, requestTimeout, headers, retry, asUserId, asDeviceId }: RequestOptions,
): RequestOptions {
  return { signal, requestTimeout, headers, retry, asUserId, asDeviceId };
}

/** The policy where nothing else is said. */
export const DEFAULT_RETRY: RetryPolicy = {
  maxRetries: 4,
  base: 500,
  cap: 30_000,
  maxRetryAfter: 120_000,
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

/**
 * A caller's headers, but for `Authorization`; their names in lower case.
 *
 * @throws {ValueError} If one can't be sent.
 */
export function requestHeaders(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    try {
      headers.set(name, value);
    } catch {
      throw new ValueError(
        `Cannot send the header ${JSON.stringify(name)}: its name or its value is malformed`,
      );
    }
  }
  headers.delete("authorization");
  return Object.fromEntries(headers);
}
