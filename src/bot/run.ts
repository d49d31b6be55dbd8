/**
 * One run of a bot's functions for an update: what they did, in steps that can be replayed, and
 * where they wait for an answer.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { HandlerContext } from "../../mod.ts";
import type { EventID, MatrixEvent, RoomID, UserID } from "../../types.ts";
import {
  ConversationEndedError,
  type ConversationEnding,
  ConversationError,
} from "./conversations/errors.ts";
import { type KeptError, keptError, revivedError } from "./conversations/kept_error.ts";
import type { Query } from "./queries.ts";
import type { RunTime } from "./run_time.ts";

/** What a step of a run came to: plain data. */
export interface Step {
  /** What it was, to notice when a replay goes another way. */
  readonly kind: string;
  /** What it returned. */
  value?: unknown;
  /** What it threw. */
  error?: KeptError;
  /** How the conversation was ended in it. */
  end?: ConversationEnding;
}

/** What a run waits for. */
export interface Wait {
  /** The place of the step among the steps. */
  readonly at: number;
  /** The room. */
  readonly room: RoomID;
  /** Which events, by their queries. */
  readonly queries: readonly Query[];
  /** Whose; undefined: anybody's. */
  readonly from: UserID | undefined;
  /** The thread's first event; empty: outside of threads; undefined: anywhere in the room. */
  readonly thread: EventID | "" | undefined;
  /** Only reactions to this event; text is not concerned. */
  readonly reactionTo: EventID | undefined;
  /** Until when, in milliseconds since the epoch. */
  readonly until: number;
}

/** An event with what is known of its encryption. */
export interface KeptEvent {
  /** Its type, as `Client.on()` has it. */
  readonly type: string;
  /** The event. */
  readonly event: MatrixEvent;
  /** What `encryptionOf()` said of it. */
  readonly encryption: unknown;
}

/** An answer that may be the one. */
export interface Answer {
  /** The step that waits. */
  readonly at: number;
  /** The event. */
  readonly kept: KeptEvent;
}

/** How a run ended: done, waiting for something, or the answer was not one. */
export type RunEnd = { readonly kind: "done" } | { readonly kind: "waits"; readonly wait: Wait } | {
  readonly kind: "refused";
};

/** What a run is made of. */
export interface RunOptions {
  /** What the client's handler was called with. */
  readonly context: HandlerContext;
  /** The steps of earlier runs. Default: none. */
  readonly steps?: readonly Step[];
  /** An answer to what the last of them waited for. */
  readonly answer?: Answer;
  /** How long it may take. */
  readonly time: RunTime;
  /** What waits until it has ended: events of one user in a room. Default: nothing. */
  readonly lane?: string;
}

/** The most steps of a conversation. */
const MAX_STEPS = 1_000;
/** The step in which something is done. */
const within = new AsyncLocalStorage<{ readonly run: Run; readonly at: string; parts: number }>();
/** The run whose functions are called. */
const calling = new AsyncLocalStorage<Run>();

/** The run in whose functions this is called; undefined: in none. */
export function currentRun(): Run | undefined {
  return calling.getStore();
}

/** One run. */
export class Run {
  /** What commits what it changes. */
  readonly context: HandlerContext;
  /** How long it may take. */
  readonly time: RunTime;
  /** What waits until it has ended; undefined: nothing. */
  readonly lane: string | undefined;
  /** Names it, in the same way when a crash makes it run again. */
  readonly id: string;
  /** What was done, and what it came to. */
  readonly steps: Step[];
  /** Is done when the run has ended. */
  readonly atEnd: (() => void)[] = [];
  readonly #kept: number;
  /** The answer, until the step that waits has taken it. */
  #answer: Answer | undefined;
  readonly #pending = new Set<Promise<unknown>>();
  readonly #end = Promise.withResolvers<RunEnd>();
  #at = 0;
  #isOver = false;
  #isCalled = false;
  #isWaiting = false;

  /** @param options What it is made of. */
  constructor({ context, steps = [], answer, time, lane }: RunOptions) {
    this.context = context;
    this.lane = lane;
    this.id = context.deliveryId ?? crypto.randomUUID();
    this.time = time;
    this.steps = [...steps];
    this.#kept = steps.length;
    this.#answer = answer;
  }

  /** Whether what comes next was done by an earlier run. */
  get isReplaying(): boolean {
    return this.#at < this.#kept;
  }

  /**
   * Does something once: a replay returns what it came to. What is done in a step is part of it, and
   * no step of its own.
   *
   * @param kind What it is.
   * @param work Does it; what it returns has to be plain data. It gets the place among the steps.
   * @throws What it throws; {@link ConversationError} if a replay goes another way.
   */
  async step<Result>(kind: string, work: (at: string) => Promise<Result>): Promise<Result> {
    if (this.#isOver) return await forever(); // left behind by a run that waits
    const outer = within.getStore();
    if (outer?.run === this) {
      this.time.check();
      return await work(`${outer.at}.${outer.parts++}`);
    }
    const at = this.#at++;
    if (at < this.#kept) return this.#replayed(kind, at) as Result;
    this.time.check();
    const step: Step = { kind };
    this.steps[at] = step;
    const done = within.run({ run: this, at: String(at), parts: 0 }, work, String(at));
    const settled = done.then((value) => {
      step.value = value;
    }, (error) => {
      step.error = keptError(error);
    });
    this.#pending.add(settled);
    try {
      return await done;
    } finally {
      this.#pending.delete(settled);
    }
  }

  /** @throws {ConversationError} If there is nobody to wait for an answer. */
  checkMayAsk(): void {
    if (!this.#isCalled) {
      throw new ConversationError("Cannot ask in bot.catch(): ask in an errorBoundary(), or in the function");
    }
    if (within.getStore()?.run === this) {
      throw new ConversationError("Cannot ask within c.once() or a check: ask before or after it");
    }
    if (this.#isWaiting) {
      throw new ConversationError(
        "Cannot ask: the conversation waits for another answer; await one after the other",
      );
    }
  }

  /**
   * Waits for an event, which may take days and restarts.
   *
   * @param wanted What for.
   * @param accepts Whether an event is an answer.
   * @throws {ConversationEndedError} If it ends without.
   */
  async wait(
    wanted: Omit<Wait, "at">,
    accepts: (kept: KeptEvent) => boolean | Promise<boolean>,
  ): Promise<KeptEvent> {
    if (this.#isOver) return await forever();
    this.checkMayAsk();
    const at = this.#at++;
    if (at < this.#kept) return this.#replayed("wait", at) as KeptEvent;
    const { kept } = this.#answer?.at === at ? this.#answer : {};
    if (kept !== undefined) {
      this.#answer = undefined;
      this.#isWaiting = true;
      const isAccepted = await accepts(kept);
      this.#isWaiting = false;
      if (!isAccepted) {
        this.#leave({ kind: "refused" });
        return await forever();
      }
      this.steps[at] = { kind: "wait", value: kept };
      return structuredClone(kept);
    }
    this.#isWaiting = true;
    while (this.#pending.size > 0) await Promise.all(this.#pending); // what was not awaited
    this.#leave({ kind: "waits", wait: { ...wanted, at } });
    return await forever();
  }

  /**
   * Calls the functions, until they have ended or wait.
   *
   * @throws What they throw; why the time is over, if they have ended too late, or not at all.
   */
  async call(functions: () => Promise<unknown>): Promise<RunEnd> {
    this.#isCalled = true;
    const called = calling.run(this, functions).then(async (): Promise<RunEnd> => {
      while (this.#pending.size > 0) await Promise.all(this.#pending);
      return { kind: "done" };
    });
    try {
      const end = await Promise.race([called, this.#end.promise, this.time.over]);
      this.time.check(); // functions that catch everything may have missed that they were cut off
      return end;
    } finally {
      this.#isOver = true;
    }
  }

  #leave(end: RunEnd): void {
    this.#isOver = true;
    this.#end.resolve(end);
  }

  #replayed(kind: string, at: number): unknown {
    const step = this.steps[at];
    if (step === undefined || step.kind !== kind) {
      throw new ConversationError(
        `Cannot go on with a conversation: step ${at + 1} was "${step?.kind}", and is "${kind}" now; ` +
          "what comes between two questions must not depend on time, chance or other data, unless c.once() reads it",
      );
    }
    if (step.end !== undefined) throw new ConversationEndedError(step.end);
    if (step.error !== undefined) throw revivedError(step.error);
    return structuredClone(step.value);
  }

  /** The place of the next step. */
  get at(): number {
    return this.#at;
  }

  /** Takes the last steps back, as if they had not been done: a replay does not come by them. */
  forget(from: number): void {
    if (this.isReplaying) return;
    this.steps.length = from;
    this.#at = from;
  }

  /** Whether the conversation has become too long. */
  get isTooLong(): boolean {
    return this.steps.length > MAX_STEPS;
  }
}

/** Never settles. Each has a promise of its own: one for all would hold whoever awaits it. */
function forever(): Promise<never> {
  return new Promise(() => {});
}
