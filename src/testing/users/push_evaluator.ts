/**
 * Decides whether an event notifies a user, and counts those that have since they read.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#push-rules | Push rules}
 *
 * @module
 */

import type { PushRuleset } from "../../types/content/account_data_content.ts";
import type { RoomID } from "../../types/ids.ts";
import { evaluatePushRules, NO_PUSH, type PushResult } from "../../types/push_rules.ts";
import { canSee, firstAfter, membershipOf, PowerLevels, type Room, type RoomEvent } from "../rooms/mod.ts";
import type { User } from "./user.ts";

/** Returns whether an event is looked at for a user: one in a room that they are in, or their invite. */
export function concerns(room: Room, user: User, event: RoomEvent): boolean {
  const isInvite = event.type === "m.room.member" && event.stateKey === user.id &&
    membershipOf(event) === "invite";
  return isInvite || room.membership(user.id, event.position - 1) === "join";
}

/** Runs the user's push rules over an event. Own events notify no user. */
export function evaluatePush(user: User, room: Room, event: RoomEvent): PushResult {
  if (event.sender === user.id || event.redaction !== undefined || !canSee(room, user, event)) return NO_PUSH;
  const { type, sender, roomId: room_id, content, stateKey: state_key } = event;
  const rules = user.pushRules.at(event.position) as PushRuleset;
  return evaluatePushRules(rules, { type, sender, room_id, content, state_key }, {
    get displayName() {
      const name = room.state("m.room.member", user.id, event.position)?.content.displayname;
      return typeof name === "string" ? name : undefined;
    },
    get memberCount() {
      return membersAt(room, event);
    },
    mayNotify: (way) => mayNotify(room, event, way),
  });
}

/** Returns whether the sender might set off a notification of everyone when the event was sent. */
function mayNotify(room: Room, event: RoomEvent, key: string): boolean {
  const then = room.state("m.room.power_levels", "", event.position - 1);
  const levels = then === room.state("m.room.power_levels")
    ? room.powerLevels
    : new PowerLevels(room.version, room.events[0], then);
  return levels.of(event.sender) >= levels.toNotify(key);
}

/** Counts the members that the room had when the event was sent. */
function membersAt(room: Room, event: RoomEvent): number {
  const later = room.stateEvents.slice(firstAfter(room.stateEvents, event.position));
  if (!later.some(({ type }) => type === "m.room.member")) return room.membersWith("join").length;
  return [...room.members.keys()].filter((id) => room.membership(id, event.position) === "join").length;
}

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
      if (outcome.isNotified) tally.notifications++;
      if (outcome.isHighlighted) tally.highlights++;
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
