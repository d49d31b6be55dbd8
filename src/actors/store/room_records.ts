/**
 * The records of rooms: how they change, and the cache of those that were used lately.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import { RecentMap } from "../../base/recent_map.ts";
import type { RoomRecord, StoredState } from "../../store/device/mod.ts";
import type { Membership } from "../../types/enums.ts";
import { type StateEvent, type StrippedStateEvent, SyncStream } from "../../types/events/event.ts";
import type { EventID, RoomID } from "../../types/ids.ts";
import type { StoreWriter } from "./writer.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { FormerRoom, RoomChange } from "./store_protocol.ts";
import { isReceivedRoomId } from "../../types/identifiers.ts";

/** What of a change of state matters to a room's record. */
export interface RoomFacts {
  /** The users who have a member event that does not itself say what they were before. */
  readonly members: readonly string[];
  /** The content of the first `m.room.encryption` with an empty state key. */
  readonly encryption: JsonObject | undefined;
  readonly encryptedBy: EventID | undefined;
  /** The room that this room replaces. */
  readonly predecessor: RoomID | undefined;
}

/** Returns whether a response changes the state of a room. */
export function changesState({ state, gone, redactions }: RoomChange): boolean {
  return state.length > 0 || gone !== undefined || redactions !== undefined;
}

const NO_FACTS: RoomFacts = {
  members: [],
  encryption: undefined,
  encryptedBy: undefined,
  predecessor: undefined,
};

/**
 * The facts in a change of state.
 *
 * @param asState Whether the events of the timeline count as state,
 *   which says only how things are. Default: false.
 */
export function factsOf(events: readonly StoredState[], asState = false): RoomFacts {
  if (events.length === 0) return NO_FACTS; // most rooms of most responses
  const members: string[] = [];
  let encryption: StoredState | undefined;
  let create: StoredState | undefined;
  events.forEach((event) => {
    const { type, state_key, source } = event;
    if (type === "m.room.member") {
      const says = !asState && (source & SyncStream.TIMELINE) !== 0 && prevMembership(event) !== undefined;
      if (!says) members.push(state_key);
    } else if (state_key !== "") return;
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

/** Reads what a member event says its user was to the room before, if it says so. */
export function prevMembership({ unsigned }: StateEvent | StrippedStateEvent): Membership | undefined {
  return isJsonObject(unsigned?.prev_content) ? membershipIn({ content: unsigned.prev_content }) : undefined;
}

/** The membership in an event, if it has one. */
export function membershipIn(event: { readonly content: JsonObject } | undefined): Membership | undefined {
  const membership = event?.content.membership;
  return typeof membership === "string" ? membership as Membership : undefined;
}

function contentOf(event: StoredState | undefined): JsonObject | undefined {
  return isJsonObject(event?.content) ? event.content : undefined;
}

function predecessorIn(create: StoredState | undefined): RoomID | undefined {
  const predecessor = create?.content.predecessor;
  const roomId = isJsonObject(predecessor) ? predecessor.room_id : undefined;
  return isReceivedRoomId(roomId) ? roomId : undefined;
}

/** Returns whether the user has left a room. */
export function isLeft({ membership }: Pick<RoomRecord, "membership">): boolean {
  return membership === "leave" || membership === "ban";
}

/** What a room's record is made of when the room changes. */
export interface RecordSources {
  /** The record before. */
  readonly record: RoomRecord | undefined;
  /** The facts of the change. */
  readonly facts: RoomFacts;
  /** The predecessor's record: the successor of an encrypted room counts as encrypted. */
  readonly predecessor: RoomRecord | undefined;
  /** Says when a room was left. */
  readonly clock: Clock;
}

/** How many own joins are stored: those that were not handled matter, and there are few. */
const MAX_ENTRIES = 8;

/** The record after a change: the same object if nothing has changed. */
export function nextRecord(
  { roomId, membership, complete, lossy, first, entry }: RoomChange,
  { record, facts, predecessor, clock }: RecordSources,
): RoomRecord {
  const entered = membership === "join" && record?.membership !== "join";
  const allMembers = entered ? complete : record?.allMembers === true && !lossy;
  const encryption = record?.encryption || facts.encryption || predecessor?.encryption || record?.encryption;
  const encryptedBy = record?.encryption ? record.encryptedBy : facts.encryption && facts.encryptedBy;
  const leftAt = isLeft({ membership }) ? record?.leftAt ?? clock.now() : undefined;
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
    // Without `undefined` it is JSON, which is stored in a third of the time.
    ...(encryption !== undefined && { encryption }),
    ...(encryptedBy !== undefined && { encryptedBy }),
    ...(entries !== undefined && { entries }),
    ...(shown !== undefined && { first: shown }),
    ...(leftAt !== undefined && { leftAt }),
  };
}

const NO_MEMBERS: FormerRoom["members"] = new Map();

/**
 * Returns what was known of a room; by which event it became encrypted, only if that may come again
 * unhandled.
 */
export function formerRoom(
  { membership, encryption, encryptedBy }: RoomRecord,
  members: FormerRoom["members"] = NO_MEMBERS,
  unhandled: readonly EventID[],
): FormerRoom {
  const mayComeAgain = encryptedBy !== undefined && unhandled.includes(encryptedBy);
  return { membership, members, encrypted: isJsonObject(encryption), ...(mayComeAgain && { encryptedBy }) };
}

/** How many records are remembered. Each takes some 220 bytes: 4 MB together. */
const REMEMBERED = 20_000;

/**
 * Remembers the records of rooms, so that a sync response reads none from the store: nothing else
 * writes them as long as the process holds the device.
 */
export class RoomRecords {
  readonly #writer: StoreWriter;
  readonly #known = new RecentMap<RoomID, RoomRecord>(REMEMBERED);

  /** @param writer Reads what is not remembered. */
  constructor(writer: StoreWriter) {
    this.#writer = writer;
  }

  async get(roomId: RoomID): Promise<RoomRecord | undefined> {
    return this.#known.get(roomId) ?? (await this.#read([roomId])).get(roomId);
  }

  /** The records of rooms. Unknown rooms are left out. */
  async getMany(roomIds: readonly RoomID[]): Promise<Map<RoomID, RoomRecord>> {
    const found = new Map<RoomID, RoomRecord>();
    const others: RoomID[] = [];
    for (const roomId of roomIds) {
      const record = this.#known.get(roomId);
      if (record === undefined) others.push(roomId);
      else found.set(roomId, record);
    }
    if (others.length > 0) {
      for (const [roomId, record] of await this.#read(others)) found.set(roomId, record);
    }
    return found;
  }

  /** Remembers a record that was committed. */
  remember(record: RoomRecord): void {
    this.#known.set(record.roomId, record);
  }

  async #read(roomIds: readonly RoomID[]): Promise<Map<RoomID, RoomRecord>> {
    const { keys } = this.#writer;
    const records = await this.#writer.getMany<RoomRecord>(roomIds.map((roomId) => keys.room(roomId)));
    const found = new Map<RoomID, RoomRecord>();
    for (const [index, roomId] of roomIds.entries()) {
      const record = records[index];
      if (record === undefined) continue;
      found.set(roomId, record);
      this.remember(record);
    }
    return found;
  }
}
