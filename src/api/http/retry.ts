/**
 * When to send again what failed and may be repeated.
 *
 * @module
 */

import { backoff } from "../../base/backoff.ts";
import { NetworkError } from "../../errors/network_error.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import type { RetryPolicy } from "./request_options.ts";

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

/** How long an answer asks to wait, in milliseconds: its `Retry-After` header first, `retry_after_ms` of its body second. */
export function retryAfter(header: string | null, inBody: unknown, now: number): number | undefined {
  if (header !== null && header.trim() !== "") {
    const seconds = Number(header);
    const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
    if (Number.isFinite(ms)) return Math.max(0, ms);
  }
  return typeof inBody === "number" && inBody >= 0 ? inBody : undefined;
}
