/**
 * What the Store can be asked: it alone reads and writes a device's records.
 *
 * @module
 */

import type { KvKey, KvListOptions, KvMutation } from "../../store/base/mod.ts";
import type { CatchUp, RoomRecord, StoredState, SyncRecord } from "../../store/device/mod.ts";
import type { Membership } from "../../types/enums.ts";
import type { MessageEvent } from "../../types/events/event.ts";
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
  /** The changes of rooms. */
  readonly rooms: readonly RoomChange[];
}

/** What was known of a room before a sync response changed it. */
export interface FormerRoom {
  /** What the user was to the room. */
  readonly membership: Membership;
  /** By user ID, the member events of the users with one in the change. */
  readonly members: ReadonlyMap<string, StoredState>;
  /** Whether the room was known to be encrypted. */
  readonly encrypted: boolean;
  /** The event that made it so, if that came with a sync. */
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

/** A piece of a room's state. */
export interface StateQuery {
  /** The room. */
  readonly roomId: RoomID;
  /** The type of state. */
  readonly type: string;
  /** Which piece of it. */
  readonly stateKey: string;
}

/** A record of another actor. */
export interface KeptRecord {
  /** Its key, relative to the account's. */
  readonly key: KvKey;
  /** Plain data. */
  readonly value: unknown;
}

/** How handlers have changed their sessions. */
export interface SessionCommit {
  /** The sessions. Keys are relative to the account's. */
  readonly mutations: readonly KvMutation[];
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
  /** Its ID. */
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

/** The messages of the Store actor. A commit that fails is fatal. */
export interface StoreProtocol {
  /**
   * Opens the store for an account, before anything else. In a shared store this takes the device,
   * which lasts as long as another process holds it, or is fatal; and it upgrades the records of
   * older versions.
   */
  open(prefix: KvKey): void;
  /** The position in the sync stream. */
  position(): SyncRecord;
  /** Moves the position, for `syncStore`. */
  move(nextBatch: SyncToken | undefined): void;
  /** Lets the next response begin at the start, since the server does not know the token. */
  syncAnew(): void;
  /** Applies a sync response, its token with it, in one commit. */
  commitSync(change: SyncChange): CommittedSync;
  /**
   * Records that everything up to a token has been handled; no effect if the position was moved
   * since. It is durable with the next commit, at the latest with `flush`, which comes by itself.
   */
  handled(token: SyncToken): void;
  /** The names of deliveries that have settled, of responses that were not handled as a whole. */
  settled(): string[];
  /**
   * Records deliveries that have settled. Durable with the next commit, at the latest with `flush`.
   */
  noteSettled(names: readonly string[]): void;
  /** Changes sessions of handlers and records deliveries that have settled, in one commit. */
  commitSessions(change: SessionCommit): void;
  /** Records durably that a delivery is about to begin. */
  attempt(attempt: Attempt): Attempted;
  /** Records durably that the process still lives long after a delivery has begun. */
  outlived(id: string): void;
  /** Records durably that deliveries have ended. */
  ended(ids: readonly string[]): void;
  /**
   * Records durably that the process is about to end by itself, so that no delivery is blamed; or
   * that it goes on.
   */
  ending(body: { readonly isEnding: boolean }): void;
  /**
   * Stores an event that is left out.
   *
   * @returns What had to be dropped for it.
   */
  quarantine(record: QuarantineRecord): QuarantineRecord[];
  /** The events that are left out, the oldest first. */
  quarantined(): QuarantineRecord[];
  /** Records durably that one is about to be tried again. Undefined: it is gone. */
  retryQuarantined(time: QuarantineTime): QuarantineRecord | undefined;
  /** Records durably that one is not being tried, and waits from a time on. */
  waitQuarantined(time: QuarantineTime): void;
  /**
   * Removes one, and records which of its deliveries have settled.
   *
   * @returns Whether it was there.
   */
  release(body: { readonly id: string; readonly settled: readonly string[] }): boolean;
  /** Makes all changes durable. */
  flush(): void;
  /** Stores the ID of an uploaded filter. */
  saveFilter(filter: { readonly id: FilterID; readonly definition: string }): void;
  /** One piece of a room's state. */
  getState(query: StateQuery): StoredState | undefined;
  /** A room's state, all of it or all of a type. */
  listState(query: { readonly roomId: RoomID; readonly type?: string }): StoredState[];
  /** Applies state that did not come with sync: sent by the client, or read from the server. */
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
   * Removes state of rooms that were left before a time, in milliseconds since the epoch; their
   * records stay. Each call removes a limited number, so that others need not wait long: call it
   * until it is done.
   */
  pruneRooms(body: { readonly leftBefore: number }): PrunedRooms;
  /** Records that the server says a room has no encryption. Encryption that was seen stays. */
  noEncryption(roomId: RoomID): void;
  /**
   * Commits deferred changes, and then does not touch the store, nor renew the lease, until the
   * next change.
   */
  rest(): void;
  /**
   * Takes the device, if it was handed back. Answers whether what the actors know of its records
   * holds: if another process has had it, they are of no use any more.
   */
  take(): boolean;
  /**
   * Commits deferred changes and hands the device back, so that another process can take it.
   * Answers whether it did: not if `hears`, and another has come for it since it was taken.
   */
  handBack(body: { readonly hears: boolean }): boolean;
  /**
   * Reads records of another actor's; `undefined` where there is none. Keys are relative to the
   * account's.
   */
  readRecords(keys: readonly KvKey[]): unknown[];
  /** Reads another actor's records below a prefix, in order: all, or those of a page. */
  listRecords(query: KvListOptions & { readonly prefix: KvKey }): KeptRecord[];
  /** Changes records of another actor's, in one commit. */
  commitRecords(mutations: readonly KvMutation[]): void;
  /**
   * Changes them with the next commit: at the latest with the sync response that they belong to.
   * Reads see them immediately.
   */
  deferRecords(mutations: readonly KvMutation[]): void;
}
