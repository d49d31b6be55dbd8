/**
 * What an actor is, as types: a protocol says what it can be asked, a reference is all that an asker sees of it.
 *
 * A protocol is an interface with one method for each kind of message, from body to reply:
 *
 * ```ts ignore
 * interface Counter {
 *   add(body: { by: number }): number;
 *   reset(): void;
 * }
 * await counter.ask("add", { by: 2 });
 * ```
 *
 * Bodies and replies are plain data. Who asks whom is a graph without cycles: two actors that asked each other could wait
 * for each other.
 *
 * @module
 */

/** The constraint on protocols: every member is a function from one body to a reply. */
// deno-lint-ignore no-explicit-any -- the body is contravariant: `unknown` would refuse every protocol
export type Protocol<P> = { [K in keyof P]: (body: any) => unknown };

/** The kinds of message of a protocol. */
export type Kind<P> = Extract<keyof P, string>;

/** What a message of kind `K` carries; `undefined` if its method takes nothing. */
export type Body<P extends Protocol<P>, K extends Kind<P>> = Parameters<P[K]>[0];

/** What a message of kind `K` is answered with. */
export type Reply<P extends Protocol<P>, K extends Kind<P>> = ReturnType<P[K]>;

/** Every message of a protocol, as a union discriminated by `kind`: derived, never written by hand. */
export type Message<P extends Protocol<P>> = {
  [K in Kind<P>]: { readonly kind: K; readonly body: Body<P, K> };
}[Kind<P>];

/** What a turn knows besides the body. */
export interface TurnContext {
  /** The asker's signal, if it gave one: aborted when nobody waits for the reply any more. */
  readonly signal?: AbortSignal;
  /**
   * The actor's own signal: aborted when the actor begins to stop.
   *
   * Work that may be given up (a long poll, a retry's wait) listens to it; work that must be finished does not, because
   * what is queued is still drained. The reason is an `ActorStoppedError`.
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

/** One function for each kind of message: a kind without a handler does not compile. */
export type Handlers<P extends Protocol<P>> = {
  readonly [K in Kind<P>]: (
    body: Body<P, K>,
    context: TurnContext,
  ) => Reply<P, K> | Later<Reply<P, K>> | Promise<Reply<P, K> | Later<Reply<P, K>>>;
};

/** The options of one ask. */
export interface AskOptions {
  /**
   * Takes the ask back. Still queued, it rejects at once with the signal's reason and its turn never runs; once its turn
   * runs, the signal reaches the handler, whose business it is.
   */
  signal?: AbortSignal;
}

/** All that an asker sees of an actor. */
export interface ActorRef<P extends Protocol<P>> {
  /**
   * Asks; every ask is answered, in order. The mailbox takes any number of asks: whoever makes many has to wait for the
   * replies in between.
   *
   * @param kind What to do.
   * @param body What to do it with: plain data.
   * @param options The asker's signal.
   * @returns The reply. Rejects with what the handler threw; with `ActorError` if the actor failed at it; with
   *   `ActorStoppedError` if the actor ended before the turn came.
   */
  ask<K extends Kind<P>>(kind: K, body: Body<P, K>, options?: AskOptions): Promise<Reply<P, K>>;
}

/** The life of an actor, whatever it can be asked. */
export interface Lifecycle {
  /** The name, as it appears in errors and in the log. */
  readonly name: string;
  /**
   * Resolves when the actor has ended; rejects with an `ActorError` as soon as it has failed, while what it had begun may
   * still be on its way to an end, which {@link Lifecycle.stop} waits for. Whoever does not look at it misses a failure,
   * but causes no unhandled rejection.
   */
  readonly done: Promise<void>;
  /**
   * Stops: takes no more asks, handles those in the mailbox, waits for every task, and releases what the actor holds. May
   * be called again, and after a failure.
   *
   * Called by the actor's own handler, or by what that handler started, it resolves at once, since the stop waits for
   * that very turn.
   *
   * @returns Resolves when nothing of the actor runs any more. Never rejects: how it ended is for
   *   {@link Lifecycle.done} to say.
   */
  stop(): Promise<void>;
  /**
   * Gives the actor up: every ask not yet answered is rejected with `ActorStoppedError`, and `done` resolves, though a turn
   * or a task may still be stuck. For whoever has waited for {@link Lifecycle.stop} long enough.
   */
  abandon(): void;
}

/** An actor in the hands of its owner. */
export interface Actor<P extends Protocol<P>> extends ActorRef<P>, Lifecycle {}
