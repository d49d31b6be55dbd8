/**
 * Decides whether an event notifies a user, and counts those that have since they read.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#push-rules | Push rules}
 *
 * @module
 */

import type { RoomID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { stringAt, valueAt } from "../json/json.ts";
import {
  canSee,
  firstAfter,
  matchesGlob as matchesText,
  membershipOf,
  PowerLevels,
  type Room,
  type RoomEvent,
} from "../rooms/mod.ts";
import { PUSH_RULE_KINDS, type PushRule, type PushRuleKind } from "./push_rules.ts";
import type { User } from "./user.ts";

/** What an event does to a user's counters. */
interface PushOutcome {
  /** It counts as unread. */
  readonly notify: boolean;
  /** It is for this user in particular. */
  readonly highlight: boolean;
  /** The actions of the rule that matched. */
  readonly actions: readonly unknown[];
}

const NOTHING: PushOutcome = { notify: false, highlight: false, actions: [] };

/** Whether an event is looked at for a user: one in a room that they are in, or their invite. */
export function concerns(room: Room, user: User, event: RoomEvent): boolean {
  const isInvite = event.type === "m.room.member" && event.stateKey === user.id &&
    membershipOf(event) === "invite";
  return isInvite || room.membership(user.id, event.position - 1) === "join";
}

/** Runs the user's push rules over an event. Own events notify no user. */
export function evaluatePush(user: User, room: Room, event: RoomEvent): PushOutcome {
  if (event.sender === user.id || event.redaction !== undefined) return NOTHING;
  if (!canSee(room, user, event)) return NOTHING;
  for (const kind of PUSH_RULE_KINDS) {
    for (const rule of user.pushRules.at(event.position, kind)) {
      if (!rule.enabled || !ruleMatches(kind, rule, user, room, event)) continue;
      const notify = rule.actions.includes("notify");
      return { notify, highlight: notify && rule.actions.some(isHighlight), actions: rule.actions };
    }
  }
  return NOTHING;
}

function isHighlight(action: unknown): boolean {
  return valueAt(action, ["set_tweak"]) === "highlight" && valueAt(action, ["value"]) !== false;
}

function ruleMatches(kind: PushRuleKind, rule: PushRule, user: User, room: Room, event: RoomEvent): boolean {
  switch (kind) {
    case "content":
      return rule.pattern !== undefined &&
        matchesGlob(rule.pattern, stringAt(event.content, "body"), { words: true });
    case "room":
      return rule.rule_id === event.roomId;
    case "sender":
      return rule.rule_id === event.sender;
    default:
      return (rule.conditions ?? []).every((condition) => conditionHolds(condition, user, room, event));
  }
}

function conditionHolds(condition: JsonObject, user: User, room: Room, event: RoomEvent): boolean {
  const key = stringAt(condition, "key") ?? "";
  switch (condition.kind) {
    case "event_match": {
      const value = propertyOf(event, key);
      return matchesGlob(stringAt(condition, "pattern") ?? "", value, { words: key === "content.body" });
    }
    case "event_property_is":
      return condition.value !== undefined && propertyOf(event, key) === condition.value;
    case "event_property_contains": {
      const value = propertyOf(event, key);
      return Array.isArray(value) && value.includes(condition.value);
    }
    case "contains_display_name": {
      const name = room.state("m.room.member", user.id, event.position)?.content.displayname;
      return typeof name === "string" && name !== "" &&
        matchesGlob(name.replaceAll(/[*?]/g, "?"), stringAt(event.content, "body"), { words: true });
    }
    case "room_member_count":
      return compareCount(stringAt(condition, "is") ?? "", membersAt(room, event));
    case "sender_notification_permission":
      return mayNotify(room, event, key);
    default:
      return false;
  }
}

/** Whether the sender might set off a notification of everyone when the event was sent. */
function mayNotify(room: Room, event: RoomEvent, key: string): boolean {
  const then = room.state("m.room.power_levels", "", event.position - 1);
  const levels = then === room.state("m.room.power_levels")
    ? room.powerLevels
    : new PowerLevels(room.version, room.events[0], then);
  return levels.of(event.sender) >= levels.toNotify(key);
}

/** How many members the room had when the event was sent. */
function membersAt(room: Room, event: RoomEvent): number {
  const later = room.stateEvents.slice(firstAfter(room.stateEvents, event.position));
  if (!later.some(({ type }) => type === "m.room.member")) return room.membersWith("join").length;
  return [...room.members.keys()].filter((id) => room.membership(id, event.position) === "join").length;
}

/** The property behind a dotted path in which a backslash escapes a dot. */
function propertyOf(event: RoomEvent, path: string): unknown {
  const keys = path.match(/(?:\\.|[^.\\])+/g)?.map((key) => key.replaceAll(/\\(.)/g, "$1")) ?? [];
  const root = {
    type: event.type,
    sender: event.sender,
    room_id: event.roomId,
    content: event.content,
    ...(event.stateKey === undefined ? {} : { state_key: event.stateKey }),
  };
  return valueAt(root, keys);
}

function matchesGlob(pattern: string, value: unknown, options: { words: boolean }): boolean {
  return typeof value === "string" && matchesText(pattern, value, options);
}

function compareCount(condition: string, count: number): boolean {
  const [, operator = "", number = ""] = /^(==|<=|>=|<|>)?(\d+)$/.exec(condition) ?? [];
  if (number === "") return false;
  const limit = Number(number);
  switch (operator) {
    case "<":
      return count < limit;
    case ">":
      return count > limit;
    case "<=":
      return count <= limit;
    case ">=":
      return count >= limit;
    default:
      return count === limit;
  }
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
