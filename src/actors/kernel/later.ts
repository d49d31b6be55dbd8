/**
 * The answer of a handler that has work left when its turn ends.
 *
 * @module
 */

/** A reply that a task will give; the actor owns the task. */
export class Later<T> {
  /** Settles with the reply. */
  readonly promise: Promise<T>;

  /**
   * Wraps a task.
   *
   * @param promise Settles with the reply.
   */
  constructor(promise: Promise<T>) {
    this.promise = promise;
    // From here on the promise has an owner, even while the handler that made it is still on its way to return it.
    promise.catch(() => {});
  }
}

/**
 * Hands the reply to a task, so that no turn waits for the network: the turn ends at once, and the ask is answered when
 * the promise settles.
 *
 * The actor owns the task: `stop()` waits for it, and a rejection with `fatal(cause)` ends the actor. Return it from the
 * handler; a task that is not returned answers nobody.
 *
 * @param promise The task.
 * @returns What the handler returns.
 */
export function later<T>(promise: Promise<T>): Later<T> {
  return new Later(promise);
}
