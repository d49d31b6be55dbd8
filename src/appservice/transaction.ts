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
  /** Messages to devices. */
  readonly to_device: readonly unknown[];
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
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What a sync response has of one room. */
interface JoinedRoom {
  readonly timeline: { readonly events: unknown[]; readonly limited: false };
  readonly ephemeral: { readonly events: unknown[] };
}

/** How many parts of transactions were of no use. */
export interface Unusable {
  /** How many. */
  count: number;
}

/**
 * The sync response that says the same as transactions, in order. A room is there as one that the
 * user is in: some user of the application service is, or it is in its namespaces.
 *
 * @param transactions The transactions.
 * @param nextBatch The token that the response ends with.
 * @param unusable Is told of what belongs nowhere.
 */
export function syncResponseOf(
  transactions: readonly Transaction[],
  nextBatch: string,
  unusable: Unusable,
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
    toDevice.push(...to_device);
  }
  return {
    next_batch: nextBatch,
    rooms: { join: Object.fromEntries(rooms) as unknown as JsonObject },
    presence: { events: presence as JsonObject[] },
    to_device: { events: toDevice as JsonObject[] },
  };
}
