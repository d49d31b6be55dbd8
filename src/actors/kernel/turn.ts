/**
 * What a handler gets with a message, and how it leaves the reply to a task.
 *
 * @module
 */

/** What a handler gets besides the body. */
export interface TurnContext {
  /**
   * The asker's signal, if it gave one: aborted when the asker does not wait for the reply any
   * more.
   */
  readonly signal?: AbortSignal;
  /**
   * The actor's own signal: aborted when the actor begins to stop.
   *
   * Work that may be aborted (a long poll, a retry's wait) uses it. Work that must be finished does
   * not: messages that are queued are still handled. The reason is an `ActorStoppedError`.
   */
  readonly stopping: AbortSignal;
}

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
    // A rejection before the handler returns is not unhandled: the actor will handle it.
    promise.catch(() => {});
  }
}

/**
 * Hands the reply to a task, so that no turn waits for the network: the turn ends immediately, and
 * the message is answered when the promise settles.
 *
 * The actor owns the task: `stop()` waits for it, and a rejection with `fatal(cause)` ends the
 * actor. Return it from the handler: a task that is not returned answers no message.
 *
 * @param promise The task.
 * @returns What the handler returns.
 */
export function later<T>(promise: Promise<T>): Later<T> {
  return new Later(promise);
}
