/**
 * What the Store can be asked: it is the only one who reads and writes what is kept.
 *
 * @module
 */

import type { KvKey, KvMutation } from "../../store/kv_store.ts";
import type { RoomRecord, StoredState, SyncRecord } from "../../store/device/records.ts";
import type { Membership } from "../../types/enums.ts";
import type { EventID, FilterID, RoomID, SyncToken } from "../../types/ids.ts";
import type { QuarantineRecord } from "../dispatcher/quarantine_record.ts";
import type { ShownEvents } from "../syncer/shown_events.ts";

/** What one sync response changes of a room. */
export interface RoomChange {
  /** The room. */
  readonly roomId: RoomID;
  /** What the user is to the room now. */
  readonly membership: Membership;
  /** State events, in the order in which they take effect. */
  readonly state: readonly StoredState[];
  /** Whether the room's members are all in `state`, if the room is new to the store. */
  readonly complete: boolean;
  /** Whether members may have changed without being in `state`. */
  readonly lossy: boolean;
  /** Its latest events, of the very first response. */
  readonly first?: ShownEvents;
  /** Its latest events, which are known to have been shown once the response counts as handled. */
  readonly shown?: ShownEvents;
  /** The names of those of them that are new: see `ShownRoom`. */
  readonly added?: string;
  /** The own join with which the user came into the room. */
  readonly entry?: EventID;
}

/** What one sync response changes. */
export interface SyncChange {
  /** The token that the response ends with. */
  readonly nextBatch: SyncToken;
  /** The token of the response before, if that may still be on its way: should it not be kept, nor is this one. */
  readonly after?: SyncToken;
  /** Whether the response tells what an earlier process has not handled. */
  readonly repeated: boolean;
  /** Whether it counts as handled when it is committed. */
  readonly atOnce?: boolean;
  /** What changes of rooms. */
  readonly rooms: readonly RoomChange[];
}

/** What was known of a room before a sync response changed it. */
export interface FormerRoom {
  /** What the user was to the room. */
  readonly membership: Membership;
  /** By user ID, the member events of those who have one in the change. */
  readonly members: ReadonlyMap<string, StoredState>;
  /** Whether the room was known to be encrypted. */
  readonly encrypted: boolean;
  /** The event that made it so, if that came with a sync. */
  readonly encryptedBy?: EventID;
}

/** What is remembered of a room. */
export interface RememberedRoom {
  /** Whether the user is in the room. */
  readonly isJoined: boolean;
  /** Its latest events that were shown: to this process, or to one before that has handled them. */
  readonly shown: ShownEvents;
  /** The own joins with which the user came into the room, the last ones, from old to new. */
  readonly entries: readonly EventID[];
}

/** For each of `SyncChange.rooms`, in the same order, what was known before; undefined of a room that is new. */
export type FormerRooms = readonly (FormerRoom | undefined)[];

/** What became of the state of rooms that were left. */
export interface PrunedRooms {
  /** How many pieces of state were removed. */
  readonly removed: number;
  /** Whether nothing is left to be removed. */
  readonly isDone: boolean;
}

/** Options of a look at a room's state. */
export interface StateQuery {
  /** The room. */
  readonly roomId: RoomID;
  /** The type of state. */
  readonly type: string;
  /** Which piece of it. */
  readonly stateKey: string;
}

/** A record that is kept for another actor. */
export interface KeptRecord {
  /** Its key, relative to the account's. */
  readonly key: KvKey;
  /** Plain data. */
  readonly value: unknown;
}

/** What handlers have made of their sessions. */
export interface SessionCommit {
  /** The sessions. Keys are relative to the account's. */
  readonly mutations: readonly KvMutation[];
  /** The names of the deliveries in which they did. */
  readonly settled: readonly string[];
}

/** What may end the process, and is about to be begun. */
export interface Attempt {
  /** Names it. */
  readonly id: string;
  /** What was begun before and has ended. */
  readonly ended: readonly string[];
}

/** Whether something may be begun. */
export interface Attempted {
  /** In how many lives it was begun before and has not ended. */
  readonly lives: number;
  /** It may be begun; it ends the process, and is to be left out; or it has been. */
  readonly verdict: "begin" | "poison" | "out";
}

/** Which event that was left out is meant, and when. */
export interface QuarantineTime {
  /** Its ID. */
  readonly id: string;
  /** The time, in milliseconds since the epoch. */
  readonly at: number;
}

/** What a commit of a sync response has brought to light. */
export interface CommittedSync {
  /** What was known of the rooms before. */
  readonly former: FormerRooms;
  /** How many processes in a row have ended before the response was handled, or what it repeats. */
  readonly crashes: number;
}

/** The messages of the Store actor. A commit that fails is fatal. */
export interface StoreProtocol {
  /**
   * Chooses where everything is kept, before anything else. If the store is shared, this takes the device, which may take as long as
   * another process holds it, or is fatal; and it upgrades what an older version has kept.
   */
  open(prefix: KvKey): void;
  /** The position in the sync stream. */
  position(): SyncRecord;
  /** Moves the position, as `syncStore` lets an application do. */
  move(nextBatch: SyncToken | undefined): void;
  /** Applies a sync response, its token with it, in one commit. */
  commitSync(change: SyncChange): CommittedSync;
  /**
   * Notes that everything up to a token has been handled; of no effect if the position has been moved since. It is durable with the
   * next commit, at the latest with `flush`, which comes by itself.
   */
  handled(token: SyncToken): void;
  /** Names of deliveries that have settled, of responses that have not been handled as a whole. */
  settled(): string[];
  /** Notes deliveries that have settled. It is durable with the next commit, at the latest with `flush`. */
  noteSettled(names: readonly string[]): void;
  /** Changes sessions of handlers and notes deliveries that have settled, in one commit. */
  commitSessions(change: SessionCommit): void;
  /** Notes, durably, what may end the process before it is begun. */
  attempt(attempt: Attempt): Attempted;
  /** Notes, durably, that the process lives on long after something was begun. */
  outlived(id: string): void;
  /** Notes, durably, that what was noted before it was begun has ended. */
  ended(ids: readonly string[]): void;
  /**
   * Notes, durably, that the process is about to end by itself: that speaks against nothing that has been begun. Or that it goes on.
   */
  ending(body: { readonly isEnding: boolean }): void;
  /**
   * Keeps an event that is left out.
   *
   * @returns What had to be dropped for it.
   */
  quarantine(record: QuarantineRecord): QuarantineRecord[];
  /** The events that are left out, the oldest first. */
  quarantined(): QuarantineRecord[];
  /** Notes, durably, that one is about to be tried again. Undefined: it is gone. */
  retryQuarantined(time: QuarantineTime): QuarantineRecord | undefined;
  /** Notes, durably, that one is not being tried, and waits from a time on. */
  waitQuarantined(time: QuarantineTime): void;
  /**
   * Lets go of one, and notes which of its deliveries have settled.
   *
   * @returns Whether it was there.
   */
  release(body: { readonly id: string; readonly settled: readonly string[] }): boolean;
  /** Makes durable what was noted. */
  flush(): void;
  /** Remembers an uploaded filter. */
  saveFilter(filter: { readonly id: FilterID; readonly definition: string }): void;
  /** One piece of a room's state. */
  getState(query: StateQuery): StoredState | undefined;
  /** A room's state, all of it or all of a type. */
  listState(query: { readonly roomId: RoomID; readonly type?: string }): StoredState[];
  /** Applies state that is known from elsewhere than sync: sent by us, or read from the server. */
  putState(body: { readonly roomId: RoomID; readonly events: readonly StoredState[] }): void;
  /** Replaces the members of a room, those of one membership or all. */
  replaceMembers(body: {
    readonly roomId: RoomID;
    readonly events: readonly StoredState[];
    readonly only?: Membership;
    readonly complete: boolean;
  }): void;
  /** What is known of a room beside its state. */
  room(roomId: RoomID): RoomRecord | undefined;
  /** What is to be remembered of rooms, in the order of the rooms. */
  remembered(roomIds: readonly RoomID[]): RememberedRoom[];
  /** Every room that is known. */
  rooms(): RoomRecord[];
  /**
   * Removes state of rooms that were left before a time, in milliseconds since the epoch; what is known of them beside it stays.
   * Each time does no more than others can well wait for: it is to be asked until it is done.
   */
  pruneRooms(body: { readonly leftBefore: number }): PrunedRooms;
  /** Notes that the server says a room has no encryption. One that was seen stays. */
  noEncryption(roomId: RoomID): void;
  /** Makes the changes that wait for a commit, and then leaves the store alone, the lease too, until there is something to do. */
  rest(): void;
  /** Reads records of another actor's; `undefined` where there is none. Keys are relative to the account's. */
  readRecords(keys: readonly KvKey[]): unknown[];
  /** Reads another actor's records below a prefix, in order. */
  listRecords(prefix: KvKey): KeptRecord[];
  /** Reads the first of another actor's records below a prefix, in order: `limit` of them, 1 or more. */
  firstRecords(query: { readonly prefix: KvKey; readonly limit: number }): KeptRecord[];
  /** Changes records of another actor's, in one commit. */
  commitRecords(mutations: readonly KvMutation[]): void;
  /** Changes them with whatever is committed next: the sync response that they are of, at the latest. They are read at once. */
  deferRecords(mutations: readonly KvMutation[]): void;
}
