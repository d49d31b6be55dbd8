/**
 * The actor that the contract suite asks.
 *
 * @module
 */

import {
  type Actor,
  fatal,
  type Later,
  later,
  spawn,
  type TurnContext,
} from "../../../src/actors/kernel/mod.ts";
import { recordingLogger } from "./support.ts";

/** An error with more to it than a message. */
export class DetailedError extends Error {
  override readonly name = "DetailedError";
  readonly code = "DETAILED";
  readonly details = { status: 418, path: ["a", "b"] };
}

const aborted = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    const end = () => resolve(String(signal.reason.message));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });

const rounds = async (): Promise<void> => {
  for (let round = 0; round < 5; round++) await Promise.resolve();
};

function given(signal: AbortSignal | undefined): AbortSignal {
  if (signal === undefined) throw new Error("this kind needs an asker with a signal");
  return signal;
}

/** What the suite needs an actor to do. */
export class ContractHandlers {
  readonly #notes: string[] = [];
  readonly #gate = Promise.withResolvers<string>();

  /** Gives the body back. */
  echo(body: unknown): unknown {
    return body;
  }

  /** Takes a few rounds of the microtask queue, and notes when it begins and when it ends. */
  async note(name: string): Promise<void> {
    this.#notes.push(`${name} begins`);
    await rounds();
    this.#notes.push(`${name} ends`);
  }

  /** What has been noted so far. */
  notes(): string[] {
    return this.#notes;
  }

  /** A turn that lasts until its asker aborts; answers with what the reason says. */
  untilAborted(_: undefined, { signal }: TurnContext): Promise<string> {
    return aborted(given(signal));
  }

  /** A turn that throws when its asker aborts: the signal's reason, or something else. */
  async thrownByAbort(what: "reason" | "other", { signal }: TurnContext): Promise<never> {
    await aborted(given(signal));
    throw what === "reason" ? signal?.reason : new TypeError("something else");
  }

  /** A turn that nothing ends. */
  stuck(): Promise<void> {
    return new Promise(() => {});
  }

  /** A task that lasts until `open` is asked. */
  gate(): Later<string> {
    return later(this.#gate.promise);
  }

  /** Ends the task of `gate`. */
  open(word: string): void {
    this.#gate.resolve(word);
  }

  /** A task that lasts until the actor stops, and then takes a few rounds more. */
  untilStopping(_: undefined, { stopping }: TurnContext): Later<string> {
    const task = async () => {
      const reason = await aborted(stopping);
      await rounds();
      return reason;
    };
    return later(task());
  }

  /** Throws. */
  fail(how: "error" | "type" | "text" | "task"): Later<void> {
    const error = new DetailedError("no luck", { cause: new RangeError("too far") });
    if (how === "task") return later(Promise.reject(error));
    // deno-lint-ignore no-throw-literal -- what handlers of others may do
    if (how === "text") throw "just text";
    throw how === "type" ? new TypeError("wrong type") : error;
  }

  /** Throws what the actor can't survive. */
  failForGood(how: "turn" | "task"): Later<void> {
    const error = fatal(new DetailedError("beyond repair"));
    if (how === "task") return later(Promise.reject(error));
    throw error;
  }
}

/** Starts an actor of the suite. */
export function contractActor(): Actor<ContractHandlers> {
  return spawn({ name: "contract", handlers: new ContractHandlers(), log: recordingLogger() });
}
