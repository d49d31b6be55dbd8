/**
 * Invitations that a bot accepts: each is due until the bot has joined, it was refused for good, or the
 * invitation was withdrawn.
 *
 * @module
 */

import type { Client, HandlerContext } from "../../../mod.ts";
import type { RoomID } from "../../../types.ts";
import type { Accepted } from "../timers/accepted.ts";
import type { Timers } from "../timers/timers.ts";
import type { Inviters } from "./inviters.ts";
import { nextJoin } from "./join_patience.ts";

/** An invitation into a room. */
export type Invitation = Accepted["event"];

/** What invitations work with. */
export interface InvitationsOptions {
  readonly client: Client;
  /** Remembers who has invited. */
  readonly inviters: Inviters;
  /** Remembers what is due. */
  readonly timers: Timers;
}

/** Accepts invitations. */
export class Invitations {
  readonly #options: InvitationsOptions;
  /** What ends the joins under way. */
  readonly #joining = new Map<RoomID, AbortController>();

  /** @param options What it works with. */
  constructor(options: InvitationsOptions) {
    this.#options = options;
  }

  /**
   * Accepts an invitation. If that is not possible yet, it is tried again later.
   *
   * @returns Whether the bot has joined.
   * @throws {MatrixRequestError} If it is refused for good.
   */
  async accept(event: Invitation, context: HandlerContext): Promise<boolean> {
    const { client, inviters } = this.#options;
    const at = client.api.clock.now();
    context.updateSession(...inviters.note(event.room_id, { by: event.sender, at }));
    const hasJoined = await this.#join({ event, at }, context);
    if (hasJoined) return true;
    await context.settle();
    this.#options.timers.wake();
    return false;
  }

  /**
   * Accepts an invitation that was to be tried again.
   *
   * @returns Whether the bot has joined.
   * @throws {MatrixRequestError} If it is refused for good.
   */
  async again(accepted: Accepted, context: HandlerContext): Promise<boolean> {
    const inviter = await this.#options.inviters.of(accepted.event.room_id);
    if (inviter?.at !== accepted.at) return false; // it was withdrawn, or another came
    return await this.#join(accepted, context, { maxRetries: 0 });
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
    const { client, inviters, timers } = this.#options;
    const { room_id: room } = event;
    const ending = new AbortController();
    this.withdrawn(room); // what an older one has begun
    this.#joining.set(room, ending);
    try {
      await client.joinRoom(room, { ...options, signal: ending.signal });
      return true;
    } catch (error) {
      const isLatest = this.#joining.get(room) === ending;
      if (isLatest && ending.signal.aborted) context.updateSession(...inviters.forget(room));
      if (ending.signal.aborted) return false;
      const now = client.api.clock.now();
      const wait = nextJoin(error, now - at);
      if (wait === undefined) throw error;
      client.log.info("An invitation can't be accepted yet, and is tried again", { room, wait, error });
      const kept = { ...event, unsigned: undefined };
      timers.add(context, now + wait, { kind: "join", invitation: { event: kept, at } }, `join ${room}`);
      return false;
    } finally {
      if (this.#joining.get(room) === ending) this.#joining.delete(room);
    }
  }
}
