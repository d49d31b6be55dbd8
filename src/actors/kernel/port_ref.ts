/**
 * The asker's side of a port.
 *
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";
import type { Actor, AskOptions, Body, Kind, Protocol, Reply } from "./actor.ts";
import { AbortWatch } from "./abort_watch.ts";
import { ActorError, ActorProtocolError, ActorStoppedError } from "./actor_error.ts";
import { Fifo, type Place } from "./fifo.ts";
import { type Endpoint, type Frame, frameOf, listen } from "./port.ts";
import { RemoteError } from "./remote_error.ts";
import { type ErrorCodec, errorCodec } from "./wire_error.ts";

/** How an actor behind a port is asked. */
export interface PortRefOptions {
  /** The name, as it appears in errors and in the log. */
  name: string;
  /**
   * How many asks may be on their way at a time; more wait here, in order. Credits: an answer gives one back.
   *
   * @default {64}
   */
  credits?: number;
  /** How errors cross; both sides should agree. */
  codec?: ErrorCodec;
  /** Runs once, when the conversation is over: the place to close the port or to terminate the Worker. */
  onClose?: () => void;
}

/**
 * An actor that lives on the far side of a port, where `serve()` answers for it.
 *
 * It can be asked, stopped and supervised like one of this thread. A failure there is one here, and so is the end of the
 * Worker. A port whose far side vanishes without a word gives no sign in Deno; a supervisor's deadline ends that wait.
 *
 * @param endpoint This side of the port.
 * @param options Name, credits, and how errors cross.
 * @returns The actor.
 * @throws {ValueError} If the credits are no positive integer.
 */
export function portRef<P extends Protocol<P>>(endpoint: Endpoint, options: PortRefOptions): Actor<P> {
  return new RemoteActor(endpoint, options);
}

interface Call {
  readonly kind: string;
  readonly body: unknown;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Where it waits for a credit, or the ID under which it is on its way. */
  at: Place<Call> | number | undefined;
}

class RemoteActor<P extends Protocol<P>> implements Actor<P> {
  readonly name: string;
  readonly done: Promise<void>;
  readonly #endpoint: Endpoint;
  readonly #credits: number;
  readonly #codec: ErrorCodec;
  readonly #onClose: (() => void) | undefined;
  readonly #detach: () => void;
  readonly #waiting = new Fifo<Call>();
  readonly #sent = new Map<number, Call>();
  readonly #aborts = new AbortWatch<Call>((call) => this.#cancel(call));
  readonly #done = Promise.withResolvers<void>();
  readonly #stopped = Promise.withResolvers<void>();
  #lastId = 0;
  #closing = false;
  #over = false;
  #failure: ActorError | undefined;

  constructor(endpoint: Endpoint, options: PortRefOptions) {
    const { name, credits = 64 } = options;
    if (!Number.isSafeInteger(credits) || credits < 1) {
      throw new ValueError(`Cannot ask actor "${name}": its credits are ${credits}; give a positive integer`);
    }
    this.name = name;
    this.#endpoint = endpoint;
    this.#credits = credits;
    this.#codec = options.codec ?? errorCodec();
    this.#onClose = options.onClose;
    this.done = this.#done.promise;
    this.done.catch(() => {}); // whoever owns the actor looks at `done` if it wants to
    this.#detach = listen(endpoint, {
      message: (event) => this.#receive(frameOf(event)),
      messageerror: () => this.#lost("a message that can't be read came through the port"),
      error: (event) => {
        event.preventDefault(); // reported through `done`, instead of ending the process
        this.#lost(event instanceof ErrorEvent ? event.message : "the Worker failed");
      },
      close: () => this.#lost("the port was closed"),
    });
  }

  ask<K extends Kind<P>>(kind: K, body: Body<P, K>, options?: AskOptions): Promise<Reply<P, K>> {
    const signal = options?.signal;
    return new Promise((resolve, reject) => {
      // The far side is held to the same protocol; its handlers would not compile with a reply of another type.
      this.#enqueue({
        kind,
        body,
        signal,
        resolve: resolve as (reply: unknown) => void,
        reject,
        at: undefined,
      });
    });
  }

  stop(): Promise<void> {
    if (!this.#closing) {
      this.#close();
      this.#post({ type: "bye" });
    }
    return this.#stopped.promise;
  }

  abandon(): void {
    if (this.#over) return;
    if (!this.#closing) this.#post({ type: "bye" });
    this.#end();
  }

  #enqueue(call: Call): void {
    if (call.signal?.aborted) return call.reject(call.signal.reason);
    if (this.#closing) return this.#refuse(call);
    if (call.signal !== undefined) this.#aborts.add(call.signal, call);
    call.at = this.#waiting.push(call);
    this.#sendNext();
  }

  #sendNext(): void {
    while (this.#sent.size < this.#credits) {
      const call = this.#waiting.shift()?.item;
      if (call === undefined) return;
      this.#send(call);
    }
  }

  #send(call: Call): void {
    const { kind, body, signal } = call;
    const id = ++this.#lastId;
    try {
      this.#post({ type: "ask", id, kind, body, cancellable: signal !== undefined });
    } catch (cause) {
      this.#unwatch(call);
      const message =
        `Cannot ask "${kind}" of actor "${this.name}": the body can't be cloned; send plain data`;
      return call.reject(new ActorProtocolError(message, { cause }));
    }
    call.at = id;
    this.#sent.set(id, call);
  }

  #cancel(call: Call): void {
    const { at, signal, reject } = call;
    if (typeof at === "number") {
      // The answer will come: at once if the far side still had it queued, else when its handler is done.
      this.#post({ type: "cancel", id: at, reason: this.#codec.encode(signal?.reason) });
    } else if (at !== undefined) {
      this.#waiting.remove(at);
      reject(signal?.reason);
    }
  }

  #receive(frame: Frame | undefined): void {
    if (frame?.type === "reply") this.#answer(frame);
    else if (frame?.type === "failed") this.#fail(this.#codec.decode(frame.error));
    else if (frame?.type === "bye") this.#end();
  }

  #answer(frame: Frame & { type: "reply" }): void {
    const call = this.#sent.get(frame.id);
    if (call === undefined) return; // a frame nobody waits for
    this.#sent.delete(frame.id);
    this.#unwatch(call);
    if (frame.ok) call.resolve(frame.value);
    else if (frame.cancelled) call.reject(call.signal?.reason);
    else call.reject(this.#codec.decode(frame.error));
    this.#sendNext();
  }

  #lost(state: string): void {
    this.#fail(new RemoteError(state, { name: "PortError" }));
    this.#post({ type: "bye" });
    this.#end();
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error instanceof ActorError ? error : new ActorError(this.name, { cause: error });
    this.#done.reject(this.#failure);
    this.#close();
    this.#refuseSent();
  }

  #end(): void {
    this.#over = true;
    this.#close();
    this.#refuseSent();
    this.#done.resolve();
    this.#detach();
    this.#stopped.resolve();
    this.#onClose?.();
  }

  /** What is on its way will be answered; what waits for a credit goes back. */
  #close(): void {
    this.#closing = true;
    for (let place = this.#waiting.shift(); place !== undefined; place = this.#waiting.shift()) {
      this.#refuse(place.item);
    }
  }

  #refuseSent(): void {
    for (const call of this.#sent.values()) this.#refuse(call);
    this.#sent.clear();
  }

  #refuse(call: Call): void {
    this.#unwatch(call);
    call.reject(new ActorStoppedError(this.name, { kind: call.kind, cause: this.#failure }));
  }

  #unwatch(call: Call): void {
    if (call.signal !== undefined) this.#aborts.delete(call.signal, call);
  }

  #post(frame: Frame): void {
    this.#endpoint.postMessage(frame);
  }
}
