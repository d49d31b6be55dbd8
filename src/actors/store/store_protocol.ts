/**
 * What messages to the Store and the Dispatcher carry, and the Store's answers.
 *
 * Events that were decrypted have on them how (`noteEncryption()`), which no port carries: the
 * Dispatcher is where the Syncer is.
 *
 * @module
 */

import type { TraceParent } from "../../base/telemetry.ts";
import type { StoreKey, StoreMutation } from "../../store/base/mod.ts";
import type { CatchUp, StoredState } from "../../store/device/mod.ts";
import type { Membership } from "../../types/enums.ts";
import type { MatrixEvent, MessageEvent } from "../../types/events/event.ts";
import type { EventID, RoomID, SyncToken } from "../../types/ids.ts";
import type { ShownEvents } from "./shown_events.ts";
import type { InternalEvents } from "../../types/events/internal_event.ts";
import type { InternalEventType } from "../../types/events/event_type.ts";

/** Names a piece of a room's state. */
export type StatePiece = Pick<StoredState, "type" | "state_key">;

/** What one sync response changes of a room. */
export interface RoomChange {
  readonly roomId: RoomID;
  /** What the user is to the room now. */
  readonly membership: Membership;
  /** State events, in the order in which they take effect. */
  readonly state: readonly StoredState[];
  /** Pieces of state that are not there any more, before `state` takes effect. Absent: there are none. */
  readonly gone?: readonly StatePiece[];
  /** Redactions, of state or of other events, which come after it. Absent: there are none. */
  readonly redactions?: readonly MessageEvent[];
  /** Whether the room's members are all in `state`, if the room is new to the store. */
  readonly complete: boolean;
  /** Whether members may have changed without being in `state`. */
  readonly lossy: boolean;
  /** Its latest events, of the very first response. */
  readonly first?: ShownEvents;
  /** Its latest events, to be stored as shown once the response counts as handled. */
  readonly shown?: ShownEvents;
  /** The names of those of them that are new: see `ShownRoom`. */
  readonly added?: string;
  /** The own join, if the user came into the room with it. */
  readonly entry?: EventID;
}

/** What one sync response changes. */
export interface SyncChange {
  /** The token that the response ends with. */
  readonly nextBatch: SyncToken;
  /**
   * The token of the response before, if that may still be on its way: if it can't be stored, nor
   * is this one.
   */
  readonly after?: SyncToken;
  /** Whether an earlier process may have received the response and not handled it. */
  readonly repeated: boolean;
  /** Whether those behind it may show what was delivered before. Absent: they do not. */
  readonly again?: CatchUp;
  /** Whether it begins at the start, since the server did not know the token. Absent: it does not. */
  readonly anew?: boolean;
  /** Whether it counts as handled when it is committed. */
  readonly atOnce?: boolean;
  /** Whether its timelines count as state: handlers get no changes of them, only how things are. */
  readonly dropTimeline?: boolean;
  /** The changes of rooms. */
  readonly rooms: readonly RoomChange[];
}

/** What was known of a room before a sync response changed it. */
export interface FormerRoom {
  /** What the user was to the room. */
  readonly membership: Membership;
  /** By user ID, the member events of the users with one in the change that does not say what they were. */
  readonly members: ReadonlyMap<string, StoredState>;
  /** Whether the room was known to be encrypted. */
  readonly encrypted: boolean;
  /** The event that made it so, if that came with a sync, and may come again since it was not handled. */
  readonly encryptedBy?: EventID;
}

/** What is remembered of a room from one response to the next. */
export interface RememberedRoom {
  /** Whether the user is in the room. */
  readonly isJoined: boolean;
  /** Its latest events that were shown to this process, or handled by an earlier one. */
  readonly shown: ShownEvents;
  /** The own joins with which the user came into the room, the last ones, from old to new. */
  readonly entries: readonly EventID[];
}

/**
 * For each of `SyncChange.rooms`, in the same order, what was known before; undefined of a room
 * that is new.
 */
export type FormerRooms = readonly (FormerRoom | undefined)[];

/** What became of the state of rooms that were left. */
export interface PrunedRooms {
  /** How many pieces of state were removed. */
  readonly removed: number;
  /** Whether nothing is left to be removed. */
  readonly isDone: boolean;
}

/** What one step over all rooms has removed. */
export interface PruneStep extends PrunedRooms {
  /** The last room that nothing is left to be removed of: the next step begins after it. */
  readonly after?: RoomID;
}

/** A piece of a room's state. */
export interface StateQuery {
  readonly roomId: RoomID;
  /** The type of state. */
  readonly type: string;
  /** Which piece of it. */
  readonly stateKey: string;
}

/** A request that reads or sends state of a room. */
export interface StateRead {
  /** Names it. */
  readonly read: number;
  readonly roomId: RoomID;
}

/** State that did not come with sync. */
export interface StateChange {
  readonly roomId: RoomID;
  readonly events: readonly StoredState[];
  /** The request that it comes from: what syncs have changed since that began is left out. */
  readonly read?: number;
}

/** Members of a room that take the place of those that were known. */
export interface MembersChange extends StateChange {
  /** The membership that all of them have. Absent: they are of any. */
  readonly only?: Membership;
  /** Whether they are all members of the room. */
  readonly complete: boolean;
}

/** A record of another actor. */
export interface KeptRecord {
  /** Its key, relative to the account's. */
  readonly key: StoreKey;
  /** Plain data. */
  readonly value: unknown;
}

/** How handlers have changed their sessions. */
export interface SessionCommit {
  /** The sessions. Keys are relative to the account's. */
  readonly mutations: readonly StoreMutation[];
  /** The names of the deliveries in which they have. */
  readonly settled: readonly string[];
}

/** A delivery that is about to begin, and may end the process. */
export interface Attempt {
  /** Names it. */
  readonly id: string;
  /** Deliveries that began before and have ended. */
  readonly ended: readonly string[];
}

/** Whether a delivery may begin. */
export interface Attempted {
  /** In how many earlier processes it began and did not end. */
  readonly lives: number;
  /**
   * `begin`: it may begin; `poison`: it ends the process, and is to be left out; `out`: it was left
   * out.
   */
  readonly verdict: "begin" | "poison" | "out";
}

/** An event that was left out, and a time. */
export interface QuarantineTime {
  readonly id: string;
  /** The time, in milliseconds since the epoch. */
  readonly at: number;
}

/** The result of the commit of a sync response. */
export interface CommittedSync {
  /** What was known of the rooms before. */
  readonly former: FormerRooms;
  /**
   * How many processes in a row have ended before the response, or the one it repeats, was handled.
   */
  readonly crashes: number;
}

/** The types whose data is plain. */
type PlainEventType = Exclude<InternalEventType, "VERIFICATION_REQUEST" | "HANDLER_ERROR">;

/** An internal event: one that Greenroom makes. */
export type InternalDelivery = {
  [Type in PlainEventType]: { readonly type: Type; readonly data: InternalEvents[Type] };
}[PlainEventType];

/** What happened in one room. */
export interface RoomBatch {
  readonly roomId: RoomID;
  /** Whether and from where events are missing in front of the timeline. */
  readonly gap: InternalDelivery | undefined;
  /** State and timeline, in order. */
  readonly events: readonly MatrixEvent[];
  /**
   * Those of the events, by their index, that are not delivered: there is only a remark. Undefined:
   * all are.
   */
  readonly ignored: ReadonlySet<number> | undefined;
  /** Internal events about the events, each delivered after the event at its index. */
  readonly remarks: ReadonlyMap<number, InternalDelivery>;
  /** Sticky events that are not among the others. */
  readonly sticky: readonly InternalDelivery[];
  /** Typing and receipts. */
  readonly ephemeral: readonly MatrixEvent[];
  /** Private data of the room. */
  readonly accountData: readonly MatrixEvent[];
}

/** The events of one sync response, in the order of delivery. */
export interface SyncBatch {
  /** The token that the response ended with. */
  readonly nextBatch: SyncToken;
  /** How many processes in a row have ended before the response was handled. */
  readonly crashes: number;
  /** Counts of keys, changed devices. */
  readonly internal: readonly InternalDelivery[];
  /** Account data, presence, messages to the device. */
  readonly global: readonly MatrixEvent[];
  readonly rooms: readonly RoomBatch[];
  /** The span of the response, if somebody traces. */
  readonly trace?: TraceParent;
}
