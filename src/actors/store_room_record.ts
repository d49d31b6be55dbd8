/**
 * What the Store actor makes of a room's record when the room changes.
 *
 * @module
 */

import type { RoomRecord, StoredState } from "../store/records.ts";
import type { RoomID } from "../types/ids.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import type { RoomChange } from "./store_protocol.ts";
import { isName } from "./sync_parts.ts";

/** The content of an `m.room.encryption` that counts: the first, in the state key that counts. */
export function encryptionIn(events: readonly StoredState[]): JsonObject | undefined {
  const event = events.find(({ type, state_key }) => type === "m.room.encryption" && state_key === "");
  return isJsonObject(event?.content) ? event.content : undefined;
}

/** The room that a room was made in the place of. */
export function predecessorIn(events: readonly StoredState[]): RoomID[] {
  const create = events.find(({ type, state_key }) => type === "m.room.create" && state_key === "");
  const predecessor = create?.content.predecessor;
  const roomId = isJsonObject(predecessor) ? predecessor.room_id : undefined;
  return isName(roomId) && roomId.startsWith("!") ? [roomId as RoomID] : [];
}

/** The encryption of the room before: who upgrades an encrypted room must not end in one that is not. */
export function inherited(
  events: readonly StoredState[],
  records: ReadonlyMap<RoomID, RoomRecord | undefined>,
): JsonObject | undefined {
  const [roomId] = predecessorIn(events);
  return (roomId && records.get(roomId)?.encryption) || undefined;
}

/** Whether the user has nothing to do with a room any more. */
export function isLeft({ membership }: Pick<RoomRecord, "membership">): boolean {
  return membership === "leave" || membership === "ban";
}

/**
 * The record after a change.
 *
 * @param now The time, in milliseconds since the epoch.
 * @returns The very record that was there, if nothing of it has changed.
 */
export function nextRecord(
  { roomId, membership, state, complete, lossy }: RoomChange,
  record: RoomRecord | undefined,
  carriedOver: JsonObject | undefined,
  now: number,
): RoomRecord {
  const entered = membership === "join" && record?.membership !== "join";
  const allMembers = entered ? complete : record?.allMembers === true && !lossy;
  const encryption = record?.encryption || encryptionIn(state) || carriedOver || record?.encryption;
  const leftAt = isLeft({ membership }) ? record?.leftAt ?? now : undefined;
  const same = record?.membership === membership && record.allMembers === allMembers &&
    record.encryption === encryption && record.leftAt === leftAt;
  return same
    ? record
    : { roomId, membership, allMembers, encryption, ...(leftAt !== undefined && { leftAt }) };
}
