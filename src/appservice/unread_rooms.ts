/**
 * Encrypted rooms that the own user is not in: what is said there can't be read, and that is logged.
 *
 * @module
 */

import type { Logger } from "../base/log.ts";
import { RecentMap } from "../base/recent_map.ts";
import { Membership } from "../types/enums.ts";
import { isJsonObject } from "../types/json.ts";
import type { RoomID } from "../types/ids.ts";

/** How many rooms are remembered. */
const MAX_ROOMS = 10_000;

/** What it takes to see whether the own user is in a room. */
export interface UnreadRoomsOptions {
  /** The own user. */
  readonly userId: string;
  /** Whether a user is one of the application service's: what they say need not be read. */
  readonly isOwn: (userId: string) => boolean;
  /** Whether the store has it that the own user is in a room. */
  readonly isThere: (roomId: RoomID) => Promise<boolean>;
  /** The rooms that the own user is in, as the homeserver has it. */
  readonly joinedRooms: () => Promise<readonly string[]>;
  /** Logs the rooms. */
  readonly log: Logger;
}

/** Finds such rooms, each once. */
export class UnreadRooms {
  readonly #options: UnreadRoomsOptions;
  /** The rooms that were looked at. */
  readonly #known = new RecentMap<string, RoomID>(MAX_ROOMS);

  /** @param options What it takes. */
  constructor(options: UnreadRoomsOptions) {
    this.#options = options;
  }

  /** Looks at events that have come: in which rooms something encrypted is said. */
  async look(events: readonly unknown[]): Promise<void> {
    const { userId, isOwn, isThere, joinedRooms, log } = this.#options;
    const rooms = new Set<RoomID>();
    const joined = new Set<unknown>();
    for (const event of events) {
      if (!isJsonObject(event) || typeof event.room_id !== "string") continue;
      const { type, room_id: roomId, sender, state_key: who, content } = event;
      const isSaid = type === "m.room.encrypted" && !isOwn(String(sender));
      if (isSaid && this.#known.get(roomId) === undefined) rooms.add(roomId as RoomID);
      const isOfOwn = type === "m.room.member" && who === userId && isJsonObject(content);
      if (isOfOwn && content.membership === Membership.JOIN) joined.add(roomId);
    }
    const doubtful: RoomID[] = [];
    for (const roomId of rooms) {
      if (joined.has(roomId) || await isThere(roomId)) this.#note(roomId);
      else doubtful.push(roomId);
    }
    if (doubtful.length === 0) return;
    // A store that is new does not have rooms that were joined before.
    const there = await joinedRooms().catch(() => undefined);
    if (there === undefined) return; // the next time
    for (const roomId of doubtful) {
      this.#note(roomId);
      if (there.includes(roomId)) continue;
      log.warn(
        "What is said in an encrypted room can't be read, since the own user is not in it, and other users " +
          "do not read; have one of them invite it, and let it join",
        { roomId, userId },
      );
    }
  }

  #note(roomId: RoomID): void {
    this.#known.set(roomId, roomId);
  }
}
