/**
 * One call of a handler: what was begun in it, and where failures go that nobody awaits.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { HandlerScope } from "./handler_scope.ts";

/** How many turns of the microtask queue pass until what comes after something has begun, if it does. */
const TURNS = 10;

const calls = new AsyncLocalStorage<HandlerCall>();
let isListening = false;

/** One call of a handler. */
export class HandlerCall {
  /** The delivery, if it may come again. */
  readonly scope: HandlerScope | undefined;
  readonly #failed: (error: unknown) => void;
  /** How much was begun and has not ended. */
  #pending = 0;
  /** Resolves when nothing is pending; undefined: nobody waits for that. */
  #idle: PromiseWithResolvers<void> | undefined;

  /**
   * @param scope The delivery.
   * @param failed Gets what was thrown where nobody awaits it, which would end the process.
   */
  constructor(scope: HandlerScope | undefined, failed: (error: unknown) => void) {
    this.scope = scope;
    this.#failed = failed;
  }

  /** Calls the handler; whatever it calls or starts is inside. */
  run<Event, Context>(
    handler: (event: Event, context: Context) => unknown,
    event: Event,
    context: Context,
  ): unknown {
    listen();
    return calls.run(this, handler, event, context);
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

  /** Counts something until it has ended. What is returned is to be awaited in its place. */
  begin<Result>(work: Promise<Result>): Promise<Result> {
    this.#pending++;
    return work.finally(() => {
      if (--this.#pending > 0) return;
      this.#idle?.resolve();
      this.#idle = undefined;
    });
  }

  /** Takes a failure that nobody awaits. */
  fail(error: unknown): void {
    this.#failed(error);
  }
}

/** The call that the caller is inside of. */
export function currentCall(): HandlerCall | undefined {
  return calls.getStore();
}

/** The delivery that the caller is inside of, if it may come again. */
export function currentHandler(): HandlerScope | undefined {
  return calls.getStore()?.scope;
}

/**
 * Has promises that fail in a handler, and that nobody awaits, reported as its failure. Others, and those that
 * the application has seen to, are left to the application.
 */
function listen(): void {
  if (isListening) return;
  isListening = true;
  globalThis.addEventListener("unhandledrejection", (event) => {
    const call = event.defaultPrevented ? undefined : currentCall();
    if (call === undefined) return;
    event.preventDefault();
    call.fail(event.reason);
  });
}
