/**
 * The reminders that are pending: whose they are, and how many one user may have in a room.
 *
 * @module
 */

import { type Client, defineSession, type HandlerContext, ValueError } from "../../../mod.ts";
import type { RoomID, UserID } from "../../../types.ts";
import type { Hints } from "../../errors/hints.ts";
import { checkOptions } from "../../errors/known_names.ts";
import { checkDue, dueOf, pendingTimers, type Reminder, TIMERS } from "./timer.ts";

/** @internal Names of other libraries, for the compiler. */
export interface PendingReminderHints extends Hints<{ cancel: "bot.reminders.cancel(reminder.id)" }> {}

/** Text that a bot still has to send. */
export interface PendingReminder extends PendingReminderHints {
  /** The ID of the reminder, for {@linkcode RemindersAPI.cancel}. */
  readonly id: string;
  /** The time at which it fires. */
  readonly due: Date;
  /** The room that it is sent to. */
  readonly roomId: RoomID;
  /** Who asked for it; undefined: nobody. */
  readonly by: UserID | undefined;
  /** The function it is for; empty: its text is said. */
  readonly name: string;
  /** What it says, or what the function gets. */
  readonly data: unknown;
}

/** Which reminders to list. */
export interface RemindersFilter {
  /** Only of this room. Default: of all rooms. */
  roomId?: RoomID;
  /** Only those that this user asked for. Default: of all users. */
  userId?: UserID;
}

/** The reminders of a bot. */
export interface RemindersAPI {
  /**
   * Lists reminders whose time has not come yet, the next one first. Texts of `c.later()` are none: see
   * {@linkcode LaterAPI.list}.
   *
   * @param filter Which ones. Default: all.
   * @throws {ValueError} If there is no such option.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export function addPending(bot: Bot): void {
   *   bot.command("pending", async (c) => {
   *     const pending = await bot.reminders.list({ roomId: c.roomId, userId: c.sender });
   *     await c.reply(`${pending.length} reminders`);
   *   });
   * }
   * ```
   */
  list(filter?: RemindersFilter): Promise<PendingReminder[]>;
  /**
   * Cancels a reminder.
   *
   * @param id Its ID: `id` of what `c.remind()` returned.
   * @returns Whether it was pending.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export function addForget(bot: Bot): void {
   *   bot.command("forget <id>", async (c) => {
   *     await c.reply(await bot.reminders.cancel(c.args.id) ? "Forgotten." : "There is no such reminder.");
   *   });
   * }
   * ```
   */
  cancel(id: string): Promise<boolean>;
}

/** Whose reminder it is, and where: the bot itself has no limit. */
type Owner = Pick<Reminder, "room" | "by">;

/** The keys of a user's reminders in a room. */
const OWNED = defineSession<{ keys: readonly string[] }>({
  name: "bot.reminders",
  per: "member",
  initial: () => ({ keys: [] }),
});

/** Keeps the reminders, and counts those of users, so that nobody fills the store with them. */
export class Reminders implements RemindersAPI {
  readonly #client: Client;
  readonly #limit: number;
  /** The names of the bot's functions for reminders. */
  readonly #names = new Set<string>();
  /** What handlers have added that is not committed yet. */
  readonly #added = new WeakMap<HandlerContext, Map<string, number>>();

  /**
   * @param client Stores them.
   * @param limit The most that a user may have in a room. Default: 100.
   * @throws {ValueError} If it is no number of at least 1.
   */
  constructor(client: Client, limit = 100) {
    if (!(limit >= 1)) throw new ValueError("Cannot make a bot: maxReminders must be a number of at least 1");
    this.#client = client;
    this.#limit = limit;
  }

  /**
   * Adds the name of a function.
   *
   * @throws {ValueError} If it is taken.
   */
  addName(name: string): void {
    if (name === "" || this.#names.has(name)) {
      throw new ValueError(`Cannot add a function for reminders: the name "${name}" is empty, or taken`);
    }
    this.#names.add(name);
  }

  /**
   * Checks a reminder.
   *
   * @throws {ValueError} If there is no such time, or no such function.
   */
  check(due: number, name: string): void {
    checkDue(due, "remind");
    if (name !== "" && !this.#names.has(name)) {
      throw new ValueError(`Cannot remind: the bot has no function "${name}"; add it with bot.reminder()`);
    }
  }

  async list(filter: RemindersFilter = {}): Promise<PendingReminder[]> {
    const isWanted = readFilter(filter, "list reminders");
    const found: PendingReminder[] = [];
    const now = this.#client.api.clock.now(); // one whose time has come is being said
    for await (const { key, due, timer } of pendingTimers(this.#client)) {
      if (timer.kind !== "remind" || due <= now) continue;
      const pending = pendingOf(key, timer.reminder);
      if (isWanted(pending)) found.push(pending);
    }
    return found;
  }

  async cancel(id: string): Promise<boolean> {
    const { sessions } = this.#client;
    const kept = await sessions.read(TIMERS, id);
    if (kept === undefined) return false;
    await sessions.end(TIMERS, id);
    if (kept.timer?.kind === "remind") await this.releaseNow(kept.timer.reminder, id);
    return true;
  }

  /**
   * Counts a reminder, in the commit of a handler.
   *
   * @throws {ValueError} If the user has as many as may be.
   */
  async take(context: HandlerContext, { room, by }: Owner, key: string): Promise<void> {
    if (by === undefined) return;
    const { clock } = this.#client.api;
    const kept = await this.#client.sessions.read(OWNED, [room, by]);
    const pending = (keys: readonly string[]) =>
      keys.filter((each) => each !== key && dueOf(each) > clock.now());
    const added = this.#added.get(context) ?? new Map<string, number>();
    this.#added.set(context, added);
    const owner = JSON.stringify([room, by]);
    const more = added.get(owner) ?? 0;
    if (pending(kept?.keys ?? []).length + more >= this.#limit) {
      throw new ValueError(
        `Cannot remind ${by}: ${this.#limit} reminders of this user are pending in the room; cancel one, or wait for one`,
      );
    }
    added.set(owner, more + 1);
    context.updateSession(OWNED, [room, by], ({ keys }) => ({ keys: [...pending(keys), key] }));
  }

  /** Counts a reminder no more, in the commit of a handler. */
  release(context: HandlerContext, { room, by }: Owner, key: string): void {
    if (by !== undefined) context.updateSession(OWNED, [room, by], without(key));
  }

  /** Counts a reminder no more. */
  async releaseNow({ room, by }: Owner, key: string): Promise<void> {
    if (by !== undefined) await this.#client.sessions.update(OWNED, [room, by], without(key));
  }
}

/**
 * Reads which reminders, or texts for later, are to be listed.
 *
 * @param action What can't be done with an option that there is not, as the error has it.
 * @returns Says whether one is.
 * @throws {ValueError} If there is no such option.
 */
export function readFilter(
  filter: RemindersFilter,
  action: string,
): (pending: Pick<PendingReminder, "roomId" | "by">) => boolean {
  checkOptions(filter, { roomId: true, userId: true }, action);
  const { roomId, userId } = filter;
  return (pending) =>
    (roomId === undefined || pending.roomId === roomId) && (userId === undefined || pending.by === userId);
}

/** What applications see of a reminder. */
export function pendingOf(id: string, { room: roomId, by, name, data }: Reminder): PendingReminder {
  return { id, due: new Date(dueOf(id)), roomId, by, name, data };
}

function without(key: string): (state: { readonly keys: readonly string[] }) => { keys: string[] } | null {
  return ({ keys }) => {
    const rest = keys.filter((each) => each !== key);
    return rest.length === 0 ? null : { keys: rest };
  };
}
