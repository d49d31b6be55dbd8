/**
 * A limit of how many events a user may send.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { UserID } from "../../types/ids.ts";
import { Failure } from "../http/failure.ts";

/** A leaky bucket per user. */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #limit: { readonly perSecond: number; readonly burst: number } | undefined;
  readonly #buckets = new Map<UserID, { tokens: number; time: number }>();

  /** Makes a limiter; without a limit it lets everything through. */
  constructor(clock: Clock, limit: { readonly perSecond: number; readonly burst: number } | undefined) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Counts an event, or refuses it with 429 and the time to wait. */
  take(user: UserID): void {
    if (this.#limit === undefined) return;
    const { perSecond, burst } = this.#limit;
    const now = this.#clock.now();
    const bucket = this.#buckets.get(user) ?? { tokens: burst, time: now };
    bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.time) / 1000 * perSecond);
    bucket.time = now;
    this.#buckets.set(user, bucket);
    if (bucket.tokens < 1) {
      const wait = Math.ceil((1 - bucket.tokens) / perSecond * 1000);
      throw new Failure(429, "M_LIMIT_EXCEEDED", "Too Many Requests", {
        extra: { retry_after_ms: wait },
        headers: { "retry-after": String(Math.ceil(wait / 1000)) },
      });
    }
    bucket.tokens--;
  }
}
