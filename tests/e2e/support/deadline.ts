/**
 * A test that waits for what never comes must end.
 *
 * @module
 */

/**
 * Waits for a promise, but not for ever.
 *
 * @param ms How long, in milliseconds.
 * @param what What the promise stands for, which the error tells.
 */
export async function within<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`It took more than ${ms} ms: ${what}`)), ms);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
