/**
 * How many reminders one user may have pending in a room.
 *
 * @module
 */

import { type Client, defineSession, type HandlerContext, ValueError } from "../../../mod.ts";
import type { RoomID, UserID } from "../../../types.ts";
import { dueOf } from "./timer.ts";

/** Whose reminder it is, and where. */
interface Owner {
  readonly room: RoomID;
  /** Who asked for it; undefined: the bot itself, which has no limit. */
  readonly by: UserID | undefined;
}

/** The keys of a user's reminders in a room. */
const OWNED = defineSession<{ keys: readonly string[] }>({
  name: "bot.reminders",
  per: "member",
  initial: () => ({ keys: [] }),
});

/** Counts the reminders of users, so that nobody fills the store with them. */
export class ReminderLimit {
  readonly #client: Client;
  readonly #limit: number;
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

function without(key: string): (state: { readonly keys: readonly string[] }) => { keys: string[] } | null {
  return ({ keys }) => {
    const rest = keys.filter((each) => each !== key);
    return rest.length === 0 ? null : { keys: rest };
  };
}
