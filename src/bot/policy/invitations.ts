/**
 * Invitations that a bot accepts: each is tried until the bot has joined, it was refused for good, or the
 * invitation was withdrawn.
 *
 * @module
 */

import {
  type Client,
  defineSession,
  type HandlerContext,
  type SessionChange,
  type SessionDefinition,
} from "../../../mod.ts";
import type { RoomID, UserID } from "../../../types.ts";
import type { Accepted, Timers } from "../timers/mod.ts";
import { joinLate, JoinQueue, nextJoin } from "./joining.ts";
import { type InviteLimit, InviteLimiter } from "./limits.ts";

/** An invitation into a room. */
export type Invitation = Accepted["event"];

/** Accepts invitations. */
export class Invitations {
  readonly inviters: Inviters;
  readonly #client: Client;
  readonly #timers: Timers;
  readonly #limiter: InviteLimiter | undefined;
  readonly #joins = new JoinQueue();
  /** What ends the joins under way. */
  readonly #joining = new Map<RoomID, AbortController>();

  /**
   * @param client Joins.
   * @param timers Try again.
   * @param limit How many are taken; `false`: all.
   * @throws {ValueError} If the limit lets none through.
   */
  constructor(client: Client, timers: Timers, limit: Partial<InviteLimit> | false | undefined) {
    this.#client = client;
    this.#timers = timers;
    this.#limiter = limit === false ? undefined : new InviteLimiter(limit);
    this.inviters = new Inviters(client);
  }

  /** When the next invitation of a user has its turn; undefined: never, and the log says so. */
  turnOf(user: UserID): number | undefined {
    const [client, limiter] = [this.#client, this.#limiter];
    const now = client.api.clock.now();
    if (limiter === undefined) return now;
    const turn = limiter.take(user, now);
    if (turn === undefined && limiter.tells(user, now)) {
      client.log.warn("Ignores invitations of a user: more wait than inviteLimit lets in", { user });
    }
    return turn;
  }

  /**
   * Accepts an invitation. If that is not possible yet, it is tried again later.
   *
   * @param turn When it has its turn, in milliseconds since the epoch.
   * @returns Whether the bot has joined.
   * @throws {MatrixRequestError} If it is refused for good.
   */
  async accept(event: Invitation, turn: number, context: HandlerContext): Promise<boolean> {
    const at = this.#client.api.clock.now();
    context.updateSession(...this.inviters.note(event.room_id, { by: event.sender, at }));
    if (turn > at) this.#later({ event, at }, turn, context);
    else if (await this.#join({ event, at }, context)) return true;
    await context.settle();
    this.#timers.wake();
    return false;
  }

  /**
   * Accepts an invitation that was to be tried again.
   *
   * @returns Whether the bot has joined.
   * @throws {MatrixRequestError} If it is refused for good.
   */
  async again(accepted: Accepted, context: HandlerContext): Promise<boolean> {
    const inviter = await this.inviters.of(accepted.event.room_id);
    if (inviter?.at !== accepted.at) return false; // it was withdrawn, or another came
    return await this.#join(accepted, context, { maxRetries: 0 });
  }

  /** Accepts an invitation in its turn, and waits for it. */
  async acceptNow(room: RoomID, inviter: UserID, signal: AbortSignal): Promise<void> {
    await this.#joins.run(inviter, () => joinLate(this.#client, room, { signal }));
  }

  /** The bot is not invited any more. */
  withdrawn(room: RoomID): void {
    this.#joining.get(room)?.abort();
  }

  async #join(
    { event, at }: Accepted,
    context: HandlerContext,
    options: { readonly maxRetries?: number } = {},
  ): Promise<boolean> {
    const client = this.#client;
    const { room_id: room, sender } = event;
    const ending = new AbortController();
    this.withdrawn(room); // what an older one has begun
    this.#joining.set(room, ending);
    try {
      await this.#joins.run(sender, () => client.joinRoom(room, { ...options, signal: ending.signal }));
      return true;
    } catch (error) {
      const isLatest = this.#joining.get(room) === ending;
      if (isLatest && ending.signal.aborted) context.updateSession(...this.inviters.forget(room));
      if (ending.signal.aborted) return false;
      const now = client.api.clock.now();
      const wait = nextJoin(error, now - at);
      if (wait === undefined) throw error;
      client.log.info("An invitation can't be accepted yet, and is tried again", { room, wait, error });
      this.#later({ event, at }, now + wait, context);
      return false;
    } finally {
      if (this.#joining.get(room) === ending) this.#joining.delete(room);
    }
  }

  #later({ event, at }: Accepted, due: number, context: HandlerContext): void {
    const kept = { ...event, unsigned: undefined };
    const timer = { kind: "join", invitation: { event: kept, at } } as const;
    this.#timers.add(context, due, timer, `join ${event.room_id}`);
  }
}

/** Who has invited a bot, and when. */
export interface Inviter {
  /** The user who invited. */
  readonly by: UserID;
  /** When the invitation was handled, in milliseconds since the epoch. */
  readonly at: number;
}

const INVITERS = defineSession<{ inviter: Inviter | undefined }>({
  name: "bot.inviters",
  per: "room",
  initial: () => ({ inviter: undefined }),
});

/** A change of a session, as `updateSession()` takes it. */
type Update = [
  SessionDefinition<{ inviter: Inviter | undefined }>,
  RoomID,
  SessionChange<{ inviter: Inviter | undefined }>,
];

/** Remembers who has invited. */
export class Inviters {
  readonly #client: Client;

  /** @param client Keeps it. */
  constructor(client: Client) {
    this.#client = client;
  }

  /** Who has invited into a room; undefined: nobody, as far as is known. */
  async of(room: RoomID): Promise<Inviter | undefined> {
    return (await this.#client.sessions.read(INVITERS, room))?.inviter;
  }

  /** Notes who has invited. */
  note(room: RoomID, inviter: Inviter): Update {
    return [INVITERS, room, () => ({ inviter })];
  }

  /** Forgets who has invited into a room that the bot has left. */
  forget(room: RoomID): Update {
    return [INVITERS, room, () => null];
  }
}
