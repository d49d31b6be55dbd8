/**
 * Decides whether an event notifies a user, counts those that have since they read, and sends notifications
 * to the addresses that pushers name, as Synapse does.
 *
 * Each pusher sends one after the other, from the event on that was the latest when it was set. What has been
 * read by then is not sent. Where sending fails, it waits, longer each time, and goes on with the same event;
 * after a day it leaves that out.
 *
 * @see {@link https://spec.matrix.org/v1.19/push-gateway-api/ | Push gateway API}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#push-rules | Push rules}
 *
 * Over 300 lines because who is notified and by which pusher are one question.
 *
 * @module
 */

import { alarm } from "../../base/clock.ts";
import type { PushRuleset } from "../../types/content/account_data_content.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { evaluatePushRules, NO_PUSH, type PushResult } from "../../types/push_rules.ts";
import type { HomeserverOptions } from "../homeserver_options.ts";
import { canSee, firstAfter, membershipOf, PowerLevels, type Room, type RoomEvent } from "../rooms/mod.ts";
import type { User } from "./user.ts";

const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 3_600_000;
/** When it gives an event up, in milliseconds. */
const GIVE_UP = 86_400_000;
/** How long an answer may take, in milliseconds. */
const TIMEOUT = 60_000;

/** What a pusher has to do. */
interface Work {
  readonly events: { readonly room: Room; readonly event: RoomEvent }[];
  isBusy: boolean;
  wait: number;
  failingSince: number | undefined;
  badge: number | undefined;
}

/** What of a homeserver its pushers need. */
interface PushingServer {
  /** What was set when it was made. */
  readonly settings: Required<Pick<HomeserverOptions, "clock">> & Pick<HomeserverOptions, "pushFetch">;
  readonly users: ReadonlyMap<UserID, User>;
  readonly rooms: ReadonlyMap<RoomID, Room>;
  /** Unread counters. */
  readonly unread: Pick<Unread, "of">;
  /** The time, in milliseconds since the epoch. */
  readonly now: number;
  /** Whether it has shut down. */
  readonly closed: boolean;
  /** Aborted when it does. */
  readonly closing: AbortSignal;
  /** Does something later. */
  later(ms: number, action: () => void): void;
}

/** The pushers of all users. */
export class Pushers {
  readonly #server: PushingServer;
  readonly #work = new WeakMap<User, Map<string, Work>>();

  /** Sends with what the homeserver was given. */
  constructor(server: PushingServer) {
    this.#server = server;
  }

  /** A pusher was set: from now on it sends. One that was there goes on. */
  set(user: User, key: string): void {
    const all = this.#work.get(user) ?? new Map<string, Work>();
    this.#work.set(user, all);
    const known = all.get(key);
    all.set(key, {
      events: known?.events ?? [],
      isBusy: false,
      wait: FIRST_WAIT,
      failingSince: undefined,
      badge: undefined,
    });
    this.#go(user, key);
  }

  /** A pusher was removed. */
  removed(user: User, key: string): void {
    this.#work.get(user)?.delete(key);
  }

  /** An event was sent to a room: it goes to those whom it notifies. */
  sent(room: Room, event: RoomEvent): void {
    if (this.#server.settings.pushFetch === undefined) return;
    for (const user of this.#server.users.values()) {
      const all = this.#work.get(user);
      if (all === undefined || all.size === 0 || !concerns(room, user, event)) continue;
      if (!evaluatePush(user, room, event).isNotified) continue;
      for (const [key, work] of all) {
        work.events.push({ room, event });
        if (work.failingSince === undefined) this.#go(user, key);
      }
    }
  }

  /** A user has read something: their devices are told how much is left. */
  read(user: User): void {
    for (const [key, work] of this.#work.get(user) ?? []) {
      const badge = this.#badge(user);
      if (work.badge === badge) continue;
      work.badge = badge;
      // Not tried again.
      this.#post(user, key, { id: "", type: null, sender: "", counts: { unread: badge } }).catch(() => {});
    }
  }

  #go(user: User, key: string): void {
    const work = this.#work.get(user)?.get(key);
    if (work === undefined || work.isBusy) return;
    work.isBusy = true;
    void this.#run(user, key, work).finally(() => work.isBusy = false);
  }

  async #run(user: User, key: string, work: Work): Promise<void> {
    for (let next = work.events[0]; next !== undefined; next = work.events[0]) {
      if (this.#server.closed || this.#work.get(user)?.get(key) !== work) return;
      const { room, event } = next;
      const isDue = event.redaction === undefined && !isRead(user, room, event);
      try {
        if (isDue) await this.#send(user, key, next);
      } catch {
        const { now } = this.#server;
        work.failingSince ??= now;
        if (work.failingSince >= now - GIVE_UP) {
          const { wait } = work;
          work.wait = Math.min(2 * wait, LONGEST_WAIT);
          this.#server.later(wait, () => this.#go(user, key));
          return;
        }
      }
      work.failingSince = undefined;
      work.wait = FIRST_WAIT;
      work.events.shift();
    }
  }

  async #send(user: User, key: string, { room, event }: Work["events"][number]): Promise<void> {
    const pusher = user.pushers.get(key);
    const tweaks = tweaksOf(evaluatePush(user, room, event).rule?.actions ?? []);
    const prio = event.type === "m.room.encrypted" || tweaks.highlight || tweaks.sound ? "high" : "low";
    const common = { event_id: event.id, room_id: room.id, prio, counts: { unread: this.#badge(user) } };
    const isShort = isJsonObject(pusher?.data) && pusher.data.format === "event_id_only";
    if (isShort) return await this.#post(user, key, common);
    const target = event.type === "m.room.member" && event.stateKey !== undefined
      ? { membership: event.content.membership, user_is_target: event.stateKey === user.id }
      : {};
    const { type, sender, content } = event;
    await this.#post(user, key, { id: event.id, ...common, type, sender, ...target, content }, tweaks);
  }

  async #post(user: User, key: string, notification: JsonObject, tweaks: JsonObject = {}): Promise<void> {
    const { pushFetch } = this.#server.settings;
    const pusher = user.pushers.get(key);
    if (pusher?.kind !== "http" || pushFetch === undefined || !isJsonObject(pusher.data)) return;
    const { url, ...data } = pusher.data;
    const device = {
      app_id: pusher.app_id,
      pushkey: pusher.pushkey,
      pushkey_ts: 0,
      data,
      ...(Object.keys(tweaks).length > 0 && { tweaks }),
    };
    const late = new AbortController();
    const inTime = alarm(this.#server.settings.clock, TIMEOUT, () => late.abort());
    try {
      const response = await pushFetch(String(url), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ notification: { ...notification, devices: [device] } }),
        signal: AbortSignal.any([late.signal, this.#server.closing]),
      });
      const text = await response.text();
      if (!response.ok) throw new TypeError(`The push gateway answered ${response.status}`);
      const answer: unknown = JSON.parse(text);
      const rejected = isJsonObject(answer) && Array.isArray(answer.rejected) ? answer.rejected : [];
      if (rejected.includes(pusher.pushkey)) {
        user.pushers.delete(key);
        this.removed(user, key);
      }
    } finally {
      inTime();
    }
  }

  /** In how many rooms there is something unread. */
  #badge(user: User): number {
    const rooms = [...user.roomsWith("join")].flatMap((id) => this.#server.rooms.get(id) ?? []);
    return rooms.filter((room) => this.#server.unread.of(user, room).notifications > 0).length +
      [...user.roomsWith("invite")].length;
  }
}

function isRead(user: User, room: Room, event: RoomEvent): boolean {
  return room.receipts.of(user.id).some(({ index }) => index >= event.index);
}

function tweaksOf(actions: readonly unknown[]): JsonObject {
  const tweaks: Record<string, JsonObject[string]> = {};
  for (const action of actions) {
    if (!isJsonObject(action) || typeof action.set_tweak !== "string") continue;
    tweaks[action.set_tweak] = action.value ?? true;
  }
  return tweaks;
}

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
