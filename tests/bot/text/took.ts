import { assert } from "@std/assert";

/** How much slower a busy machine may be. */
const BUSY = 10;

/**
 * Fails if something takes too long. The limits are far above what is needed, and far below what
 * anything takes that is not linear.
 */
export function took<T>(milliseconds: number, name: string, run: () => T): T {
  const start = performance.now();
  const result = run();
  const elapsed = performance.now() - start;
  assert(elapsed < milliseconds * BUSY, `${name.slice(0, 40)} took ${Math.round(elapsed)} ms`);
  return result;
}
