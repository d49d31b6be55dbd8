/**
 * Rooms that all own users have left: their state is removed a week later, as that of rooms that a
 * client has left.
 *
 * @module
 */

import { Membership } from "../types/enums.ts";
import { isJsonObject } from "../types/json.ts";
import type { RoomID } from "../types/ids.ts";

/** How often it is looked at a room before the state of which its last member leaves is there. */
const LOOKS = 10;
/** How many rooms are looked at. */
const MAX_ROOMS = 1_000;

/** What it takes to see which rooms are left. */
export interface LeftRoomsOptions {
  /** Whether a user is one of the application service's. */
  readonly isOwn: (userId: string) => boolean;
  /** Whether any of them is in a room, or invited, as far as the store knows. */
  readonly hasOwnMember: (roomId: RoomID) => Promise<boolean>;
}

/** Finds them. */
export class LeftRooms {
  readonly #options: LeftRoomsOptions;
  /** The rooms that somebody has left, and how often they may be looked at. */
  readonly #rooms = new Map<RoomID, number>();

  /** @param options What it takes. */
  constructor(options: LeftRoomsOptions) {
    this.#options = options;
  }

  /** Notes who leaves. */
  note(events: readonly unknown[]): void {
    for (const event of events) {
      if (!isJsonObject(event) || event.type !== "m.room.member" || !isJsonObject(event.content)) continue;
      const { room_id: roomId, state_key: userId, content: { membership } } = event;
      if (typeof roomId !== "string" || typeof userId !== "string" || !this.#options.isOwn(userId)) continue;
      const isGone = membership === Membership.LEAVE || membership === Membership.BAN;
      if (!isGone) this.#rooms.delete(roomId as RoomID);
      else if (this.#rooms.size < MAX_ROOMS) this.#rooms.set(roomId as RoomID, LOOKS);
    }
  }

  /** The rooms that nobody of them is in any more; each is named once. */
  async find(): Promise<RoomID[]> {
    const left: RoomID[] = [];
    for (const [roomId, looks] of this.#rooms) {
      const isLeft = !await this.#options.hasOwnMember(roomId);
      if (isLeft) left.push(roomId);
      if (isLeft || looks === 1) this.#rooms.delete(roomId);
      else this.#rooms.set(roomId, looks - 1);
    }
    return left;
  }
}
