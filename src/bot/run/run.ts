/**
 * One run of a bot's functions: what they did, in steps that can be replayed, and what they wait for.
 *
 * Over 300 lines because what a run does is in one class.
 *
 * @module
 */

import type { HandlerContext } from "../../../mod.ts";
import type { EventID, RoomMessageContent, SendOptions, UserID } from "../../../types.ts";
import { platform } from "../../base/platform/mod.ts";
import { Begun, forever, type RunTime, type RunWatch } from "./patience.ts";
import {
  type Answer,
  ConversationError,
  keptError,
  type KeptEvent,
  replayed,
  type RunEnd,
  type Step,
  type Wait,
} from "./run_record.ts";

/** What a run is made of. */
interface RunOptions {
  /** What the client's handler was called with. */
  readonly context: HandlerContext;
  /** The steps of earlier runs. Default: none. */
  readonly steps?: readonly Step[];
  /** An answer to what the last of them waited for. */
  readonly answer?: Answer;
  /** Is done when that is accepted, before anything comes of it. Default: nothing. */
  readonly taken?: () => Promise<void>;
  /** How long it may take. */
  readonly time: RunTime;
  /** What waits until it has ended: events of one user in a room. Default: nothing. */
  readonly queue?: string;
}

/** Has a room's queue send what is said. */
export interface Saying {
  /** Adds a message; resolves when it was sent. */
  add(content: RoomMessageContent): Promise<EventID>;
  /** That was all: when it is stored, something else may be said or done. */
  end(): void;
}

/** The most steps of a conversation. */
const MAX_STEPS = 1_000;
/** What is in a run. This stays in memory longer than the run needs to. */
interface Inside {
  /** The run; undefined if it has ended. */
  run: Run | undefined;
  /** Aborted when its bot is closed: each bot has one of its own. */
  readonly bot: AbortSignal;
  /** Why it was given up; undefined: it was not. */
  givenUp: Error | undefined;
  /** Hears of what its functions did not await. */
  watch: RunWatch | undefined;
}

/** Where something is done: in which run. */
interface Place {
  readonly inside: Inside;
  /** In which of its steps; undefined: in none. */
  readonly at: string | undefined;
  /** How many parts the step has by now. */
  parts: number;
}

const places = new platform.AsyncLocalStorage<Place>();
const DONE: RunEnd = { kind: "done" };
const LATE = "A function of the bot went on when it had ended, so that a crash loses what it does: await it";
const LEFT_BEHIND =
  "A function of the bot goes on while it waits for an answer: that is done when it comes; await one after the other";

/**
 * The run of a bot in whose functions this is called; undefined: in none, or it has ended.
 *
 * @param bot Aborted when the bot is closed.
 * @throws Why it was given up.
 */
export function currentRun(bot: AbortSignal): Run | undefined {
  const { inside } = places.getStore() ?? {};
  if (inside?.bot !== bot) return undefined;
  if (inside.givenUp !== undefined) throw inside.givenUp;
  return inside.run;
}

/** The same, but undefined also where it was given up. */
export function ownRun(bot: AbortSignal): Run | undefined {
  const { inside } = places.getStore() ?? {};
  return inside?.bot === bot ? inside.run : undefined;
}

/**
 * The run of any bot in whose functions this is called; undefined: in none, or it has ended, also as one of
 * another bot that is closed.
 *
 * @throws Why it was given up.
 */
export function currentRunOfAny(bot: AbortSignal): Run | undefined {
  const { inside } = places.getStore() ?? {};
  if (inside === undefined || (inside.bot !== bot && inside.bot.aborted)) return undefined;
  return currentRun(inside.bot);
}

/** Hands on what fails in a run and is not awaited; says whether somebody has seen to it. */
function failUnawaited(error: unknown): boolean {
  return places.getStore()?.inside.watch?.unawaited?.(error) ?? false;
}

export class Run {
  /** What commits what it changes. */
  readonly context: HandlerContext;
  /** How long it may take. */
  readonly time: RunTime;
  /** What waits until it has ended. */
  readonly queue: string | undefined;
  /** Whether the room's queue has what it sends; undefined: it does not, since the run comes again. */
  queues: "if-away" | "always" | undefined = "if-away";
  /** Says what is said outside of functions; undefined: this is one. */
  saying: Saying | undefined;
  /** What was done, and what it came to. */
  readonly steps: Step[];
  /** The conversation that it begins or goes on with, if it asks; undefined: it can't ask. */
  conversation: { readonly start: KeptEvent; readonly owner: UserID; readonly command: string } | undefined;
  /** Whether only what is encrypted answers what it asks. */
  encryptedOnly = false;
  /** How many answers it has got: what was taken before the latest of them is anybody's since. */
  answers = 0;
  /** Rooms that the bot has left, or was thrown out of, while this ran; undefined: none. */
  left: Set<string> | undefined;
  /** What was begun, awaited or not: it ends with that. */
  readonly begun: Begun = new Begun();
  /** How it has ended; undefined: it has not. */
  end: RunEnd["kind"] | undefined;
  /** Is done when the run has ended. */
  readonly atEnd: (() => void)[] = [];
  /** Undoes what it has begun elsewhere, if it fails. */
  readonly atFailure: (() => Promise<void>)[] = [];
  readonly #kept: number;
  readonly #taken: RunOptions["taken"];
  #id: string | undefined;
  /** The answer, until the step that waits has taken it. */
  #answer: Answer | undefined;
  /** Whether a step may have parts, so that one has to look for it. */
  #hasParts = false;
  readonly #inside: Inside;
  #leave: (end: RunEnd) => void = () => {};
  #at = 0;
  #isCalled = false;
  #isWaiting = false;
  #isLateSaid = false;

  /** @param options What it is made of. */
  constructor({ context, steps = [], answer, taken, time, queue }: RunOptions) {
    this.context = context;
    this.#inside = { run: this, bot: time.bot, givenUp: undefined, watch: undefined };
    this.#taken = taken;
    this.queue = queue;
    this.time = time;
    this.steps = [...steps];
    this.#kept = steps.length;
    this.#answer = answer;
  }

  /** Names it, in the same way when a crash makes it run again. */
  get id(): string {
    return this.#id ??= this.context.deliveryId ?? crypto.randomUUID();
  }

  /** Has what its functions did not await told, and its failures described. */
  watch(details: Readonly<Record<string, unknown>>, watch: RunWatch): void {
    this.#inside.watch = watch;
    this.context.describe(details, failUnawaited);
  }

  /** Whether this is called by another run, or by something else than its functions when it has ended. */
  get isLeft(): boolean {
    const inside = places.getStore()?.inside;
    return inside !== this.#inside && (this.end !== undefined || inside?.run !== undefined);
  }

  /** Whether what comes next was done by an earlier run. */
  get isReplaying(): boolean {
    return this.#at < this.#kept;
  }

  /** It has failed: what comes next is done, whatever an earlier run did there. */
  endReplay(): void {
    this.#at = Math.max(this.#at, this.#kept);
  }

  /**
   * Does something once: a replay returns what it came to. What is done in a step is part of it, and
   * no step of its own.
   *
   * @param kind What it is.
   * @param work Does it; what it returns has to be plain data. It gets the place among the steps.
   * @throws What it throws; {@link ConversationError} if a replay goes another way.
   */
  step<Result>(kind: string, work: (at: string) => Promise<Result>): Promise<Result> {
    return this.#step(kind, work, { hasParts: true });
  }

  /**
   * Does something once, as a step in which no function of the application's is called, after those that were
   * called before: without `await`, too, messages come in the order in which they are said. So do those that
   * are parts of another step.
   */
  act<Result>(kind: string, work: (at: string) => Promise<Result>): Promise<Result> {
    return this.#step(kind, (at) => this.inTurn(() => work(at)), { hasParts: false });
  }

  /** Does what sends, after what was called before, unless the run has been given up by then. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.begun.turns.take(() => {
      this.time.check();
      return work();
    });
  }

  /** Aborts the run's requests when it is given up. */
  get signal(): AbortSignal {
    return this.time.requests;
  }

  /** The options of what it sends, beside those of the application. */
  get sends(): Pick<SendOptions, "queue" | "signal"> {
    return { signal: this.time.requests, queue: this.queues };
  }

  async #step<Result>(
    kind: string,
    work: (at: string) => Promise<Result>,
    { hasParts }: { readonly hasParts: boolean },
  ): Promise<Result> {
    if (this.end !== undefined) return await this.#lateStep(kind, work);
    const outer = this.#outer;
    if (outer !== undefined) {
      this.time.check();
      return await work(`${outer.at}.${outer.parts++}`);
    }
    const at = this.#at++;
    if (at < this.#kept) return replayed(this.steps[at], kind, at) as Result;
    this.time.check();
    const step: Step = { kind };
    this.steps[at] = step;
    this.#hasParts ||= hasParts;
    const name = String(at);
    try {
      const value = hasParts
        ? await this.begun.during(() => places.run({ inside: this.#inside, at: name, parts: 0 }, work, name))
        : await work(name);
      step.value = value;
      return value;
    } catch (error) {
      step.error = keptError(error);
      throw error;
    }
  }

  /** Does what a function still does when its run has ended, and is no step any more. */
  async #lateStep<Result>(kind: string, work: (at: string) => Promise<Result>): Promise<Result> {
    if (this.end === "done") this.time.check();
    if (this.end !== "refused") this.#sayLate(kind); // of what is refused nothing counts
    return await (this.end === "done" ? work("late") : forever());
  }

  /**
   * @throws {ConversationError} If the run has ended;
   *   those that were left behind by a wait go on to do nothing.
   */
  checkGoesOn(action: string): void {
    if (this.end !== "done") return;
    this.#sayLate(action);
    throw new ConversationError(`Cannot ${action}: the function has ended; await what it does before`);
  }

  /** Says, once, that a function went on. */
  #sayLate(step: string): void {
    if (this.#isLateSaid) return;
    this.#isLateSaid = true;
    this.#inside.watch?.late(this.end === "waits" ? LEFT_BEHIND : LATE, step);
  }

  /** The step in which this is called. */
  get #outer(): Place | undefined {
    const place = this.#hasParts ? places.getStore() : undefined;
    return place?.inside === this.#inside && place.at !== undefined ? place : undefined;
  }

  /** @throws {ConversationError} If there is nobody to wait for an answer. */
  checkMayAsk(): void {
    if (!this.#isCalled) {
      throw new ConversationError("Cannot ask in bot.catch(): ask in an errorBoundary(), or in the function");
    }
    if (this.#outer !== undefined) {
      throw new ConversationError("Cannot ask within c.step() or a check: ask before or after it");
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
   * @param accepts Returns what is kept of an event that is an answer; undefined: it is none.
   * @throws {ConversationEndedError} If it ends without.
   */
  async wait(
    wanted: Omit<Wait, "at">,
    accepts: (kept: KeptEvent) => Promise<KeptEvent | undefined>,
  ): Promise<KeptEvent> {
    this.checkGoesOn("wait for an answer");
    if (this.end !== undefined) return await forever();
    this.checkMayAsk();
    const at = this.#at++;
    this.answers++; // nothing is taken while it waits
    if (at < this.#kept) return replayed(this.steps[at], "wait", at) as KeptEvent;
    const { kept } = this.#answer?.at === at ? this.#answer : {};
    if (kept !== undefined) {
      this.#answer = undefined;
      this.#isWaiting = true;
      const accepted = await this.begun.during(async () => {
        const answer = await accepts(kept);
        if (answer !== undefined) await this.#taken?.();
        return answer;
      });
      this.#isWaiting = false;
      if (accepted === undefined) {
        this.#leave({ kind: "refused" });
        return await forever();
      }
      this.steps[at] = { kind: "wait", value: accepted };
      return structuredClone(accepted);
    }
    this.#isWaiting = true;
    await this.begun.settled();
    this.#leave({ kind: "waits", wait: { ...wanted, at } });
    return await forever();
  }

  /**
   * Calls the functions, until they have ended or wait; and what they have begun has ended, awaited or not.
   *
   * @throws What they throw; why the time is over, if they have ended too late, or not at all.
   */
  call(functions: () => Promise<unknown>): Promise<RunEnd> {
    this.#isCalled = true;
    const { promise, resolve, reject } = Promise.withResolvers<RunEnd>();
    const fail = (error: unknown): void => {
      this.#close("done");
      reject(error);
    };
    const leave = this.#leave = (end: RunEnd): void => {
      this.#close(end.kind);
      try {
        this.time.check(); // functions that catch everything may have missed that they were cut off
        resolve(end);
      } catch (error) {
        reject(error);
      }
    };
    const done = (): void => {
      if (this.#at === 0 && this.begun.isIdle) return leave(DONE);
      this.begun.settled().then(() => this.#isWaiting || leave(DONE)); // a wait leaves by itself
    };
    const failed = (error: unknown): unknown =>
      this.begun.isIdle ? fail(error) : this.begun.settled().then(() => fail(error));
    this.time.whenOver((reason) => {
      this.#inside.givenUp = reason;
      fail(reason);
    });
    places.run({ inside: this.#inside, at: undefined, parts: 0 }, functions).then(done, failed);
    return promise;
  }

  #close(end: RunEnd["kind"]): void {
    this.end ??= end;
    this.#inside.run = undefined;
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

  /** Whether the conversation is too long. */
  get isTooLong(): boolean {
    return this.steps.length > MAX_STEPS;
  }
}
