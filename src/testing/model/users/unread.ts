/**
 * Unread counters: how many events have notified a user since their receipt.
 *
 * @module
 */

import type { RoomID } from "../../../types/ids.ts";
import { evaluatePush } from "./push_evaluator.ts";
import type { Room } from "../rooms/room.ts";
import type { User } from "./user.ts";

/** Counters of one room. */
interface UnreadCounts {
  /** Events that notified. */
  readonly notifications: number;
  /** Events that notified and are for this user in particular. */
  readonly highlights: number;
}

interface Tally {
  start: number;
  end: number;
  redactions: number;
  notifications: number;
  highlights: number;
}

/**
 * The counters of one user, updated when they are read, so that events cost nothing when
 * they are sent.
 */
export class Unread {
  readonly #tallies = new WeakMap<User, Map<RoomID, Tally>>();

  /** The counters of a room. */
  of(user: User, room: Room): UnreadCounts {
    const tallies = this.#tallies.get(user) ?? new Map<RoomID, Tally>();
    this.#tallies.set(user, tallies);
    const start = firstUnread(user, room);
    let tally = tallies.get(room.id);
    const { redactions } = room; // what is redacted no longer counts
    if (tally === undefined || tally.start !== start || tally.redactions !== redactions) {
      tally = { start, end: start, redactions, notifications: 0, highlights: 0 };
      tallies.set(room.id, tally);
    }
    for (; tally.end < room.events.length; tally.end++) {
      const event = room.events[tally.end];
      if (event === undefined) break;
      const outcome = evaluatePush(user, room, event);
      if (outcome.notify) tally.notifications++;
      if (outcome.highlight) tally.highlights++;
    }
    return tally;
  }
}

/**
 * The index of the first event that the user has not read: behind their receipts and their join.
 */
function firstUnread(user: User, room: Room): number {
  let index = room.members.get(user.id)?.index ?? -1;
  for (const receipt of room.receipts.of(user.id)) {
    if (receipt.thread === undefined || receipt.thread === "main") index = Math.max(index, receipt.index);
  }
  return index + 1;
}
