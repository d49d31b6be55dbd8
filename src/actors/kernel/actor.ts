/**
 * What an asker sees of an actor, as types: a protocol says what it can be asked, a reference is
 * what it is asked by.
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
 * Bodies and replies are plain data. Who asks whom is a graph without cycles: two actors that ask
 * each other could wait for each other for ever.
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

/** Every message of a protocol, as a union discriminated by `kind`. */
export type Message<P extends Protocol<P>> = {
  [K in Kind<P>]: { readonly kind: K; readonly body: Body<P, K> };
}[Kind<P>];

/** The options of one ask. */
export interface AskOptions {
  /**
   * Cancels the ask. While it is queued it rejects immediately with the signal's reason, and its
   * turn never runs. Once its turn runs, the handler gets the signal and decides.
   */
  signal?: AbortSignal;
}

/** All that an asker sees of an actor. */
export interface ActorRef<P extends Protocol<P>> {
  /**
   * Asks; every ask is answered, in order. The mailbox is unbounded: an asker of many messages
   * waits for replies in between.
   *
   * @param kind What to do.
   * @param body What to do it with: plain data.
   * @param options The asker's signal.
   * @returns The reply. Rejects with what the handler threw; with `ActorError` if the actor failed
   *   at it; with `ActorStoppedError` if the actor ended before the turn came.
   */
  ask<K extends Kind<P>>(kind: K, body: Body<P, K>, options?: AskOptions): Promise<Reply<P, K>>;
}

/** The life of an actor, without its protocol. */
export interface Lifecycle {
  /** The name, as it appears in errors and in the log. */
  readonly name: string;
  /**
   * Resolves when the actor has ended. Rejects with an `ActorError` as soon as it has failed; turns
   * and tasks may still be running then, which {@link Lifecycle.stop} waits for. A rejection that
   * is not handled does not end the process.
   */
  readonly done: Promise<void>;
  /**
   * Stops: refuses further asks, handles those in the mailbox, waits for every task, and releases
   * resources. May be called again, and after a failure.
   *
   * Called by the actor's own handler, or by what that handler started, it resolves immediately:
   * the stop waits for that turn.
   *
   * @returns Resolves when nothing of the actor runs any more. Never rejects:
   *   {@link Lifecycle.done} says how it ended.
   */
  stop(): Promise<void>;
  /**
   * Abandons the actor, when {@link Lifecycle.stop} takes too long: every ask not yet answered
   * rejects with `ActorStoppedError`, and `done` resolves, though a turn or a task may still be
   * running.
   */
  abandon(): void;
}

/** An actor as its owner sees it. */
export interface Actor<P extends Protocol<P>> extends ActorRef<P>, Lifecycle {}
