/**
 * A timer as it is stored, with its key, which begins with the time, so that the next one
 * comes first; and the work of timers: what is under way, and what has to be done again. The
 * times of schedules are read here, too.
 *
 * @module
 */

import {
  type Client,
  type Clock,
  defineSession,
  MatrixRequestError,
  NetworkError,
  ValueError,
} from "../../../mod.ts";
import type { EventID, MemberEvent, RoomID, UserID } from "../../../types.ts";
import { type ConversationEnding, isCutOff } from "../run/mod.ts";
import { Cron } from "croner";
import { inMilliseconds } from "../../base/clock.ts";

/** An invitation that is accepted. */
export interface Accepted {
  readonly event: MemberEvent & { readonly room_id: RoomID };
  /** When it was handled first, in milliseconds since the epoch. */
  readonly at: number;
}

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

/** What a bot does at a time that was set. */
export type Timer =
  | {
    readonly kind: "wait";
    readonly conversation: string;
    readonly at: number;
    readonly end: ConversationEnding;
  }
  | { readonly kind: "remind"; readonly reminder: Reminder }
  /** A message that was set for later: what it is stands in a record of its own, which may change. */
  | { readonly kind: "later"; readonly id: string }
  | { readonly kind: "join"; readonly invitation: Accepted };

/** What a timer does at its time, by its kind. */
export type TimerOf<Kind extends Timer["kind"]> = Extract<Timer, { kind: Kind }>;

/** The pending timers. */
export const TIMERS = defineSession<{ timer: Timer | undefined }>({
  name: "bot.timers",
  per: () => undefined,
  initial: () => ({ timer: undefined }),
});

/** A pending timer, as it is stored. */
export interface StoredTimer {
  readonly key: string;
  /** Its time, in milliseconds since the epoch. */
  readonly due: number;
  readonly timer: Timer;
}

/** The pending timers, the next one first. */
export async function* pendingTimers(
  { sessions }: Pick<Client, "sessions">,
): AsyncIterableIterator<StoredTimer> {
  for await (const { key, state: { timer } } of sessions.list(TIMERS)) {
    if (typeof key === "string" && timer !== undefined) yield { key, due: dueOf(key), timer };
  }
}

/** The time of a timer, and how late it is. */
export interface Due {
  /** When, in milliseconds since the epoch. */
  readonly due: number;
  /** How late it is, in milliseconds. */
  readonly late: number;
}

/** The last moment that a date can be. */
export const LAST = 8.64e15;

/**
 * Refuses what is no time.
 *
 * @param action What can't be done then, as the error has it.
 */
export function checkDue(due: number, action: string): void {
  if (!(due >= 0 && due <= LAST)) throw new ValueError(`Cannot ${action}: there is no such time`);
}

/** The key of a timer for a time, in milliseconds since the epoch. */
export function keyOf(due: number, name: string = crypto.randomUUID()): string {
  const time = new Date(Math.min(Math.max(due, 0), LAST)).toISOString();
  return `${time.length > 24 ? time : `+00${time}`}|${name}`; // years of six digits sort too
}

export function nameOf(key: string): string {
  return key.slice(key.indexOf("|") + 1);
}

/** The time of a timer, by its key. */
export function dueOf(key: string): number {
  return Date.parse(key.split("|", 1)[0] ?? "");
}

/** How many are done side by side. */
const AT_ONCE = 20;
/** When to do again what the store did not take, in milliseconds. */
const RETRY = 5_000;
/** When to do again what failed because the homeserver is away: at first, and when that is long. */
const AWAY = 30_000;
const LONG_AWAY = 300_000;
/** How late it is given up: then it is not the homeserver. */
const GIVEN_UP = 30 * 86_400_000;
/** How many errors may be the cause of one another. */
const MAX_CAUSES = 10;

/** Jobs by name: each is done once at a time, and not before it may be done again. */
export class Jobs {
  readonly #client: Client;
  readonly #ended: () => void;
  readonly #busy = new Map<string, Promise<void>>();
  /** When what failed, or was cut off, may be done again. */
  readonly #again = new Map<string, number>();

  /**
   * @param client Measures the time.
   * @param ended Called when one has ended.
   */
  constructor(client: Client, ended: () => void) {
    this.#client = client;
    this.#ended = ended;
  }

  /** Whether no more can be begun. */
  get isFull(): boolean {
    return this.#busy.size >= AT_ONCE;
  }

  /**
   * Returns the time at which one may be begun, in milliseconds since the epoch; `Infinity`: when it has
   * ended.
   */
  freeAt(name: string): number {
    return this.#busy.has(name) ? Infinity : this.#again.get(name) ?? 0;
  }

  begin(name: string, work: () => Promise<void>): void {
    this.#again.delete(name);
    const done = work().catch((error) => {
      this.#client.log.warn("A timer waits", { error });
      this.#again.set(name, this.#client.api.clock.now() + RETRY);
    });
    const ended = done.finally(() => {
      this.#busy.delete(name);
      this.#ended();
    });
    this.#busy.set(name, ended);
  }

  /** Resolves when all that are under way have ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#busy.values());
  }

  /**
   * Has one that failed be done again, if it may succeed then: when the homeserver may be back, or,
   * if the bot was cut off, at its next start.
   *
   * @param due Its time, in milliseconds since the epoch.
   * @returns Whether it is.
   */
  retries(name: string, due: number, error: unknown): boolean {
    const now = this.#client.api.clock.now();
    if (isCutOff(error)) this.#again.set(name, LAST);
    else if (isPassing(error) && now - due < GIVEN_UP) {
      this.#again.set(name, now + Math.min(Math.max(AWAY, (now - due) / 10), LONG_AWAY));
    } else return false;
    return true;
  }

  /** Lets all be begun again: a start. */
  forget(): void {
    this.#again.clear();
  }
}

/**
 * Returns whether the homeserver is away, or has too much to do; an error of encryption says so by its
 * cause.
 */
export function isPassing(error: unknown): boolean {
  for (let each = error, depth = 0; each instanceof Error && depth < MAX_CAUSES; each = each.cause, depth++) {
    if (each instanceof NetworkError) return true;
    if (each instanceof MatrixRequestError) return each.status >= 500 || each.status === 429;
  }
  return false;
}

/**
 * Waits until work has ended, or the time is over: then it goes on, and what it fails with is not
 * told any more.
 *
 * @param ms The time, in milliseconds.
 * @returns Whether it has ended.
 * @throws What the work throws in time.
 */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  const ended = new AbortController();
  const late = clock.delay(Math.max(0, ms), { signal: ended.signal }).then(() => false, () => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    ended.abort();
  }
}

/** The shortest time between two of a schedule, in milliseconds. */
const SHORTEST = 1_000;

/**
 * Reads when something is done: the multiples of a duration,
 * as they are the same in each process; or as cron has it.
 *
 * @param pattern A duration, as text or in milliseconds; or five fields of cron, or six with seconds first:
 *   minute, hour, day, month, weekday.
 * @param timezone The IANA time zone of a pattern of cron, like `Europe/Rome`. Default: `UTC`.
 * @returns The next time after a time.
 * @throws {ValueError} If the pattern or the time zone can't be read.
 */
export function readTimes(pattern: string | number, timezone: string | undefined): (after: number) => number {
  const length = inMilliseconds(pattern);
  if (!(length >= SHORTEST && length <= LAST)) {
    if (typeof pattern === "string" && Number.isNaN(length)) return readCron(pattern, timezone ?? "UTC");
    throw unreadable(`"${pattern}"`);
  }
  if (timezone !== undefined) {
    throw new ValueError(
      `Cannot schedule "${pattern}" in ${timezone}: a duration has no time zone; leave it out, or write the times as ` +
        'cron does, like "0 9 * * *"',
    );
  }
  return (after) => Math.floor(after / length + 1) * length;
}

function unreadable(what: string, cause?: unknown): ValueError {
  return new ValueError(
    `Cannot schedule ${what}: write it as a duration of a second or more, like "10m", or as cron does, like "0 9 * * *"`,
    { cause },
  );
}

function readCron(pattern: string, timezone: string): (after: number) => number {
  checkZone(pattern, timezone);
  try {
    const cron = new Cron(pattern, { timezone, paused: true });
    cron.nextRun(new Date(0)); // which reads the time zone
    return (after) => cron.nextRun(new Date(after))?.getTime() ?? LAST;
  } catch (cause) {
    throw unreadable(timezone === "UTC" ? `"${pattern}"` : `"${pattern}" in ${timezone}`, cause);
  }
}

function checkZone(pattern: string, timeZone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
  } catch (cause) {
    throw new ValueError(
      `Cannot schedule "${pattern}": there is no time zone ${timeZone}; write it like Europe/Rome, or UTC`,
      { cause },
    );
  }
}
