/**
 * A test that waits for what never comes must end.
 *
 * @module
 */

/**
 * How long anything may take that a test waits for, in milliseconds: far longer than it takes on a machine
 * that is slow, and busy with other tests. It costs time only where something never comes.
 */
export const PATIENCE_MS = 300_000;

/**
 * Waits for a promise, but not for ever.
 *
 * @param what What the promise stands for, which the error tells.
 * @param ms How long, in milliseconds. Default: {@link PATIENCE_MS}.
 */
export async function within<T>(promise: Promise<T>, what: string, ms = PATIENCE_MS): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`It took more than ${ms} ms: ${what}`)), ms);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
