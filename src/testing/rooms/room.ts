/**
 * A room: its events, its state now and at any earlier moment, and who has read how far.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#receipts | Receipts}
 *
 * @module
 */

import type { EventID, RoomID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { stringAt } from "../json/json.ts";
import {
  firstAfter,
  membershipOf,
  PowerLevels,
  Relations,
  type RoomEvent,
  type RoomVersion,
} from "./room_event.ts";

export class Room {
  readonly id: RoomID;
  readonly version: RoomVersion;
  /** The name of the homeserver. */
  readonly serverName: string;
  /** All events in the order in which they were sent. */
  readonly events: RoomEvent[] = [];
  /** The state events among them. */
  readonly stateEvents: RoomEvent[] = [];
  /** Which events point at which others. */
  readonly relations: Relations = new Relations();
  /** Who has read how far. */
  readonly receipts: Receipts = new Receipts();
  /** Who is typing, and until when in milliseconds since the epoch. */
  readonly typing: Map<UserID, number> = new Map();
  /** Where the last change of who is typing lies in the stream. */
  typingPosition = 0;
  /**
   * What the server of who invites sends along with invitations and knocks, beside the state that it should.
   */
  sentAlong: readonly JsonObject[] = [];
  /** Whether the room directory lists it. */
  published = false;
  /** How many of its events have lost their content. */
  redactions = 0;
  readonly #byId = new Map<EventID, RoomEvent>();
  readonly #history = new Map<string, RoomEvent[]>();
  readonly #members = new Map<UserID, RoomEvent>();
  #powerLevels: PowerLevels | undefined;

  /** Makes a room without events. */
  constructor(id: RoomID, version: RoomVersion, serverName: string) {
    this.id = id;
    this.version = version;
    this.serverName = serverName;
  }

  /** The event with this ID. */
  event(id: string): RoomEvent | undefined {
    return this.#byId.get(id as EventID);
  }

  /** The state event in force, now or right after the event at stream position `at`. */
  state(type: string, key = "", at = Infinity): RoomEvent | undefined {
    const history = this.#history.get(`${type}\0${key}`);
    if (history === undefined) return undefined;
    return at === Infinity ? history.at(-1) : history[firstAfter(history, at) - 1];
  }

  /** Every event that this piece of state has ever been, oldest first. */
  stateHistory(type: string, key = ""): readonly RoomEvent[] {
    return this.#history.get(`${type}\0${key}`) ?? [];
  }

  /** All state in force, now or right after the event at stream position `at`. */
  fullState(at = Infinity): RoomEvent[] {
    const state: RoomEvent[] = [];
    for (const history of this.#history.values()) {
      const event = at === Infinity ? history.at(-1) : history[firstAfter(history, at) - 1];
      if (event !== undefined) state.push(event);
    }
    return state.sort((a, b) => a.position - b.position);
  }

  /** The state events that came after position `from`, up to `to`: the latest of each kind. */
  stateChanges(from: number, to: number): RoomEvent[] {
    const changes = new Map<string, RoomEvent>();
    for (let i = firstAfter(this.stateEvents, from); i < this.stateEvents.length; i++) {
      const event = this.stateEvents[i];
      if (event === undefined || event.position > to) break;
      changes.set(`${event.type}\0${event.stateKey}`, event);
    }
    return [...changes.values()];
  }

  /** The membership of a user, now or right after position `at`. */
  membership(user: UserID, at = Infinity): string {
    return membershipOf(this.state("m.room.member", user, at));
  }

  /** The current member events by user. */
  get members(): ReadonlyMap<UserID, RoomEvent> {
    return this.#members;
  }

  /** The users whose current membership is `membership`. */
  membersWith(membership: string): UserID[] {
    const users: UserID[] = [];
    for (const [user, event] of this.#members) if (membershipOf(event) === membership) users.push(user);
    return users;
  }

  /** The power levels in force. */
  get powerLevels(): PowerLevels {
    this.#powerLevels ??= new PowerLevels(this.version, this.events[0], this.state("m.room.power_levels"));
    return this.#powerLevels;
  }

  /** The join rule in force. */
  get joinRule(): string {
    const { join_rule = "invite" } = this.state("m.room.join_rules")?.content ?? {};
    return typeof join_rule === "string" ? join_rule : ""; // which lets nobody in, as Synapse has it
  }

  /** Returns who may read the history, now or right after position `at`. */
  historyVisibility(at = Infinity): string {
    return stringAt(this.state("m.room.history_visibility", "", at)?.content ?? {}, "history_visibility") ??
      "shared";
  }

  /** The position of the latest event. */
  get latest(): number {
    return this.events.at(-1)?.position ?? 0;
  }

  /** Notes that an event has lost its content, which may have been what is in force. */
  redacted(event: RoomEvent): void {
    this.redactions++;
    if (event.type === "m.room.power_levels") this.#powerLevels = undefined;
  }

  /** Adds an event that has passed the rules. */
  append(event: RoomEvent): void {
    this.events.push(event);
    this.#byId.set(event.id, event);
    this.relations.add(event);
    if (event.stateKey === undefined) return;
    this.stateEvents.push(event);
    const key = `${event.type}\0${event.stateKey}`;
    const history = this.#history.get(key);
    if (history === undefined) this.#history.set(key, [event]);
    else history.push(event);
    if (event.type === "m.room.member") this.#members.set(event.stateKey as UserID, event);
    if (event.type === "m.room.power_levels" || event.type === "m.room.create") this.#powerLevels = undefined;
  }
}

/** One receipt: a user has one of each type and thread. */
export interface Receipt {
  /** Whose it is. */
  readonly user: UserID;
  /** `m.read` or `m.read.private`. */
  readonly type: string;
  /** The event that was read. */
  readonly event: EventID;
  /** The index of that event in the room. */
  readonly index: number;
  /** The thread, `main`, or `undefined` for an unthreaded receipt. */
  readonly thread: string | undefined;
  /** When it was sent, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** Where it lies in the stream. */
  readonly position: number;
}

/** The receipts of a room. */
class Receipts {
  readonly #receipts = new Map<string, Receipt>();
  #latest = 0;

  /**
   * Stores a receipt, unless the user has one further down already. Returns whether it was stored.
   */
  set(receipt: Receipt): boolean {
    const key = JSON.stringify([receipt.user, receipt.type, receipt.thread ?? null]);
    const old = this.#receipts.get(key);
    if (old !== undefined && old.index >= receipt.index) return false;
    this.#receipts.set(key, receipt);
    this.#latest = receipt.position;
    return true;
  }

  /**
   * The receipts that `viewer` may see and that changed after `position`. An unthreaded one, of any
   * type and private or not, takes the place of those that its user has for the event in threads.
   */
  since(position: number, viewer: UserID): Receipt[] {
    return this.#latest <= position ? [] : this.#shown(viewer, (receipt) => receipt.position > position);
  }

  /** The viewer's own receipts and, of those that `viewer` may see, the ones for some events. */
  at(events: ReadonlySet<EventID>, viewer: UserID): Receipt[] {
    return this.#shown(viewer, ({ user, event }) => user === viewer || events.has(event));
  }

  #shown(viewer: UserID, isAsked: (receipt: Receipt) => boolean): Receipt[] {
    const asked = [...this.#receipts.values()].filter(isAsked);
    const userAndEvent = ({ user, event }: Receipt) => `${user} ${event}`;
    const unthreaded = new Set(asked.filter(({ thread }) => thread === undefined).map(userAndEvent));
    return asked.filter((receipt) =>
      (receipt.thread === undefined || !unthreaded.has(userAndEvent(receipt))) &&
      (receipt.type !== "m.read.private" || receipt.user === viewer)
    );
  }

  of(user: UserID): Receipt[] {
    return [...this.#receipts.values()].filter((receipt) => receipt.user === user);
  }
}

/** The content of an `m.receipt` event. */
export function receiptContent(receipts: readonly Receipt[]): JsonObject {
  const content: Record<string, Record<string, Record<string, JsonObject>>> = {};
  for (const { event, type, user, timestamp, thread } of receipts) {
    const byType = content[event] ??= {};
    const byUser = byType[type] ??= {};
    byUser[user] = thread === undefined ? { ts: timestamp } : { ts: timestamp, thread_id: thread };
  }
  return content;
}
