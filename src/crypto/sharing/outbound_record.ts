/**
 * The encryption settings of a room, which no later event weakens; the record of its own Megolm session, and
 * when that must not be used any more; and what the sharing of keys takes and returns.
 *
 * Over 300 lines because it is the vocabulary of the folder.
 *
 * @module
 */

import type { RoomEncryptedContent } from "../../types/content/encryption_content.ts";
import type { WithheldCode } from "../../types/content/to_device_content.ts";
import type { StateEvent } from "../../types/events/event.ts";
import type { RoomID, TransactionID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { SendPolicy } from "../context/context.ts";
import type { CryptoDevice } from "../devices/mod.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import type { RoomEventEntry } from "../requests/requests.ts";

/** Why a group session is not used any more. */
export type RotationCause =
  /** A user who has the key, or may have it, left the room. */
  | "member-left"
  /** A device that has the key is gone, or may not have it any more. */
  | "device-gone"
  /** The room's algorithm or history visibility changed. */
  | "settings-changed"
  /** Another choice was made of which devices get keys. */
  | "policy-changed"
  /** It has been in use for long enough. */
  | "age"
  /** It has been used for enough messages. */
  | "messages"
  /** The application asked for a new one. */
  | "discarded"
  /** Records that say who has its key were removed from the store. */
  | "records-missing"
  /** The store was set back, so that the session may have been used further. */
  | "rollback";

/** A session that another one has replaced. */
interface RetiredSession {
  readonly sessionId: string;
  /** How many pieces the list of those it was shared with has. */
  readonly rosterPieces: number;
  /** How many messages it has encrypted. */
  readonly messages: number;
}

/** The own group session of a room. */
export interface OutboundRecord {
  readonly sessionId: string;
  /** The ratchet; secret. */
  readonly state: Uint8Array;
  /** When it was made, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** How many messages it has encrypted, which is the index of the next. */
  readonly messages: number;
  /** Whether its key may be shared with users who join later. */
  readonly sharedHistory: boolean;
  /** Which devices were to get keys when it was made. */
  readonly policy: SendPolicy;
  /** How many pieces the list of those it was shared with has. */
  readonly rosterPieces: number;
  /** Earlier sessions, the last one first, whose recipients are still recorded. */
  readonly retired: readonly RetiredSession[];
  /** Why it must not be used any more; absent: it may be. */
  readonly invalid?: RotationCause;
  /** The event that was encrypted last, while it is on its way: a record of its own would cost more. */
  readonly event?: RoomEventEntry;
}

/** Returns how many messages one of a room's sessions has encrypted; undefined: that is not known. */
export function messagesOf(record: OutboundRecord | undefined, sessionId: string): number | undefined {
  if (record?.sessionId === sessionId) return record.messages;
  return record?.retired.find((session) => session.sessionId === sessionId)?.messages;
}

/** The kind of record. */
export const OUTBOUND_KIND = "outbound_session";

/** Returns the key of a room's session. */
export function outboundKey(roomId: RoomID): RecordKey<OutboundRecord> {
  return recordKey(OUTBOUND_KIND, roomId);
}

/**
 * The present session of a room, in a record of its own, so that an old session's record is
 * noticed.
 */
interface OutboundCheckpoint {
  readonly sessionId: string;
  /** Whether it must not be used any more. */
  readonly isOver: boolean;
}

/** Returns the key of the record that says which session a room has. */
export function outboundCheckpointKey(roomId: RoomID): RecordKey<OutboundCheckpoint> {
  return recordKey("outbound_mark", roomId);
}

/** Ends the use of a session, together with its cause. */
export function invalidate(
  tx: Transaction,
  roomId: RoomID,
  { record, cause }: { readonly record: OutboundRecord; readonly cause: RotationCause },
): void {
  if (record.invalid !== undefined) return;
  tx.set(outboundKey(roomId), { ...record, invalid: cause });
  tx.set(outboundCheckpointKey(roomId), { sessionId: record.sessionId, isOver: true });
}

/** The limits of a session. */
interface RotationTerms {
  /** The present settings of the room. */
  readonly settings: RoomSettings;
  /** Which devices are to get keys now. */
  readonly policy: SendPolicy;
  /** Now, in milliseconds since the epoch. */
  readonly now: number;
}

/** Says why a session must not encrypt another message; undefined if it may. */
export function rotationCause(
  record: OutboundRecord,
  { settings, policy, now }: RotationTerms,
): RotationCause | undefined {
  if (record.invalid !== undefined) return record.invalid;
  if (record.policy !== policy) return "policy-changed";
  if (record.messages >= settings.rotationPeriodMsgs) return "messages";
  const age = now - record.createdAt;
  // A session of the future would never grow old: the clock was wrong then, or is now.
  if (age >= settings.rotationPeriodMs || age <= -MIN_ROTATION_PERIOD_MS) return "age";
  return undefined;
}

/** The encryption settings of a room. */
export interface RoomSettings {
  /**
   * The algorithm that the room was first encrypted with; undefined if it was malformed, so that
   * nothing can be sent.
   */
  readonly algorithm: string | undefined;
  /** For how long a session is used at most, in milliseconds. */
  readonly rotationPeriodMs: number;
  /** For how many messages a session is used at most. */
  readonly rotationPeriodMsgs: number;
  /** The history visibility; undefined if there is none, or a malformed one. */
  readonly historyVisibility: HistoryVisibility | undefined;
}

/** The history visibility of a room. */
export type HistoryVisibility = (typeof HISTORY_VISIBILITIES)[number];

/** The shortest time for which a session is used, in milliseconds: an hour. */
const MIN_ROTATION_PERIOD_MS = 3_600_000;

const DEFAULT_ROTATION_PERIOD_MS = 604_800_000;

const DEFAULT_ROTATION_PERIOD_MSGS = 100;

const MAX_ROTATION_PERIOD_MSGS = 10_000;

const HISTORY_VISIBILITIES = ["world_readable", "shared", "invited", "joined"] as const;

/** Applies a content of `m.room.encryption`: the first algorithm stays, and limits only tighten. */
export function withEncryption(before: RoomSettings | undefined, content: unknown): RoomSettings {
  const said = isJsonObject(content) ? content : {};
  const periodMs = clamped(said.rotation_period_ms, MIN_ROTATION_PERIOD_MS, Number.MAX_SAFE_INTEGER);
  const periodMsgs = clamped(said.rotation_period_msgs, 1, MAX_ROTATION_PERIOD_MSGS);
  return {
    algorithm: before?.algorithm ?? (typeof said.algorithm === "string" ? said.algorithm : undefined),
    rotationPeriodMs: tightest(before?.rotationPeriodMs, periodMs, DEFAULT_ROTATION_PERIOD_MS),
    rotationPeriodMsgs: tightest(before?.rotationPeriodMsgs, periodMsgs, DEFAULT_ROTATION_PERIOD_MSGS),
    historyVisibility: before?.historyVisibility,
  };
}

/** Reads a content of `m.room.history_visibility`. */
export function historyVisibilityOf(content: unknown): HistoryVisibility | undefined {
  const said = isJsonObject(content) ? content.history_visibility : undefined;
  return HISTORY_VISIBILITIES.find((visibility) => visibility === said);
}

/** Returns whether two settings are the same. */
export function sameSettings(first: RoomSettings | undefined, second: RoomSettings | undefined): boolean {
  return first?.algorithm === second?.algorithm && first?.rotationPeriodMs === second?.rotationPeriodMs &&
    first?.rotationPeriodMsgs === second?.rotationPeriodMsgs &&
    first?.historyVisibility === second?.historyVisibility;
}

/**
 * Returns whether earlier messages may be shared with users who join later: an unknown visibility allows
 * nothing.
 */
export function isHistoryShared({ historyVisibility }: { readonly historyVisibility?: unknown }): boolean {
  return historyVisibility === "shared" || historyVisibility === "world_readable";
}

function clamped(value: unknown, least: number, most: number): number | undefined {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) return undefined;
  return Math.min(Math.max(value, least), most);
}

function tightest(before: number | undefined, said: number | undefined, fallback: number): number {
  if (before === undefined) return said ?? fallback;
  return Math.min(before, said ?? before);
}

/** What a room needs before its next event. */
export type RoomReadiness =
  | {
    /** The room's encryption, history visibility and members: call `describeRoom`. */
    readonly needs: "room";
  }
  | { /** Devices have to be looked up: a `keysQuery` is among the requests. */ readonly needs: "keysQuery" }
  | {
    /** One-time keys have to be claimed: a `keysClaim` is among the requests. */
    readonly needs: "keysClaim";
  }
  | {
    /** The keys of the own device have to be published: a `keysUpload` is among the requests. */
    readonly needs: "keysUpload";
  }
  | {
    /** Keys are on their way: the `toDevice` requests about a session have to arrive. */
    readonly needs: "toDevice";
    readonly sessionId: string;
  }
  | {
    /** Approval of users who would get a key of this room for the first time. */
    readonly needs: "approval";
    readonly users: readonly NewRecipient[];
  }
  | {
    /** Nothing: an event can be encrypted. */
    readonly needs: "nothing";
    readonly share: ShareReport;
  };

/** Asks what a room needs before its next event. */
export interface PrepareInput {
  readonly roomId: RoomID;
  /** What has failed too often, and is not waited for any more. */
  readonly tolerate: {
    /** Lookups of devices. */
    readonly keysQuery: boolean;
    /** Claims of one-time keys. */
    readonly keysClaim: boolean;
  };
  /** Users who may get a key of this room for the first time, with the identities shown. */
  readonly approved?: readonly NewRecipient[];
  /** Whether the caller has waited since a claim failed, so that it is made again at once. Default: false. */
  readonly hasWaited?: boolean;
  /** How old members and devices may be, as ms since the epoch; undefined: syncs show them. */
  readonly since?: number;
}

/** The devices that have the key of a room's group session, and those that do not. */
export interface ShareReport {
  /** Identifies the outbound Megolm session. */
  readonly sessionId: string;
  /** Devices that have it. */
  readonly shared: readonly CryptoDevice[];
  /** Devices that do not get it, and why: a code of `m.room_key.withheld`. */
  readonly withheld: readonly WithheldDevice[];
}

/** The description of a room that the engine needs before it encrypts for it. */
export interface RoomDescription {
  readonly roomId: RoomID;
  /** The content of `m.room.encryption`; undefined if the server shows none. */
  readonly encryption: JsonObject | undefined;
  /** The content of `m.room.history_visibility`; undefined if there is none. */
  readonly historyVisibility: JsonObject | undefined;
  /** All users who have joined or are invited. */
  readonly members: readonly { readonly userId: UserID; readonly membership: "join" | "invite" }[];
}

export interface EncryptInput {
  readonly roomId: RoomID;
  readonly eventType: string;
  /** The event's content, an object, as JSON. */
  readonly content: string;
  /** The transaction ID to send it with; the result stays the same until `roomEventSent`. */
  readonly txnId?: TransactionID;
  /** The same as {@link PrepareInput.since}. */
  readonly since?: number;
}

/** Asks whether users' devices have to be looked up. */
export interface StaleInput {
  /** The users, who are tracked from now on. */
  readonly users: readonly UserID[];
  /** The same as {@link PrepareInput.since}. */
  readonly since?: number;
}

/** An encrypted event. */
export interface Encrypted {
  /** The content of the `m.room.encrypted` event. */
  readonly content: RoomEncryptedContent;
}

/** State of a room that changes. */
export interface RoomStateInput {
  readonly roomId: RoomID;
  /** The state events, in the order in which they take effect. */
  readonly events: readonly StateEvent[];
  /** Whether the timeline has a gap, in which members may have changed. */
  readonly limited: boolean;
  /** Whether members may have changed that are not in `events`: the server lazy-loads them. */
  readonly lossy: boolean;
}

/** A device that does not get the key, and why. */
export interface WithheldDevice {
  /** Which device gets no key. */
  readonly device: CryptoDevice;
  /** A code of `m.room_key.withheld`. */
  readonly code: Exclude<WithheldCode, "m.history_not_shared">;
}

/**
 * A user who is to get a key of a room for the first time, or for the first time with this
 * identity.
 */
export interface NewRecipient {
  /** Who gets keys for the first time. */
  readonly userId: UserID;
  /**
   * The master key of the user's identity, in unpadded base64; undefined: none, so that the server
   * can add devices.
   */
  readonly master: string | undefined;
}
