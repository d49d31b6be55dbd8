/**
 * A timer as it is stored, and its key: that begins with the time, so that the next one comes first.
 *
 * @module
 */

import { type Client, defineSession } from "../../../mod.ts";
import type { EventID, MemberEvent, RoomID, UserID } from "../../../types.ts";
import type { ConversationEnding } from "../run/mod.ts";

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
