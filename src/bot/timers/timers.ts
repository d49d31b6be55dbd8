/**
 * Timers: reminders, the ends of questions, and schedules. Each is in the store, and fires once, also
 * after a restart.
 *
 * @module
 */

import { type Client, defineSession, type HandlerContext, ValueError } from "../../../mod.ts";
import { isCutOff } from "../run/mod.ts";
import {
  type Due,
  Jobs,
  keyOf,
  LAST,
  nameOf,
  pendingTimers,
  type Reminder,
  type StoredTimer,
  type Timer,
  type TimerOf,
  TIMERS,
} from "./timer.ts";
import type { Reminders } from "./reminders.ts";

export {
  type Accepted,
  checkDue,
  type Due,
  isPassing,
  keyOf,
  readTimes,
  type Reminder,
  type TimerOf,
  within,
} from "./timer.ts";
export {
  pendingOf,
  type PendingReminder,
  readFilter,
  Reminders,
  type RemindersAPI,
  type RemindersFilter,
} from "./reminders.ts";

const SCHEDULES = defineSession<{ next: number; pattern: string }>({
  name: "bot.schedules",
  per: () => undefined,
  initial: () => ({ next: 0, pattern: "" }),
});

/** The longest wait, in milliseconds: clocks are set, and machines sleep. */
const LONGEST = 300_000;
/** When to look again, in milliseconds. */
const RETRY = 5_000;

/** Something that is done again and again. */
interface Schedule {
  /** The same after a restart. */
  readonly name: string;
  /** When, and by which clock: if that is another than before, it begins anew. */
  readonly pattern: string;
  /** The next time after a time; both in milliseconds since the epoch. */
  readonly next: (after: number) => number;
  readonly work: (context: HandlerContext, due: Due) => Promise<unknown>;
}

/** Does what a timer is for. */
type Handler<Of = never> = (timer: Of, context: HandlerContext, due: Due) => Promise<unknown>;

/** The timers of a bot. */
export class Timers {
  readonly #client: Client;
  readonly #reminders: Reminders;
  readonly #handlers = new Map<Timer["kind"], Handler>();
  readonly #schedules: Schedule[] = [];
  #woken = Promise.withResolvers<void>();
  readonly #jobs: Jobs;

  /**
   * @param client Keeps them, and measures time.
   * @param reminders Counts those of users.
   */
  constructor(client: Client, reminders: Reminders) {
    this.#client = client;
    this.#reminders = reminders;
    this.#jobs = new Jobs(client, () => this.wake());
  }

  /** Says what is done at the time of timers of a kind. It may settle by itself. */
  handle<Kind extends Timer["kind"]>(kind: Kind, handler: Handler<TimerOf<Kind>>): void {
    this.#handlers.set(kind, handler);
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
    await this.#reminders.take(context, reminder, keyOf(due, name));
    return this.add(context, due, { kind: "remind", reminder }, name);
  }

  /** Removes a timer, in the commit of a handler. */
  remove(context: HandlerContext, key: string): void {
    context.updateSession(TIMERS, key, () => null);
  }

  /**
   * Adds a schedule.
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

  /** Says that a timer was added. */
  wake(): void {
    this.#woken.resolve();
  }

  /**
   * Fires timers at their times. One that takes long keeps no other waiting.
   *
   * @param signal Ends it; those that have fired may end.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#client.api;
    this.#jobs.forget();
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers<void>();
      const next = await this.#begin().catch((error) => {
        if (isCutOff(error)) throw error;
        this.#client.log.warn("Timers wait: the store or the homeserver can't be reached", {
          error,
        });
        return clock.now() + RETRY;
      });
      const ended = new AbortController();
      const wait = Math.min(Math.max(0, next - clock.now()), LONGEST);
      const due = clock.delay(wait, { signal: AbortSignal.any([signal, ended.signal]) });
      const isCut = due.then(() => false, () => true); // the wait has ended before its time
      const isOver = await Promise.race([isCut, this.#woken.promise]);
      ended.abort();
      if (isOver === true) return;
    }
    await this.#jobs.idle();
  }

  /** Fires the timers whose time has come, or comes while others fire. */
  async fire(): Promise<void> {
    this.#jobs.forget();
    do {
      await this.#begin();
      await this.#jobs.idle();
    } while (await this.#hasMore());
  }

  /** Returns whether the time of a timer has come that is not left for later. */
  async #hasMore(): Promise<boolean> {
    for await (const { key, due } of pendingTimers(this.#client)) {
      if (due > this.#client.api.clock.now()) return false;
      if (this.#jobs.freeAt(key) === 0) return true;
    }
    return false;
  }

  /**
   * Fires the timers whose time has come.
   *
   * @returns The next time, in milliseconds since the epoch. A timer that has ended wakes.
   */
  async #begin(): Promise<number> {
    const { clock } = this.#client.api;
    const times = await Promise.all(this.#schedules.map((each) => this.#repeat(each)));
    let next = Math.min(LAST, ...times);
    for await (const timer of pendingTimers(this.#client)) {
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
        if (timer.kind === "remind") this.#reminders.release(context, timer.reminder, key);
        const handler = this.#handlers.get(timer.kind) as Handler<Timer> | undefined;
        await handler?.(timer, context, { due, late: Math.max(0, clock.now() - due) });
      });
    } catch (error) {
      if (this.#jobs.retries(key, due, error)) return;
      log.error("A timer failed, and does not fire again", { due: new Date(due), error });
      await this.#reminders.cancel(key);
    }
  }

  /**
   * Begins a schedule's work if its time has come, once for all the times that were missed.
   *
   * @returns Its next time, in milliseconds since the epoch.
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
        await schedule.work(context, { due, late: clock.now() - due });
      });
    } catch (error) {
      if (this.#jobs.retries(`every ${name}`, due, error)) return;
      log.error("A schedule failed, and goes on at its next time", { name, error });
      await sessions.update(SCHEDULES, name, () => following);
    }
  }
}
