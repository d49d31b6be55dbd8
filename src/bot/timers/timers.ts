/**
 * What is due at a time: reminders, the ends of questions, and what comes again and again. Each is
 * in the store, and done once, also after a restart.
 *
 * @module
 */

import {
  type Client,
  defineSession,
  type HandlerContext,
  MatrixRequestError,
  NetworkError,
} from "../../../mod.ts";
import type { EventID, RoomID, UserID } from "../../../types.ts";
import { type ConversationEnding, isCutOff } from "../conversations/errors.ts";
import type { Schedule } from "./schedule.ts";

/** A reminder, as it was asked for. */
export interface Reminder {
  /** The room to be reminded in. */
  readonly room: RoomID;
  /** The thread; empty: none. */
  readonly thread: EventID | "";
  /** The event in which it was asked for; undefined: in none. */
  readonly event: EventID | undefined;
  /** Who asked for it; undefined: nobody. */
  readonly by: UserID | undefined;
  /** Which of the bot's functions it is for; empty: the text is said. */
  readonly name: string;
  /** What to say, or what the function gets: plain data. */
  readonly data: unknown;
}

/** What is due. */
export type Timer =
  | {
    readonly kind: "wait";
    readonly conversation: string;
    readonly at: number;
    readonly end: ConversationEnding;
  }
  | { readonly kind: "remind"; readonly reminder: Reminder };

/** When something was due, and that it is done now. */
export interface Due {
  /** When, in milliseconds since the epoch. */
  readonly due: number;
  /** How late it is, in milliseconds. */
  readonly late: number;
}

const TIMERS = defineSession<{ timer: Timer | undefined }>({
  name: "bot.timers",
  per: () => undefined,
  initial: () => ({ timer: undefined }),
});
const SCHEDULES = defineSession<{ next: number }>({
  name: "bot.schedules",
  per: () => undefined,
  initial: () => ({ next: 0 }),
});

/** How many are done side by side. */
const AT_ONCE = 20;
/** The longest wait, in milliseconds: clocks are set, and machines sleep. */
const LONGEST = 3_600_000;
/** When to try again, in milliseconds: at first, and at the latest. */
const RETRY = 5_000;
const LAST_RETRY = 300_000;
/** The last moment that a date can be. */
const LAST = 8.64e15;

/** What the timers of a bot call. */
export interface TimerHandlers {
  /** Does what is due. It may settle by itself. */
  readonly timer: (timer: Timer, context: HandlerContext, due: Due) => Promise<unknown>;
  /** Does what comes again and again. */
  readonly schedule: (schedule: Schedule, context: HandlerContext, due: Due) => Promise<unknown>;
}

/** A pending timer, as it is stored. */
export interface StoredTimer {
  /** Names it. */
  readonly key: string;
  /** When it is due, in milliseconds since the epoch. */
  readonly due: number;
  /** What is due. */
  readonly timer: Timer;
}

/** The timers of a bot. */
export class Timers {
  readonly #client: Client;
  readonly #handlers: TimerHandlers;
  readonly #schedules: Schedule[] = [];
  #woken = Promise.withResolvers<void>();
  /** What is being done, so that it is not begun twice. */
  readonly #busy = new Set<string>();
  /** When what could not be done is tried again, and how long that was waited for. */
  readonly #again = new Map<string, { readonly at: number; readonly wait: number }>();

  /**
   * @param client Keeps them, and measures time.
   * @param handlers What they call.
   */
  constructor(client: Client, handlers: TimerHandlers) {
    this.#client = client;
    this.#handlers = handlers;
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

  /** Adds a timer in a commit of its own. */
  async addNow(due: number, timer: Timer): Promise<string> {
    const key = keyOf(due);
    await this.#client.sessions.update(TIMERS, key, () => ({ timer }));
    this.wake();
    return key;
  }

  /** Removes a timer, in the commit of a handler. */
  remove(context: HandlerContext, key: string): void {
    context.updateSession(TIMERS, key, () => null);
  }

  /** Removes a timer. Does nothing if it is not there. */
  async removeNow(key: string): Promise<boolean> {
    const isThere = await this.#client.sessions.read(TIMERS, key) !== undefined;
    if (isThere) await this.#client.sessions.end(TIMERS, key);
    return isThere;
  }

  /** Adds what comes again and again. */
  schedule(schedule: Schedule): void {
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
   * Does what is due, as it becomes due.
   *
   * @param signal Ends it.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#client.api;
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers<void>();
      const next = await this.fire().catch((error) => {
        if (isCutOff(error)) throw error;
        this.#client.log.warn("What is due at times waits: the store or the homeserver can't be reached", {
          error,
        });
        return clock.now() + RETRY;
      });
      const ended = new AbortController();
      const wait = Math.min(Math.max(0, next - clock.now()), LONGEST);
      const due = clock.delay(wait, { signal: AbortSignal.any([signal, ended.signal]), persistent: false });
      await Promise.race([due.catch(() => {}), this.#woken.promise]);
      ended.abort();
    }
  }

  /**
   * Does what is due now.
   *
   * @returns When the next is due, in milliseconds since the epoch; `Infinity`: there is none.
   */
  async fire(): Promise<number> {
    const next = Math.min(LAST, ...await Promise.all(this.#schedules.map((each) => this.#repeat(each))));
    const { clock } = this.#client.api;
    for (;;) {
      const due: StoredTimer[] = [];
      let first = next;
      for await (const timer of this.list()) {
        if (this.#busy.has(timer.key)) continue;
        const { at = 0 } = this.#again.get(timer.key) ?? {};
        if (at > clock.now()) {
          first = Math.min(first, at);
          continue;
        }
        if (timer.due > clock.now()) {
          first = Math.min(first, timer.due);
          break;
        }
        due.push(timer);
        if (due.length === AT_ONCE) break;
      }
      if (due.length === 0) return first;
      await Promise.all(due.map((timer) => this.#fire(timer)));
    }
  }

  async #fire({ key, due, timer }: StoredTimer): Promise<void> {
    const { api: { clock }, log, sessions } = this.#client;
    this.#busy.add(key);
    try {
      await this.#client.runTask(`timer ${nameOf(key)}`, async (context) => {
        this.remove(context, key);
        await this.#handlers.timer(timer, context, { due, late: Math.max(0, clock.now() - due) });
      });
      this.#again.delete(key);
    } catch (error) {
      if (isCutOff(error)) return; // the next start does it
      if (isPassing(error)) return void this.#putOff(key, error);
      this.#again.delete(key);
      log.error("What was due at a time failed, and is not done again", { due: new Date(due), error });
      await sessions.end(TIMERS, key);
    } finally {
      this.#busy.delete(key);
    }
  }

  /** Has something tried again later, each time after twice the time. Returns when. */
  #putOff(name: string, error: unknown): number {
    const { api: { clock }, log } = this.#client;
    const wait = Math.min(2 * (this.#again.get(name)?.wait ?? RETRY / 2), LAST_RETRY);
    const at = clock.now() + wait;
    this.#again.set(name, { at, wait });
    log.warn("What is due at a time waits: the homeserver can't be reached", { name, error });
    return at;
  }

  /** Does what comes again and again if it is due, once for all the times that were missed. */
  async #repeat(schedule: Schedule): Promise<number> {
    const { api: { clock }, sessions, log } = this.#client;
    const { name } = schedule;
    const known = (await sessions.read(SCHEDULES, name))?.next;
    const isNew = known === undefined || known > schedule.next(clock.now()); // or it comes more often now
    const next = isNew ? schedule.next(clock.now()) : known;
    if (known !== next) await sessions.update(SCHEDULES, name, () => ({ next }));
    const { at = 0 } = this.#again.get(name) ?? {};
    if (next > clock.now() || at > clock.now()) return Math.max(next, at);
    const following = schedule.next(clock.now());
    try {
      await this.#client.runTask(`every ${name} ${next}`, async (context) => {
        context.updateSession(SCHEDULES, name, () => ({ next: following }));
        await this.#handlers.schedule(schedule, context, { due: next, late: clock.now() - next });
      });
      this.#again.delete(name);
    } catch (error) {
      if (isCutOff(error)) return LAST;
      if (isPassing(error)) return this.#putOff(name, error);
      log.error("What was due at a time failed, and is done again the next time", { name, error });
      await sessions.update(SCHEDULES, name, () => ({ next: following }));
    }
    return following;
  }
}

/** Whether something failed since the homeserver is away, or has too much to do. */
function isPassing(error: unknown): boolean {
  return error instanceof NetworkError ||
    (error instanceof MatrixRequestError && (error.status === 429 || error.status >= 500));
}

function keyOf(due: number, name: string = crypto.randomUUID()): string {
  const time = new Date(Math.min(Math.max(due, 0), LAST)).toISOString();
  return `${time.length > 24 ? time : `+00${time}`}|${name}`; // years of six digits sort too
}

function nameOf(key: string): string {
  return key.slice(key.indexOf("|") + 1);
}

function dueOf(key: string): number {
  return Date.parse(key.split("|", 1)[0] ?? "");
}
