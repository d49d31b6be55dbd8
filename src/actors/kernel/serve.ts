/**
 * The actor's side of a port.
 *
 * @module
 */

import type { Actor, Protocol } from "./actor.ts";
import { ActorError, ActorProtocolError } from "./actor_error.ts";
import { type Endpoint, type Frame, frameOf, listen } from "./port.ts";
import { type ErrorCodec, errorCodec } from "./wire_error.ts";

/** How an actor is served. */
export interface ServeOptions {
  /** How errors cross; both sides should agree. */
  codec?: ErrorCodec;
  /**
   * The actor has other askers, and outlives this port: a `stop()` on the far side ends the conversation, not the actor.
   *
   * @default {false}
   */
  shared?: boolean;
  /** Runs once, when the conversation is over: the place to close the port. */
  onClose?: () => void;
}

/** Any protocol at all: a frame is data from outside, and it is the actor that knows which kinds it handles. */
type AnyProtocol = Record<string, (body: unknown) => unknown>;

/**
 * Lets the far side of a port ask an actor, through `portRef()`.
 *
 * Every ask that comes in is answered, and the far side learns how the actor ended. When the far side stops it, the actor
 * is stopped, and its last word goes out after everything it had to say.
 *
 * @param actor The actor.
 * @param endpoint This side of the port; in a Worker, `self`.
 * @param options How errors cross, and whose the actor is.
 */
export function serve<P extends Protocol<P>>(
  actor: Actor<P>,
  endpoint: Endpoint,
  options: ServeOptions = {},
): void {
  new Server(actor as unknown as Actor<AnyProtocol>, endpoint, options).run();
}

class Server {
  readonly #actor: Actor<AnyProtocol>;
  readonly #endpoint: Endpoint;
  readonly #codec: ErrorCodec;
  readonly #shared: boolean;
  readonly #onClose: (() => void) | undefined;
  readonly #answers = new Map<number, Promise<void>>();
  readonly #controllers = new Map<number, AbortController>();
  readonly #left = Promise.withResolvers<void>();

  constructor(actor: Actor<AnyProtocol>, endpoint: Endpoint, options: ServeOptions) {
    this.#actor = actor;
    this.#endpoint = endpoint;
    this.#codec = options.codec ?? errorCodec();
    this.#shared = options.shared ?? false;
    this.#onClose = options.onClose;
  }

  async run(): Promise<void> {
    const detach = listen(this.#endpoint, {
      message: (event) => this.#receive(frameOf(event)),
      messageerror: () => this.#lost(),
      close: () => this.#leave(),
    });
    await Promise.race([this.#ended(), this.#left.promise]);
    await Promise.all(this.#answers.values());
    this.#post({ type: "bye" });
    detach();
    this.#onClose?.();
  }

  /** Until nothing of the actor runs any more; says at once that it failed. */
  async #ended(): Promise<void> {
    try {
      await this.#actor.done;
    } catch (error) {
      this.#post({ type: "failed", error: this.#codec.encode(error) });
    }
    await this.#actor.stop();
  }

  #receive(frame: Frame | undefined): void {
    if (frame?.type === "ask") this.#ask(frame);
    else if (frame?.type === "cancel") {
      this.#controllers.get(frame.id)?.abort(this.#codec.decode(frame.reason));
    } else if (frame?.type === "bye") this.#leave();
  }

  #ask(frame: Frame & { type: "ask" }): void {
    const { id, cancellable } = frame;
    if (this.#answers.has(id)) return; // an ID in use again: nobody could tell the two answers apart
    if (cancellable) this.#controllers.set(id, new AbortController());
    this.#answers.set(id, this.#answer(frame, this.#controllers.get(id)?.signal));
  }

  async #answer({ id, kind, body }: Frame & { type: "ask" }, signal: AbortSignal | undefined): Promise<void> {
    try {
      this.#reply(id, kind, await this.#actor.ask(kind, body, { signal }));
    } catch (error) {
      const cancelled = signal?.aborted === true && error === signal.reason;
      this.#post({ type: "reply", id, ok: false, error: this.#codec.encode(error), cancelled });
    }
    this.#answers.delete(id);
    this.#controllers.delete(id);
  }

  #reply(id: number, kind: string, value: unknown): void {
    try {
      this.#post({ type: "reply", id, ok: true, value });
    } catch (cause) {
      throw new ActorProtocolError(
        `Cannot answer "${kind}" of actor "${this.#actor.name}": the reply can't be cloned; answer with plain data`,
        { cause },
      );
    }
  }

  /** The asker takes its leave: it asks no more, and waits for what it has asked. */
  #leave(): void {
    if (this.#shared) this.#left.resolve();
    else this.#actor.stop();
  }

  /** A frame could not be read: whoever sent it would wait for ever, so the conversation ends. */
  #lost(): void {
    const cause = new ActorProtocolError(
      "Cannot read a message of the port: it can't be cloned; send plain data",
    );
    this.#post({ type: "failed", error: this.#codec.encode(new ActorError(this.#actor.name, { cause })) });
    this.#leave();
  }

  #post(frame: Frame): void {
    this.#endpoint.postMessage(frame);
  }
}
