/**
 * What is due at a time: reminders, the ends of questions, and what comes again and again. Each is
 * in the store, and done once, also after a restart.
 *
 * @module
 */

import { type Client, defineSession, type HandlerContext, ValueError } from "../../../mod.ts";
import { isCutOff } from "../run/mod.ts";
import { Jobs } from "./jobs.ts";
import type { ReminderLimit } from "./reminder_limit.ts";
import { type Due, dueOf, keyOf, nameOf, type Reminder, type Timer } from "./timer.ts";
import type { Schedule } from "./schedule.ts";

const TIMERS = defineSession<{ timer: Timer | undefined }>({
  name: "bot.timers",
  per: () => undefined,
  initial: () => ({ timer: undefined }),
});
const SCHEDULES = defineSession<{ next: number; pattern: string }>({
  name: "bot.schedules",
  per: () => undefined,
  initial: () => ({ next: 0, pattern: "" }),
});

/** The longest wait, in milliseconds: clocks are set, and machines sleep. */
const LONGEST = 3_600_000;
/** When to look again, in milliseconds. */
const RETRY = 5_000;
const LAST = 8.64e15; // the last moment that a date can be

/** What the timers of a bot call. */
interface TimerHandlers {
  /** Does what is due. It may settle by itself. */
  readonly timer: (timer: Timer, context: HandlerContext, due: Due) => Promise<unknown>;
  /** Does what comes again and again. */
  readonly schedule: (schedule: Schedule, context: HandlerContext, due: Due) => Promise<unknown>;
}

/** A pending timer, as it is stored. */
interface StoredTimer {
  /** Names it. */
  readonly key: string;
  /** When it is due, in milliseconds since the epoch. */
  readonly due: number;
  /** What the bot does then. */
  readonly timer: Timer;
}

/** The timers of a bot. */
export class Timers {
  readonly #client: Client;
  readonly #handlers: TimerHandlers;
  readonly #schedules: Schedule[] = [];
  #woken = Promise.withResolvers<void>();
  readonly #jobs: Jobs;
  readonly #limit: ReminderLimit;

  /**
   * @param client Keeps them, and measures time.
   * @param handlers What they call.
   * @param limit Counts the reminders of users.
   */
  constructor(client: Client, handlers: TimerHandlers, limit: ReminderLimit) {
    this.#client = client;
    this.#limit = limit;
    this.#handlers = handlers;
    this.#jobs = new Jobs(client, () => this.wake());
  }

  /** Waits until this process has the device whose timers they are. */
  async opened(): Promise<void> {
    await this.#client.sessions.read(TIMERS, "opened"); // there is none of that name
  }

  /**
   * Adds a timer, in the commit of a handler.
   *
   * @param due When, in milliseconds since the epoch.
   * @param name Names it, also where the handler runs a second time in another store: then what is
   *   said is said once. Default: nothing else has its name.
   * @returns Its key.
   */
  add(context: HandlerContext, due: number, timer: Timer, name?: string): string {
    const key = keyOf(due, name);
    context.updateSession(TIMERS, key, () => ({ timer }));
    return key;
  }

  /**
   * Adds a reminder, as {@link Timers.add} does.
   *
   * @throws {ValueError} If who asks has as many as may be.
   */
  async remind(
    context: HandlerContext,
    due: number,
    { reminder, name = crypto.randomUUID() }: { readonly reminder: Reminder; readonly name?: string },
  ): Promise<string> {
    await this.#limit.take(context, reminder, keyOf(due, name));
    return this.add(context, due, { kind: "remind", reminder }, name);
  }

  /** Removes a timer, in the commit of a handler. */
  remove(context: HandlerContext, key: string): void {
    context.updateSession(TIMERS, key, () => null);
  }

  /** Removes a timer. Does nothing if it is not there. */
  async removeNow(key: string): Promise<boolean> {
    const kept = await this.#client.sessions.read(TIMERS, key);
    if (kept === undefined) return false;
    await this.#client.sessions.end(TIMERS, key);
    if (kept.timer?.kind === "remind") await this.#limit.releaseNow(kept.timer.reminder, key);
    return true;
  }

  /**
   * Adds what comes again and again.
   *
   * @throws {ValueError} If the name is taken.
   */
  schedule(schedule: Schedule): void {
    const { name } = schedule;
    if (this.#schedules.some((each) => each.name === name)) {
      throw new ValueError(
        `Cannot schedule "${name}": another has that name; give this one a name of its own`,
      );
    }
    this.#schedules.push(schedule);
  }

  /** The pending timers, the next one first. */
  async *list(): AsyncIterableIterator<StoredTimer> {
    for await (const { key, state: { timer } } of this.#client.sessions.list(TIMERS)) {
      if (typeof key === "string" && timer !== undefined) yield { key, due: dueOf(key), timer };
    }
  }

  /** Says that a timer was added. */
  wake(): void {
    this.#woken.resolve();
  }

  /**
   * Does what is due, as it becomes due. What takes long keeps nothing else waiting.
   *
   * @param signal Ends it; what is being done may end.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#client.api;
    this.#jobs.forget();
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers<void>();
      const next = await this.#begin().catch((error) => {
        if (isCutOff(error)) throw error;
        this.#client.log.warn("What is due at times waits: the store or the homeserver can't be reached", {
          error,
        });
        return clock.now() + RETRY;
      });
      const ended = new AbortController();
      const wait = Math.min(Math.max(0, next - clock.now()), LONGEST);
      const due = clock.delay(wait, { signal: AbortSignal.any([signal, ended.signal]), persistent: false });
      const isCut = due.then(() => false, () => true); // the wait has ended before its time
      const isOver = await Promise.race([isCut, this.#woken.promise]);
      ended.abort();
      if (isOver === true) return;
    }
    await this.#jobs.idle();
  }

  /** Does what is due now, and what becomes due meanwhile. */
  async fire(): Promise<void> {
    this.#jobs.forget();
    do {
      await this.#begin();
      await this.#jobs.idle();
    } while (await this.#isDue());
  }

  /** Whether something is due, and is not left for later. */
  async #isDue(): Promise<boolean> {
    for await (const { key, due } of this.list()) {
      if (due > this.#client.api.clock.now()) return false;
      if (this.#jobs.freeAt(key) === 0) return true;
    }
    return false;
  }

  /**
   * Begins what is due now.
   *
   * @returns When the next is due, in milliseconds since the epoch. What ends wakes.
   */
  async #begin(): Promise<number> {
    const { clock } = this.#client.api;
    const times = await Promise.all(this.#schedules.map((each) => this.#repeat(each)));
    let next = Math.min(LAST, ...times);
    for await (const timer of this.list()) {
      const { key, due } = timer;
      if (due > clock.now()) return Math.min(next, due);
      const free = this.#jobs.freeAt(key);
      if (free > clock.now()) next = Math.min(next, free);
      else if (this.#jobs.isFull) return next;
      else this.#jobs.begin(key, () => this.#fire(timer));
    }
    return next;
  }

  async #fire({ key, due, timer }: StoredTimer): Promise<void> {
    const { api: { clock }, log } = this.#client;
    try {
      await this.#client.runTask(`timer ${nameOf(key)}`, async (context) => {
        this.remove(context, key);
        if (timer.kind === "remind") this.#limit.release(context, timer.reminder, key);
        await this.#handlers.timer(timer, context, { due, late: Math.max(0, clock.now() - due) });
      });
    } catch (error) {
      if (this.#jobs.retries(key, due, error)) return;
      log.error("What was due at a time failed, and is not done again", { due: new Date(due), error });
      await this.removeNow(key);
    }
  }

  /**
   * Begins what comes again and again if it is due, once for all the times that were missed.
   *
   * @returns When it is due next, in milliseconds since the epoch.
   */
  async #repeat(schedule: Schedule): Promise<number> {
    const { api: { clock }, sessions } = this.#client;
    const { name, pattern } = schedule;
    const now = clock.now();
    const free = this.#jobs.freeAt(`every ${name}`);
    if (free > now) return free;
    const known = await sessions.read(SCHEDULES, name);
    const soon = schedule.next(now);
    // A clock that goes back a little must not have it done twice; one that was years ahead, not never.
    const isKept = known?.pattern === pattern && known.next <= schedule.next(soon);
    const next = isKept ? known.next : soon;
    if (!isKept) await sessions.update(SCHEDULES, name, () => ({ next, pattern }));
    if (next > now) return next;
    this.#jobs.begin(`every ${name}`, () => this.#fireSchedule(schedule, next));
    return soon;
  }

  async #fireSchedule(schedule: Schedule, due: number): Promise<void> {
    const { api: { clock }, sessions, log } = this.#client;
    const { name, pattern } = schedule;
    const following = { next: schedule.next(clock.now()), pattern };
    try {
      await this.#client.runTask(`every ${name} ${due}`, async (context) => {
        context.updateSession(SCHEDULES, name, () => following);
        await this.#handlers.schedule(schedule, context, { due, late: clock.now() - due });
      });
    } catch (error) {
      if (this.#jobs.retries(`every ${name}`, due, error)) return;
      log.error("What was due at a time failed, and is done again the next time", { name, error });
      await sessions.update(SCHEDULES, name, () => following);
    }
  }
}
