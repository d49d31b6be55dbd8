/**
 * Limits of how often a user may do something.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { UserID } from "../../types/ids.ts";
import type { RateLimits } from "../homeserver_options.ts";
import { Failure } from "../json/mod.ts";

/** A leaky bucket per user and kind of request. */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #limits: RateLimits;
  readonly #buckets = new Map<string, { tokens: number; time: number }>();

  /** Makes a limiter; `limits` may change later. */
  constructor(clock: Clock, limits: RateLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Counts a request, or refuses it with 429 and the time to wait. */
  take(user: UserID, kind: keyof RateLimits): void {
    const limit = this.#limits[kind];
    if (limit === undefined) return;
    const { perSecond, burst } = limit;
    const key = `${kind} ${user}`;
    const now = this.#clock.now();
    const bucket = this.#buckets.get(key) ?? { tokens: burst, time: now };
    bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.time) / 1000 * perSecond);
    bucket.time = now;
    this.#buckets.set(key, bucket);
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
