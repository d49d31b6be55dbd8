/**
 * A transaction: what a homeserver tells an application service, and how that becomes a sync
 * response.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/application-service-api/#pushing-events | Pushing events}
 * @module
 */

import { isJsonObject, type JsonObject } from "../types/json.ts";
import { RecentMap } from "../base/recent_map.ts";
import type { SyncResponse } from "../types/events/sync_response.ts";

/** What a transaction has, by its names in the specification. */
export interface Transaction {
  /** Events of rooms, in order. */
  readonly events: readonly unknown[];
  /** Typing, receipts and presence. */
  readonly ephemeral: readonly unknown[];
  /** Messages to devices, each with `to_user_id` and `to_device_id`. */
  readonly to_device: readonly unknown[];
  /** Whose devices have changed, and whose need not be known any more. */
  readonly device_lists?: JsonObject;
  /** How many one-time keys are left: by user, device and algorithm. */
  readonly device_one_time_keys_count?: JsonObject;
  /** Algorithms whose fallback key is unused: by user and device. */
  readonly device_unused_fallback_key_types?: JsonObject;
}

/**
 * Reads a transaction, whether it has the names of the specification or those of the proposals
 * before. What is in the lists is checked where sync responses are.
 *
 * @returns Undefined if it has no events.
 */
export function readTransaction(body: JsonObject): Transaction | undefined {
  const { events } = body;
  if (!Array.isArray(events)) return undefined;
  return {
    events: events as unknown[],
    ephemeral: listOf(body.ephemeral ?? body["de.sorunome.msc2409.ephemeral"]),
    to_device: listOf(body.to_device ?? body["de.sorunome.msc2409.to_device"]),
    ...named(body, "device_lists"),
    ...named(body, "device_one_time_keys_count"),
    ...named(body, "device_unused_fallback_key_types"),
  };
}

/** An object, by its name in the specification or in the proposal. */
function named(body: JsonObject, name: string): JsonObject {
  const value = body[name] ?? body[`org.matrix.msc3202.${name}`];
  return isJsonObject(value) ? { [name]: value } : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns whether something is a state event, as far as it was not checked. */
function isStateEvent(event: unknown): event is JsonObject {
  return isJsonObject(event) && typeof event.state_key === "string";
}

/** A member event, as far as it was not checked. */
export type ReceivedMember = JsonObject & { readonly content: JsonObject };

/** Returns whether something is a member event. */
export function isMemberEvent(event: unknown): event is ReceivedMember {
  return isJsonObject(event) && event.type === "m.room.member" && isJsonObject(event.content);
}

/** What a sync response has of one room. */
interface JoinedRoom {
  readonly timeline: { readonly events: unknown[]; readonly limited: false };
  /** What becomes of its state, if that is not what the timeline says. */
  state_after?: { readonly events: unknown[] };
  readonly ephemeral: { readonly events: unknown[] };
}

/** What of a sync response belongs to the device. */
export type DevicePart = Pick<
  SyncResponse,
  "to_device" | "device_lists" | "device_one_time_keys_count" | "device_unused_fallback_key_types"
>;

/**
 * The sync response that says the same as transactions, in order. A room is there as one that the
 * user is in: some user of the application service is, or it is in its namespaces.
 *
 * @param transactions The transactions.
 * @param beside What goes along with them.
 * @returns It, and how much belongs nowhere.
 */
export function syncResponseOf(
  transactions: readonly Transaction[],
  { nextBatch, device, late, left }: {
    /** The token that the response ends with. */
    readonly nextBatch: string;
    /**
     * What the own device was sent, as the homeserver keeps it; undefined: there is no such device, and
     * messages to devices are those of the transactions.
     */
    readonly device: DevicePart | undefined;
    /** State events that are out of date: they are events like others. */
    readonly late: ReadonlySet<unknown>;
    /** Rooms that nobody of the application service is in any more. */
    readonly left: readonly string[];
  },
): { readonly response: JsonObject; readonly unusable: number } {
  let unusable = 0;
  const rooms = new Map<string, JoinedRoom>();
  const room = (id: string): JoinedRoom => {
    const known = rooms.get(id);
    if (known !== undefined) return known;
    const made: JoinedRoom = { timeline: { events: [], limited: false }, ephemeral: { events: [] } };
    rooms.set(id, made);
    return made;
  };
  const presence: unknown[] = [];
  for (const { events, ephemeral } of transactions) {
    for (const event of events) {
      if (isJsonObject(event) && typeof event.room_id === "string") {
        room(event.room_id).timeline.events.push(event);
      } else unusable++;
    }
    for (const event of ephemeral) {
      if (isJsonObject(event) && typeof event.room_id === "string") {
        room(event.room_id).ephemeral.events.push(event);
      } else if (isJsonObject(event) && event.type === "m.presence") presence.push(event);
      else unusable++;
    }
  }
  for (const each of late.size === 0 ? [] : rooms.values()) {
    if (!each.timeline.events.some((event) => late.has(event))) continue;
    each.state_after = {
      events: each.timeline.events.filter((event) => isStateEvent(event) && !late.has(event)),
    };
  }
  const { device_lists, ...rest } = device ?? {
    to_device: { events: transactions.flatMap(({ to_device }) => to_device) },
  } as DevicePart; // checked where sync responses are
  const lists: JsonObject[] = [];
  for (const { device_lists } of transactions) if (device_lists !== undefined) lists.push(device_lists);
  if (isJsonObject(device_lists)) lists.push(device_lists);
  const response = {
    next_batch: nextBatch,
    rooms: {
      join: Object.fromEntries(rooms) as unknown as JsonObject,
      leave: Object.fromEntries(left.filter((id) => !rooms.has(id)).map((id) => [id, {}])),
    },
    presence: { events: presence as JsonObject[] },
    ...(lists.length > 0 && { device_lists: mergedLists(lists) }),
    ...rest as JsonObject,
  };
  return { response, unusable };
}

/** Merges lists of the users whose devices have changed. */
function mergedLists(all: readonly JsonObject[]): JsonObject {
  const changed = new Set<unknown>();
  const left = new Set<unknown>();
  for (const lists of all) {
    for (const user of listOf(lists.changed)) {
      changed.add(user);
      left.delete(user);
    }
    for (const user of listOf(lists.left)) {
      left.add(user);
      changed.delete(user);
    }
  }
  // Checked where sync responses are.
  return { changed: [...changed] as string[], left: [...left] as string[] };
}

const NUMBER = /^\d{1,15}$/;
/** How many pieces of state are remembered: late is a matter of minutes. */
const MAX_STATE = 10_000;
/** How many skipped numbers are remembered. */
const MAX_SKIPPED = 1_000;

/** Which transaction has set a piece of state, and how old that is. */
interface Setting {
  readonly number: number;
  readonly time: number;
}

/**
 * Remembers which transaction set which piece of state: of one that comes late, some may be out of date.
 *
 * Synapse numbers transactions in the order in which it makes them. When one fails, one that was made
 * after it may arrive before it. A number that comes after it was skipped is such a late one. Numbers
 * are skipped as well that belong to other application services, and Synapse on SQLite begins with
 * the first again when it is restarted: a lower number that was not skipped shows that.
 */
export class LateState {
  readonly #setBy = new RecentMap<string, Setting>(MAX_STATE);
  readonly #skipped = new Set<number>();
  #last: number | undefined;

  /** The state events of a transaction that are out of date. */
  find(
    { id, transaction: { events } }: { readonly id: string; readonly transaction: Transaction },
  ): Set<JsonObject> {
    const late = new Set<JsonObject>();
    if (!NUMBER.test(id)) return late;
    const number = Number(id);
    const isLate = this.#count(number);
    for (const event of events) {
      if (!isStateEvent(event)) continue;
      const piece = JSON.stringify([event.room_id, event.type, event.state_key]);
      const { number: by = -1, time: since = 0 } = this.#setBy.get(piece) ?? {};
      const time = Number(event.origin_server_ts);
      if (isLate && by > number && since >= time) late.add(event);
      else this.#setBy.set(piece, { number, time });
    }
    return late;
  }

  /** Notes a number, and says whether it was skipped before. */
  #count(number: number): boolean {
    if (this.#skipped.delete(number)) return true;
    if (this.#last !== undefined && number < this.#last) {
      this.#skipped.clear();
      this.#setBy.clear();
    } else {
      const first = Math.max((this.#last ?? number) + 1, number - MAX_SKIPPED);
      for (let skipped = first; skipped < number; skipped++) this.#skipped.add(skipped);
      for (const oldest of this.#skipped) {
        if (this.#skipped.size <= MAX_SKIPPED) break;
        this.#skipped.delete(oldest);
      }
    }
    this.#last = number;
    return false;
  }
}
