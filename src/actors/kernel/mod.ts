/**
 * Actors, without any Matrix: how one is made, and its whole life.
 *
 * Over 300 lines because the door of the folder is its main function.
 *
 * @module
 */

import { systemClock } from "../../base/clock.ts";
import { type Logger, loggerOf } from "../../base/log.ts";
import {
  type Actor,
  type AskOptions,
  type Handler,
  type Handlers,
  isInside,
  Later,
  type Lifecycle,
  runInside,
  type TurnContext,
} from "./actor.ts";
import { ActorError, ActorStoppedError, FatalError } from "./supervisor.ts";

export {
  type Actor,
  type ActorRef,
  isInside,
  type Later,
  later,
  type Lifecycle,
  type TurnContext,
} from "./actor.ts";
export {
  ActorError,
  type ActorErrorInit,
  ActorStoppedError,
  fatal,
  reasonOf,
  Supervisor,
  unwrapped,
} from "./supervisor.ts";

/** What an actor is made of. */
interface SpawnOptions<H extends Handlers<H>> {
  /** The name, as it appears in errors and in the log. */
  name: string;
  /**
   * What it does: an object of a class of which each method handles a kind of message. If it can be
   * disposed of, that is done after the last turn and the last task, also after a failure.
   */
  handlers: H;
  /** Where a failure is reported; the default logger if absent. */
  log?: Logger;
}

/**
 * Starts an actor: it handles one message at a time, in order.
 *
 * What a handler throws rejects that message; what it throws as `fatal(cause)` ends the actor.
 *
 * @param options What the actor is made of.
 * @returns The actor, ready to be asked.
 */
export function spawn<H extends Handlers<H>>(options: SpawnOptions<H>): Actor<H> {
  const made = new (LocalActor.of(options.handlers))(options);
  return made as unknown as Actor<H>; // it has the methods of the handlers' class
}

/** A message that has not been answered. */
interface Call {
  readonly kind: string;
  readonly body: unknown;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Listens to the signal as long as the call is queued; undefined: there is none. */
  readonly onAbort: (() => void) | undefined;
}

/** Handlers, by the kind of message. */
type Messages = Readonly<Record<string, Handler>> & Partial<AsyncDisposable>;

/** The classes of actors, by the prototypes of their handlers. */
const classes = new WeakMap<object, typeof LocalActor>();

class LocalActor implements Lifecycle {
  readonly name: string;
  readonly done: Promise<void>;
  readonly #handlers: Messages;
  readonly #channel = new Channel<Call>();
  readonly #log: Logger;
  readonly #stopping = new AbortController();
  readonly #context: TurnContext = { stopping: this.#stopping.signal };
  readonly #done = Promise.withResolvers<void>();
  readonly #stopped = Promise.withResolvers<void>();
  readonly #tasks = new Map<Call, Promise<void>>();
  #turn: Call | undefined;
  #ended = false;
  #failure: ActorError | undefined;

  constructor({ name, handlers, log }: SpawnOptions<object>) {
    this.name = name;
    this.#log = loggerOf(log, systemClock, "actors", name);
    this.#handlers = handlers as Messages; // as `Handlers` says
    this.done = this.#done.promise;
    this.done.catch(() => {}); // `#fail` logs it, so the owner need not handle it
    runInside(this, () => this.#live()).then(this.#stopped.resolve, this.#stopped.reject);
  }

  /** A class of actors with a method for each kind of message: its objects cost no more for them. */
  static of(handlers: object): typeof LocalActor {
    const prototype: object = Object.getPrototypeOf(handlers);
    return classes.getOrInsertComputed(prototype, () => {
      class AskedActor extends LocalActor {}
      for (const kind of Object.getOwnPropertyNames(prototype)) {
        if (kind === "constructor") continue;
        Object.defineProperty(AskedActor.prototype, kind, {
          value(this: LocalActor, body?: unknown, { signal }: AskOptions = {}): Promise<unknown> {
            const { promise, resolve, reject } = Promise.withResolvers<unknown>();
            const onAbort = signal && (() => this.#refuse(call));
            const call: Call = { kind, body, signal, resolve, reject, onAbort };
            if (signal?.aborted || !this.#channel.send(call)) this.#refuse(call);
            else if (onAbort !== undefined) signal?.addEventListener("abort", onAbort, { once: true });
            return promise;
          },
        });
      }
      return AskedActor;
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
    while (await this.#channel.ready()) await this.#receive();
    await Promise.all(this.#tasks.values());
    try {
      await this.#handlers[Symbol.asyncDispose]?.();
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
    const call = this.#channel.take();
    if (call === undefined || call.signal?.aborted) return;
    const { kind, body, signal, onAbort } = call;
    if (onAbort !== undefined) signal?.removeEventListener("abort", onAbort);
    this.#turn = call;
    try {
      const context = signal === undefined ? this.#context : { ...this.#context, signal };
      const reply = await this.#handlers[kind]?.(body, context);
      if (reply instanceof Later) this.#tasks.set(call, this.#finish(call, reply.promise));
      else call.resolve(reply);
    } catch (error) {
      this.#reject(call, error);
    }
    this.#turn = undefined;
  }

  async #finish(call: Call, task: Promise<unknown>): Promise<void> {
    try {
      call.resolve(await task);
    } catch (error) {
      this.#reject(call, error);
    }
    this.#tasks.delete(call);
  }

  #reject(call: Call, error: unknown): void {
    if (!(error instanceof FatalError)) return call.reject(error);
    const failure = new ActorError(this.name, { kind: call.kind, cause: error.cause });
    call.reject(failure);
    this.#fail(failure);
  }

  #refuse(call: Call): void {
    if (call.signal?.aborted) return call.reject(call.signal.reason);
    call.reject(new ActorStoppedError(this.name, { kind: call.kind, cause: this.#failure }));
  }

  #fail(failure: ActorError): void {
    // One failure of several tasks.
    if (this.#failure !== undefined && this.#failure.cause === failure.cause) return;
    const told = { actor: this.name, kind: failure.kind, error: failure.cause };
    if (this.#ended) return this.#log.error("An actor failed after its end", told); // which nothing else says
    this.#failure = failure;
    this.#end();
    this.#done.reject(failure);
    this.#log.debug("An actor failed", told); // `done` says so
  }

  #close(): void {
    this.#channel.close();
    this.#stopping.abort(new ActorStoppedError(this.name));
  }

  /** Answers every message. Turns and tasks that are running may go on, but no answer waits for them. */
  #end(): void {
    this.#ended = true;
    for (const call of this.#channel.clear()) {
      if (call.onAbort !== undefined) call.signal?.removeEventListener("abort", call.onAbort);
      this.#refuse(call);
    }
    for (const call of this.#tasks.keys()) this.#refuse(call);
    if (this.#turn !== undefined) this.#refuse(this.#turn);
    this.#close();
  }
}

interface Entry<T> {
  readonly item: T;
  next: Entry<T> | undefined;
}

/**
 * An unbounded queue, first in, first out, from many senders to one receiver.
 *
 * It holds no sender back: what may be on its way at a time is bounded where it enters, see "What
 * bounds memory" in ARCHITECTURE.md.
 */
export class Channel<T> {
  #first: Entry<T> | undefined;
  #last: Entry<T> | undefined;
  #wake: (() => void) | undefined;
  #isClosed = false;

  /**
   * Appends an item.
   *
   * @returns Whether it will be received; `false` once the channel is closed.
   */
  send(item: T): boolean {
    if (this.#isClosed) return false;
    const entry: Entry<T> = { item, next: undefined };
    if (this.#last === undefined) this.#first = entry;
    else this.#last.next = entry;
    this.#last = entry;
    this.#wake?.();
    return true;
  }

  /**
   * Waits for an item. It stays in the channel until {@link Channel.take}, so that
   * {@link Channel.clear} finds it there.
   *
   * @returns Whether there is one; `false` once the channel is closed and empty.
   */
  ready(): boolean | Promise<boolean> {
    if (this.#first !== undefined || this.#isClosed) return this.#first !== undefined;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#wake = () => {
      this.#wake = undefined;
      resolve(this.#first !== undefined);
    };
    return promise;
  }

  /** Removes the first item and returns it; `undefined` if there is none. */
  take(): T | undefined {
    const entry = this.#first;
    this.#first = entry?.next;
    if (this.#first === undefined) this.#last = undefined;
    return entry?.item;
  }

  /** Refuses further items. Those in the channel can still be received. */
  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  /** Closes the channel, empties it, and returns what was in it. */
  clear(): T[] {
    this.close();
    const items: T[] = [];
    for (let entry = this.#first; entry !== undefined; entry = entry.next) items.push(entry.item);
    this.#first = undefined;
    this.#last = undefined;
    return items;
  }
}
