/**
 * How long to wait after syncs that fail.
 *
 * @module
 */

import type { BackoffRange } from "../../base/backoff.ts";
import { ValueError } from "../../errors/value_error.ts";

const DEFAULT: BackoffRange = { base: 5_000, cap: 320_000 };
/** The shortest first wait, in milliseconds: nothing may spin. */
const MIN_BASE = 100;
/** The longest wait, in milliseconds: a day. */
const MAX_CAP = 86_400_000;

/**
 * The waits of a start.
 *
 * @param given What the application says of them.
 * @throws {ValueError} If they are out of range.
 */
export function syncBackoff(given: Partial<BackoffRange> = {}): BackoffRange {
  const { base = DEFAULT.base, cap = Math.max(DEFAULT.cap, base) } = given;
  if (base >= MIN_BASE && base <= cap && cap <= MAX_CAP) return { base, cap };
  throw new ValueError(
    `Cannot start to sync: backoff must be from ${MIN_BASE} to ${MAX_CAP} milliseconds, its base not above its cap; ` +
      `not from ${base} to ${cap}`,
  );
}
