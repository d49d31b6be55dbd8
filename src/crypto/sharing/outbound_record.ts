/**
 * The record of a room's own Megolm session, and when it must not be used any more.
 *
 * @module
 */

import type { RoomID } from "../../types/ids.ts";
import type { SendPolicy } from "../context/context.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import { MIN_ROTATION_PERIOD_MS, type RoomSettings } from "./room_settings.ts";

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
export interface RetiredSession {
  readonly sessionId: string;
  /** How many pieces the list of those it was shared with has. */
  readonly rosterPieces: number;
  /** How many messages it has encrypted; absent in records of earlier versions. */
  readonly messages?: number;
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
}

/** How many messages one of a room's sessions has encrypted; undefined: that is not known. */
export function messagesOf(record: OutboundRecord | undefined, sessionId: string): number | undefined {
  if (record?.sessionId === sessionId) return record.messages;
  return record?.retired.find((session) => session.sessionId === sessionId)?.messages;
}

/** The kind of record. */
export const OUTBOUND_KIND = "outbound_session";

/** Where a room's session is kept. */
export function outboundKey(roomId: RoomID): RecordKey<OutboundRecord> {
  return recordKey(OUTBOUND_KIND, roomId);
}

/**
 * The present session of a room, in a record of its own, so that an old session's record is
 * noticed.
 */
export interface OutboundCheckpoint {
  readonly sessionId: string;
  /** Whether it must not be used any more. */
  readonly isOver: boolean;
}

/** Where it is kept which session a room has. */
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
export interface RotationTerms {
  /** The present settings of the room. */
  readonly settings: RoomSettings;
  /** Which devices are to get keys now. */
  readonly policy: SendPolicy;
  /** Now, in milliseconds since the epoch. */
  readonly now: number;
}

/** Why a session must not encrypt another message; undefined if it may. */
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
