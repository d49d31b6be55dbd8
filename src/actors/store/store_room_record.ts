/**
 * What the Store actor makes of a room's record when the room changes.
 *
 * @module
 */

import type { RoomRecord, StoredState } from "../../store/device/records.ts";
import type { EventID, RoomID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { RoomChange } from "./store_protocol.ts";
import { isReceivedRoomId } from "../../types/identifiers.ts";

/** What of a change of state matters to what is known of rooms beside their state. */
export interface RoomFacts {
  /** Whose member events there are. */
  readonly members: readonly string[];
  /** The content of the `m.room.encryption` that counts: the first, in the state key that counts. */
  readonly encryption: JsonObject | undefined;
  /** The ID of that event. */
  readonly encryptedBy: EventID | undefined;
  /** The room that the room was made in the place of. */
  readonly predecessor: RoomID | undefined;
}

const NO_FACTS: RoomFacts = {
  members: [],
  encryption: undefined,
  encryptedBy: undefined,
  predecessor: undefined,
};

/** Looks at a change of state, once. */
export function factsOf(events: readonly StoredState[]): RoomFacts {
  if (events.length === 0) return NO_FACTS; // of most rooms in most responses
  const members: string[] = [];
  let encryption: StoredState | undefined;
  let create: StoredState | undefined;
  events.forEach((event) => {
    const { type, state_key } = event;
    if (type === "m.room.member") members.push(state_key);
    else if (state_key !== "") return;
    else if (type === "m.room.encryption") encryption ??= event;
    else if (type === "m.room.create") create ??= event;
  });
  return {
    members,
    encryption: contentOf(encryption),
    encryptedBy: encryption?.event_id,
    predecessor: predecessorIn(create),
  };
}

function contentOf(event: StoredState | undefined): JsonObject | undefined {
  return isJsonObject(event?.content) ? event.content : undefined;
}

function predecessorIn(create: StoredState | undefined): RoomID | undefined {
  const predecessor = create?.content.predecessor;
  const roomId = isJsonObject(predecessor) ? predecessor.room_id : undefined;
  return isReceivedRoomId(roomId) ? roomId : undefined;
}

/** Whether the user has nothing to do with a room any more. */
export function isLeft({ membership }: Pick<RoomRecord, "membership">): boolean {
  return membership === "leave" || membership === "ban";
}

/** What a room's record is made of when the room changes. */
export interface RecordSources {
  /** What was known before. */
  readonly record: RoomRecord | undefined;
  /** What the change tells. */
  readonly facts: RoomFacts;
  /** The record of the room before: who upgrades an encrypted room must not end in one that is not. */
  readonly predecessor: RoomRecord | undefined;
  /** The time, in milliseconds since the epoch. */
  readonly now: number;
}

/** How many of the own joins are kept: those that were not handled count, and there are few. */
const MAX_ENTRIES = 8;

/** The record after a change: the very one that was there, if nothing of it has changed. */
export function nextRecord(
  { roomId, membership, complete, lossy, first, entry }: RoomChange,
  { record, facts, predecessor, now }: RecordSources,
): RoomRecord {
  const entered = membership === "join" && record?.membership !== "join";
  const allMembers = entered ? complete : record?.allMembers === true && !lossy;
  const encryption = record?.encryption || facts.encryption || predecessor?.encryption || record?.encryption;
  const encryptedBy = record?.encryption ? record.encryptedBy : facts.encryption && facts.encryptedBy;
  const leftAt = isLeft({ membership }) ? record?.leftAt ?? now : undefined;
  const same = record?.membership === membership && record.allMembers === allMembers &&
    record.encryption === encryption && record.leftAt === leftAt && first === undefined &&
    entry === undefined;
  if (same) return record;
  const entries = entry === undefined
    ? record?.entries
    : [...record?.entries ?? [], entry].slice(-MAX_ENTRIES);
  const shown = first ?? record?.first;
  return {
    roomId,
    membership,
    allMembers,
    ...(encryption !== undefined && { encryption }), // undefined is no JSON, which is kept in a third of the time
    ...(encryptedBy !== undefined && { encryptedBy }),
    ...(entries !== undefined && { entries }),
    ...(shown !== undefined && { first: shown }),
    ...(leftAt !== undefined && { leftAt }),
  };
}
