/**
 * One call of a handler: the delivery that it is part of, what was begun in it, and where failures go that
 * nobody awaits.
 *
 * @module
 */

import { platform } from "./platform/mod.ts";
import type { RoomID, TransactionID, UserID } from "../types/ids.ts";
import { type CallSite, noteCallSite } from "./own_code.ts";

/** An event or message that is about to be sent, before it is encrypted. */
export interface Outgoing {
  /** The room; absent of what goes to devices. */
  readonly roomId?: RoomID;
  /** What it is. */
  readonly type: string;
  readonly content: unknown;
  /** As whom it is sent, if not as the own user. */
  readonly asUserId?: UserID;
  /** Whether the server sees what it says. Default: false. */
  readonly inClear?: boolean;
}

/** One run of one handler for one event. */
export interface HandlerScope {
  /** The same in every run of this handler for this event, also after a restart. */
  readonly name: string;
  /**
   * Makes the transaction ID of a send: the same in every run that sends the same as often, or
   * under the same key.
   *
   * @throws {ValueError} If the run has used the key for another type, or in another room.
   */
  transactionId(outgoing: Outgoing, key: string | undefined): Promise<TransactionID>;
}

/** How many turns of the microtask queue pass until what comes after something has begun, if it does. */
const TURNS = 10;

/** A call, whatever the handler is called with. */
type AnyCall = Pick<HandlerCall, "scope" | "begin" | "describe" | "fail">;

const calls = new platform.AsyncLocalStorage<AnyCall | undefined>();
let isListening = false;

/** What a call has said of itself that has said nothing. */
const NOTHING = {};

export class HandlerCall<Event = unknown> {
  /** What the handler is called with. */
  readonly event: Event;
  /** The delivery, if it may come again. */
  readonly scope: HandlerScope | undefined;
  /** What the handler has said of itself, for the log of its failure. */
  details: Readonly<Record<string, unknown>> = NOTHING;
  readonly #failed: (error: unknown, call: HandlerCall<Event>) => void;
  /** Gets failures before that, and says whether it has seen to them. */
  #unawaited: ((error: unknown) => boolean) | undefined;
  /** How much was begun and has not ended. */
  #pending = 0;
  /** Resolves when nothing is pending; undefined: nobody waits for that. */
  #idle: PromiseWithResolvers<void> | undefined;

  /**
   * @param event What the handler is called with.
   * @param scope The delivery.
   * @param failed Gets what was thrown where nobody awaits it, which would end the process.
   */
  constructor(
    event: Event,
    scope: HandlerScope | undefined,
    failed: (error: unknown, call: HandlerCall<Event>) => void,
  ) {
    this.event = event;
    this.scope = scope;
    this.#failed = failed;
  }

  /** Calls the handler; whatever it calls or starts is inside. */
  run<Context extends object>(
    handler: (event: Event, context: Context) => unknown,
    context: Context,
  ): unknown {
    if (!isListening) listen();
    return calls.run(this, callInScope<Event, Context>, handler, this.event, context);
  }

  /** Whether something was begun that has not ended. */
  get isBusy(): boolean {
    return this.#pending > 0;
  }

  /** Waits for what was begun, awaited or not, and for what begins when that has ended. */
  async settled(): Promise<void> {
    while (this.#pending > 0) {
      await (this.#idle ??= Promise.withResolvers()).promise;
      for (let turn = 0; turn < TURNS; turn++) await Promise.resolve();
    }
  }

  /**
   * Counts something until it has ended.
   *
   * @param work It, which is to be awaited by what is returned.
   * @param site Where it was called.
   */
  async begin<Result>(work: Promise<Result>, site: CallSite): Promise<Result> {
    this.#pending++;
    try {
      return await work;
    } catch (error) {
      noteCallSite(error, site);
      throw error;
    } finally {
      if (--this.#pending === 0) {
        this.#idle?.resolve();
        this.#idle = undefined;
      }
    }
  }

  /**
   * Says more of it.
   *
   * @param details For the log of its failure.
   * @param unawaited Gets what fails and is not awaited, and says whether it has seen to that. Default: it
   *   has not.
   */
  describe(details: Readonly<Record<string, unknown>>, unawaited?: (error: unknown) => boolean): void {
    this.details = details;
    this.#unawaited = unawaited;
  }

  /** Takes a failure that nobody awaits. */
  fail(error: unknown): void {
    if (this.#unawaited?.(error) !== true) this.#failed(error, this);
  }
}

function callInScope<Event, Context extends object>(
  handler: (event: Event, context: Context) => unknown,
  event: Event,
  context: Context,
): unknown {
  return handler(event, platform.inScope(context));
}

/** The call that the caller is inside of. */
export function currentCall(): AnyCall | undefined {
  return calls.getStore();
}

/** The delivery that the caller is inside of, if it may come again. */
export function currentHandler(): HandlerScope | undefined {
  return calls.getStore()?.scope;
}

/** Begins work that is no part of the call that the caller is inside of. */
export function outsideOfHandlers<Result>(work: () => Result): Result {
  return calls.run(undefined, work);
}

/**
 * Has promises that fail in a handler, and that nobody awaits, reported as its failure.
 * Others, and those that the application has seen to, are left to the application.
 */
function listen(): void {
  isListening = true;
  platform.onUnawaited((reason) => {
    const call = currentCall();
    call?.fail(reason);
    return call !== undefined;
  });
}
