/**
 * Who was a member of a room when.
 *
 * @module
 */

import type { RoomID, UserID } from "@greenroom/matrix/types";
import type { WorldHomeserver } from "../setback/restorable_homeserver.ts";

/** The memberships of a room, over time. */
export class Memberships {
  readonly #changes = new Map<UserID, { readonly at: number; readonly membership: string }[]>();

  /** The room. */
  readonly room: RoomID;

  constructor(homeserver: WorldHomeserver, room: RoomID) {
    this.room = room;
    for (const { type, state_key, origin_server_ts: at, content } of homeserver.room(room).events) {
      if (type !== "m.room.member") continue;
      const changes = this.#changes.getOrInsertComputed(state_key as UserID, () => []);
      changes.push({ at, membership: String(content.membership) });
    }
  }

  /** What a user was at some moment. */
  at(user: UserID, moment: number): string {
    return this.#changes.get(user)?.findLast(({ at }) => at <= moment)?.membership ?? "leave";
  }

  /** When a user joined next after some moment; undefined: never. */
  joinedAfter(user: UserID, moment: number): number | undefined {
    return this.#changes.get(user)?.find(({ at, membership }) => at > moment && membership === "join")?.at;
  }

  /** Whether a user was joined all the time between two moments. */
  joined(user: UserID, from: number, to: number): boolean {
    const changes = this.#changes.get(user) ?? [];
    return this.at(user, from) === "join" &&
      !changes.some(({ at, membership }) => at > from && at <= to && membership !== "join");
  }

  /** Whether a user was neither joined nor invited at any time between two moments. */
  absent(user: UserID, from: number, to: number): boolean {
    const isAway = (membership: string) => !["join", "invite"].includes(membership);
    const changes = this.#changes.get(user) ?? [];
    return isAway(this.at(user, from)) &&
      !changes.some(({ at, membership }) => at > from && at <= to && !isAway(membership));
  }
}
