/**
 * What is kept beside the state events.
 *
 * @module
 */

import type { Membership } from "../../types/enums.ts";
import type { StateEvent, StrippedStateEvent } from "../../types/events/event.ts";
import type { EventID, FilterID, RoomID, SyncToken } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";

/** A state event as it is kept: whole, or stripped in rooms that the user is not in. */
export type StoredState = StateEvent | StrippedStateEvent;

/** The position in the sync stream. */
export interface SyncRecord {
  /** What has been committed: room state and keys up to this token. */
  readonly nextBatch?: SyncToken;
  /** What the very first response ended with, as long as its handlers have not settled. */
  readonly first?: SyncToken;
  /** What has been handled: the handlers of everything up to this token have settled. */
  readonly handled?: SyncToken;
  /** How many processes in a row have ended since something was handled. */
  readonly crashes?: number;
  /** Which events have been handled lately. */
  readonly shown?: ShownLogEnd;
  /** The uploaded filter, and what it was made of. */
  readonly filter?: { readonly id: FilterID; readonly definition: string };
}

/** The end of the log of events that have been handled. */
export interface ShownLogEnd {
  /**
   * What has been written since the last portion: it goes with the position, which is written
   * anyway.
   */
  readonly text: string;
  /** The number of the oldest portion that is kept, */
  readonly from: number;
  /** and of the one that the text will be. */
  readonly to: number;
}

/**
 * The latest events of a room that has been quiet: those in portions of the log from a number on
 * come after them.
 */
export type ShownRecord = readonly [to: number, shown: string];

/** What is known of a room beside its state. */
export interface RoomRecord {
  /** The room. */
  readonly roomId: RoomID;
  /** What the user is to the room. */
  readonly membership: Membership;
  /** Whether the kept members are all there are. */
  readonly allMembers: boolean;
  /**
   * The content of the first `m.room.encryption` that was seen, which nothing takes back; `false`:
   * the server says there is none.
   */
  readonly encryption?: JsonObject | false;
  /**
   * The ID of that event, if it came with a sync: what stands before it in the timeline came in
   * clear by right.
   */
  readonly encryptedBy?: EventID;
  /**
   * The own joins with which the user came into the room, the last ones: what stands before was
   * history then.
   */
  readonly entries?: readonly EventID[];
  /** The room's latest events in the very first response, if it was in that: see `ShownEvents`. */
  readonly first?: string;
  /**
   * When the room was left, in milliseconds since the epoch, as long as state of it may be kept;
   * absent of rooms that are not left.
   */
  readonly leftAt?: number;
}
