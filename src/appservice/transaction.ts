/**
 * A transaction: what a homeserver tells an application service, and how that becomes a sync
 * response.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/application-service-api/#pushing-events | Pushing events}
 * @module
 */

import { isJsonObject, type JsonObject } from "../types/json.ts";

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

/** What a sync response has of one room. */
interface JoinedRoom {
  readonly timeline: { readonly events: unknown[]; readonly limited: false };
  readonly ephemeral: { readonly events: unknown[] };
}

/** What goes along with transactions. */
export interface ResponseParts {
  /** The token that the response ends with. */
  readonly nextBatch: string;
  /** Whose messages are taken; undefined: everybody's. */
  readonly device: { readonly userId: string; readonly deviceId: string } | undefined;
  /** What is known of the keys of the device that are left on the server. */
  readonly keys: JsonObject;
  /** Is told of what belongs nowhere. */
  readonly unusable: { count: number };
}

/**
 * The sync response that says the same as transactions, in order. A room is there as one that the
 * user is in: some user of the application service is, or it is in its namespaces.
 *
 * @param transactions The transactions.
 * @param parts What goes along with them.
 */
export function syncResponseOf(
  transactions: readonly Transaction[],
  { nextBatch, device, keys, unusable }: ResponseParts,
): JsonObject {
  const rooms = new Map<string, JoinedRoom>();
  const room = (id: string): JoinedRoom => {
    const known = rooms.get(id);
    if (known !== undefined) return known;
    const made: JoinedRoom = { timeline: { events: [], limited: false }, ephemeral: { events: [] } };
    rooms.set(id, made);
    return made;
  };
  const presence: unknown[] = [];
  const toDevice: unknown[] = [];
  const isTaken = (message: unknown): boolean =>
    device === undefined ||
    (isJsonObject(message) && message.to_user_id === device.userId &&
      message.to_device_id === device.deviceId);
  for (const { events, ephemeral, to_device } of transactions) {
    for (const event of events) {
      if (isJsonObject(event) && typeof event.room_id === "string") {
        room(event.room_id).timeline.events.push(event);
      } else unusable.count++;
    }
    for (const event of ephemeral) {
      if (isJsonObject(event) && typeof event.room_id === "string") {
        room(event.room_id).ephemeral.events.push(event);
      } else if (isJsonObject(event) && event.type === "m.presence") presence.push(event);
      else unusable.count++;
    }
    toDevice.push(...to_device.filter(isTaken));
  }
  return {
    next_batch: nextBatch,
    rooms: { join: Object.fromEntries(rooms) as unknown as JsonObject },
    presence: { events: presence as JsonObject[] },
    to_device: { events: toDevice as JsonObject[] },
    device_lists: mergedLists(transactions),
    ...keys,
  };
}

/** Whose devices have changed in the end. */
function mergedLists(transactions: readonly Transaction[]): JsonObject {
  const changed = new Set<unknown>();
  const left = new Set<unknown>();
  for (const { device_lists: lists = {} } of transactions) {
    for (const user of listOf(lists.changed)) {
      changed.add(user);
      left.delete(user);
    }
    for (const user of listOf(lists.left)) {
      left.add(user);
      changed.delete(user);
    }
  }
  return { changed: [...changed] as string[], left: [...left] as string[] }; // checked where sync responses are
}
