/**
 * The actor that the contract suite asks.
 *
 * @module
 */

import type { Actor } from "../../../src/actors/kernel/actor.ts";
import { fatal } from "../../../src/actors/kernel/actor_error.ts";
import { later, spawn } from "../../../src/actors/kernel/spawn.ts";
import { recordingLogger } from "./support.ts";

/** What the suite needs an actor to do. */
export interface ContractProtocol {
  /** Gives the body back. */
  echo(body: unknown): unknown;
  /** Takes a few rounds of the microtask queue, and notes when it begins and when it ends. */
  note(name: string): void;
  /** What has been noted so far. */
  notes(): string[];
  /** A turn that lasts until its asker aborts; answers with what the reason says. */
  untilAborted(): string;
  /** A turn that throws when its asker aborts: the signal's reason, or something else. */
  thrownByAbort(what: "reason" | "other"): never;
  /** A turn that nothing ends. */
  stuck(): void;
  /** A task that lasts until `open` is asked. */
  gate(): string;
  /** Ends the task of `gate`. */
  open(word: string): void;
  /** A task that lasts until the actor stops, and then takes a few rounds more. */
  untilStopping(): string;
  /** Throws. */
  fail(how: "error" | "type" | "text" | "task"): void;
  /** Throws what the actor can't survive. */
  failForGood(how: "turn" | "task"): void;
}

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

/** Starts an actor of the suite. */
export function contractActor(): Actor<ContractProtocol> {
  const notes: string[] = [];
  const gate = Promise.withResolvers<string>();
  return spawn<ContractProtocol>({
    name: "contract",
    log: recordingLogger(),
    handlers: {
      echo: (body) => body,
      note: async (name) => {
        notes.push(`${name} begins`);
        await rounds();
        notes.push(`${name} ends`);
      },
      notes: () => notes,
      untilAborted: (_, { signal }) => aborted(given(signal)),
      thrownByAbort: async (what, { signal }) => {
        await aborted(given(signal));
        throw what === "reason" ? signal?.reason : new TypeError("something else");
      },
      stuck: () => new Promise<void>(() => {}),
      gate: () => later(gate.promise),
      open: (word) => gate.resolve(word),
      untilStopping: (_, { stopping }) => {
        const task = async () => {
          const reason = await aborted(stopping);
          await rounds();
          return reason;
        };
        return later(task());
      },
      fail: (how) => {
        const error = new DetailedError("no luck", { cause: new RangeError("too far") });
        if (how === "task") return later(Promise.reject(error));
        // deno-lint-ignore no-throw-literal -- what handlers of others may do
        if (how === "text") throw "just text";
        throw how === "type" ? new TypeError("wrong type") : error;
      },
      failForGood: (how) => {
        const error = fatal(new DetailedError("beyond repair"));
        if (how === "task") return later(Promise.reject(error));
        throw error;
      },
    },
  });
}
