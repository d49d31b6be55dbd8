/**
 * Actors, as types: the handlers of one say what it can be asked, a reference is what it is asked by.
 *
 * Handlers are the methods of a class, one for each kind of message, from body to reply; what
 * releases resources is its `[Symbol.asyncDispose]()`:
 *
 * ```ts ignore
 * class Counter {
 *   #sum = 0;
 *   add({ by }: { by: number }): number {
 *     return this.#sum += by;
 *   }
 * }
 * const counter = spawn({ name: "counter", handlers: new Counter() });
 * await counter.add({ by: 2 });
 * ```
 *
 * A reference has the same methods, so that an editor goes from a call to the handler. A call is a
 * message on the actor's channel: handled in its turn, and always answered. Bodies and replies are
 * plain data. Who asks whom is a graph without cycles: two actors that ask each other could wait for
 * each other for ever.
 *
 * @module
 */

import { platform } from "../../base/platform/mod.ts";

/** What handles one kind of message: from its body to the reply. */
// deno-lint-ignore no-explicit-any -- the body is contravariant: `unknown` would refuse every handler
export type Handler = (body: any, context: TurnContext) => unknown;

/** The constraint on handlers: every member is one, and none is called as what an actor has anyway. */
export type Handlers<H> = {
  [K in keyof H]: K extends symbol ? unknown : K extends keyof Lifecycle ? never : Handler;
};

/** The kinds of message of an actor. */
export type Kind<H> = Extract<keyof H, string>;

/** What a message carries; `undefined` if its handler takes nothing. */
export type Body<F extends Handler> = Parameters<F>[0];

/** What a message is answered with. */
export type Reply<F extends Handler> = Settled<ReturnType<F>>;

type Settled<R> = R extends Promise<infer T> ? Settled<T> : R extends Later<infer T> ? T : R;

/** The options of one message. */
export interface AskOptions {
  /**
   * Cancels the message. While it is queued it rejects immediately with the signal's reason, and its
   * turn never runs. Once its turn runs, the handler gets the signal and decides.
   */
  signal?: AbortSignal;
}

/**
 * Sends a message, and is answered, in order. The channel is unbounded: an asker of many messages
 * waits for replies in between.
 *
 * Rejects with what the handler threw; with `ActorError` if the actor failed at it; with
 * `ActorStoppedError` if the actor ended before the turn came.
 */
export type Ask<F extends Handler> = 0 extends Parameters<F>["length"]
  ? (body?: Body<F>, options?: AskOptions) => Promise<Reply<F>>
  : (body: Body<F>, options?: AskOptions) => Promise<Reply<F>>;

/** All that an asker sees of an actor: a method for each kind of message. */
export type ActorRef<H> = {
  readonly [K in keyof H as K extends string ? K : never]: H[K] extends Handler ? Ask<H[K]> : never;
};

/** The life of an actor, without what it can be asked. */
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
   * Stops: refuses further messages, handles those in the channel, waits for every task, and releases
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
   * Abandons the actor, when {@link Lifecycle.stop} takes too long: every message not yet answered
   * rejects with `ActorStoppedError`, and `done` resolves, though a turn or a task may still be
   * running.
   */
  abandon(): void;
}

/** An actor as its owner sees it. */
export type Actor<H> = ActorRef<H> & Lifecycle;

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

const scope = new platform.AsyncLocalStorage<object | undefined>();

/**
 * Runs the life of an actor; whatever it calls or starts is inside.
 *
 * @param actor The actor.
 * @param life What to run.
 * @returns What that returned.
 */
export function runInside<T>(actor: object, life: () => T): T {
  return scope.run(actor, life);
}

/**
 * Runs work that waits for turns, also for its caller's own.
 *
 * @param work What to run.
 * @returns What that returned.
 */
export function runOutside<T>(work: () => T): T {
  return scope.run(undefined, work);
}

/** Returns whether the caller is inside one of these actors. */
export function isInside(actors: readonly object[]): boolean {
  const actor = scope.getStore();
  return actor !== undefined && actors.includes(actor);
}
