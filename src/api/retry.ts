/**
 * Sends again what failed and may be repeated.
 *
 * @module
 */

import { backoff } from "../backoff.ts";
import type { Clock } from "../clock.ts";
import { NetworkError } from "../errors/network_error.ts";
import { MatrixRequestError } from "../errors/request_error.ts";
import type { RetryPolicy } from "./request_options.ts";

/** What {@link withRetries} works with. */
export interface RetryContext {
  /** Waits between the tries. */
  readonly clock: Clock;
  /** The caller's signal: ends a wait. */
  readonly signal: AbortSignal | undefined;
  /** Told of each failure that another try follows. */
  readonly onRetry: (error: unknown, attempt: number, delay: number) => void;
}

/**
 * Tries until it works, the policy has had enough, or the error is not worth another try.
 *
 * @param attempt One try; gets how many were before.
 */
export async function withRetries<Result>(
  policy: RetryPolicy,
  context: RetryContext,
  attempt: (retries: number) => Promise<Result>,
): Promise<Result> {
  for (let retries = 0;; retries++) {
    try {
      return await attempt(retries);
    } catch (error) {
      const delay = retries < policy.maxRetries ? delayBefore(error, retries, policy) : undefined;
      if (delay === undefined) throw error;
      context.onRetry(error, retries + 1, delay);
      await context.clock.delay(delay, { signal: context.signal });
    }
  }
}

/** How long to wait before the next try, in milliseconds; undefined if there is to be none. */
function delayBefore(error: unknown, retries: number, policy: RetryPolicy): number | undefined {
  const own = backoff(retries, policy);
  if (error instanceof NetworkError) return own;
  if (!(error instanceof MatrixRequestError) || !policy.retryable(error)) return undefined;
  const asked = error.retryAfter;
  if (asked === undefined) return own;
  return asked <= policy.maxRetryAfter ? asked : undefined;
}

/** How long an answer asks to wait, in milliseconds: its `Retry-After` header first, `retry_after_ms` of its body second. */
export function retryAfter(header: string | null, inBody: unknown, now: number): number | undefined {
  if (header !== null && header.trim() !== "") {
    const seconds = Number(header);
    const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
    if (Number.isFinite(ms)) return Math.max(0, ms);
  }
  return typeof inBody === "number" && inBody >= 0 ? inBody : undefined;
}
