/**
 * How an actor is made, and its whole life.
 *
 * @module
 */

import { systemClock } from "../../base/clock.ts";
import { type Logger, loggerOf } from "../../base/log.ts";
import type { Actor, AskOptions, Body, Kind, Message, Protocol, Reply } from "./actor.ts";
import { ActorError, ActorStoppedError, FatalError } from "./actor_error.ts";
import { Mailbox } from "./mailbox.ts";
import { isInside, runInside } from "./turn_scope.ts";

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
   * not: asks that are queued are still handled. The reason is an `ActorStoppedError`.
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
 * the ask is answered when the promise settles.
 *
 * The actor owns the task: `stop()` waits for it, and a rejection with `fatal(cause)` ends the
 * actor. Return it from the handler: a task that is not returned answers no ask.
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

/** What an actor is made of. */
export interface SpawnOptions<P extends Protocol<P>> {
  /** The name, as it appears in errors and in the log. */
  name: string;
  /** What it does, one function for each kind of message. */
  handlers: Handlers<P>;
  /** Where a failure is reported; the default logger if absent. */
  log?: Logger;
  /** Releases resources: called after the last turn and the last task, also after a failure. */
  onStop?: () => void | Promise<void>;
}

/**
 * Starts an actor: it handles one message at a time, in order.
 *
 * What a handler throws rejects that ask; what it throws as `fatal(cause)` ends the actor.
 *
 * @param options What the actor is made of.
 * @returns The actor, ready to be asked.
 */
export function spawn<P extends Protocol<P>>(options: SpawnOptions<P>): Actor<P> {
  return new LocalActor(options);
}

/** An ask that has not been answered. */
interface Call<P extends Protocol<P>> {
  readonly kind: Message<P>["kind"];
  readonly body: Message<P>["body"];
  readonly signal: AbortSignal | undefined;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Listens to the signal as long as the call is queued. */
  readonly onAbort: () => void;
}

class LocalActor<P extends Protocol<P>> implements Actor<P> {
  readonly name: string;
  readonly done: Promise<void>;
  readonly #handlers: Handlers<P>;
  readonly #mailbox = new Mailbox<Call<P>>();
  readonly #log: Logger;
  readonly #onStop: SpawnOptions<P>["onStop"];
  readonly #stopping = new AbortController();
  readonly #context: TurnContext = { stopping: this.#stopping.signal };
  readonly #done = Promise.withResolvers<void>();
  readonly #stopped = Promise.withResolvers<void>();
  readonly #tasks = new Map<Call<P>, Promise<void>>();
  #turn: Call<P> | undefined;
  #ended = false;
  #failure: ActorError | undefined;

  constructor(options: SpawnOptions<P>) {
    const { name, handlers, log, onStop } = options;
    this.name = name;
    this.#log = loggerOf(log, systemClock, "actors", name);
    this.#onStop = onStop;
    this.#handlers = handlers;
    this.done = this.#done.promise;
    this.done.catch(() => {}); // `#fail` logs it, so the owner need not handle it
    runInside(this, () => this.#live()).then(this.#stopped.resolve, this.#stopped.reject);
  }

  ask<K extends Kind<P>>(kind: K, body: Body<P, K>, options?: AskOptions): Promise<Reply<P, K>> {
    const signal = options?.signal;
    return new Promise((resolve, reject) => {
      const call: Call<P> = {
        kind,
        body,
        signal,
        // The reply of a call is of the type its kind says: a handler of another type does not
        // compile.
        resolve: resolve as (reply: unknown) => void,
        reject,
        onAbort: () => this.#refuse(call),
      };
      if (signal?.aborted || !this.#mailbox.send(call)) this.#refuse(call);
      else signal?.addEventListener("abort", call.onAbort, { once: true });
    });
  }

  stop(): Promise<void> {
    this.#close();
    return isInside([this]) ? Promise.resolve() : this.#stopped.promise;
  }

  abandon(): void {
    if (!this.#ended) {
      this.#end();
      this.#done.resolve();
    }
    this.#stopped.resolve(); // also after a failure: turns that were running then may never end
  }

  async #live(): Promise<void> {
    while (await this.#mailbox.ready()) await this.#receive();
    await Promise.all(this.#tasks.values());
    try {
      await this.#onStop?.();
    } catch (error) {
      this.#fail(new ActorError(this.name, { cause: error }));
    }
    this.#ended = true;
    this.#done.resolve();
  }

  /**
   * Not in the loop, whose variables would keep a message, maybe a whole batch, in memory until the
   * next one comes.
   */
  async #receive(): Promise<void> {
    const call = this.#mailbox.take();
    if (call === undefined || call.signal?.aborted) return;
    call.signal?.removeEventListener("abort", call.onAbort);
    this.#turn = call;
    try {
      const reply = await this.#handle(call);
      if (reply instanceof Later) this.#tasks.set(call, this.#finish(call, reply.promise));
      else call.resolve(reply);
    } catch (error) {
      this.#reject(call, error);
    }
    this.#turn = undefined;
  }

  #handle(call: Call<P>): unknown {
    const { signal } = call;
    return this.#handlers[call.kind](
      call.body,
      signal === undefined ? this.#context : { ...this.#context, signal },
    );
  }

  async #finish(call: Call<P>, task: Promise<unknown>): Promise<void> {
    try {
      call.resolve(await task);
    } catch (error) {
      this.#reject(call, error);
    }
    this.#tasks.delete(call);
  }

  #reject(call: Call<P>, error: unknown): void {
    if (!(error instanceof FatalError)) return call.reject(error);
    const failure = new ActorError(this.name, { kind: call.kind, cause: error.cause });
    call.reject(failure);
    this.#fail(failure);
  }

  #refuse(call: Call<P>): void {
    if (call.signal?.aborted) return call.reject(call.signal.reason);
    call.reject(new ActorStoppedError(this.name, { kind: call.kind, cause: this.#failure }));
  }

  #fail(failure: ActorError): void {
    if (this.#failure !== undefined && this.#failure.cause === failure.cause) return; // one failure of several tasks
    const told = { actor: this.name, kind: failure.kind, error: failure.cause };
    if (this.#ended) return this.#log.error("An actor failed after its end", told); // which nothing else says
    this.#failure = failure;
    this.#end();
    this.#done.reject(failure);
    this.#log.debug("An actor failed", told); // `done` says so
  }

  #close(): void {
    this.#mailbox.close();
    this.#stopping.abort(new ActorStoppedError(this.name));
  }

  /** Answers every ask. Turns and tasks that are running may go on, but no ask waits for them. */
  #end(): void {
    this.#ended = true;
    for (const call of this.#mailbox.clear()) {
      call.signal?.removeEventListener("abort", call.onAbort);
      this.#refuse(call);
    }
    for (const call of this.#tasks.keys()) this.#refuse(call);
    if (this.#turn !== undefined) this.#refuse(this.#turn);
    this.#close();
  }
}
