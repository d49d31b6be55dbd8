/**
 * The other ends of Olm sessions, and their records.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { type RecordKey, recordKey } from "../records/mod.ts";

/** The other end of Olm sessions: a key, and the user who claims it. */
export interface OlmPeer {
  readonly userId: UserID;
  /** The Curve25519 identity key of the device, in unpadded base64. */
  readonly curve25519: string;
}

/** A session with a peer. */
export interface SessionEntry {
  /** The session's ID. */
  readonly id: string;
  /** Of which generation of the store it is: one of an earlier generation must not be sent with. */
  readonly generation: number;
  /** Whether the peer has started it. */
  readonly inbound: boolean;
  /** Whether it can't be sent with, for the peer's key makes no secret. */
  readonly broken?: true;
}

export interface PeerRecord {
  /** The sessions: first the one that a message came in last on, or that was made last. */
  readonly sessions: readonly SessionEntry[];
  /** How often the peer may have lost messages: a session did not fit any more and was replaced. */
  readonly wedgingIndex: number;
  /**
   * When a new session was last asked for because a message could not be decrypted, in milliseconds
   * since the epoch.
   */
  readonly unwedgedAt?: number;
  /** Whether the peer was told that there is no session, since there last was one. */
  readonly toldNoOlm?: boolean;
  /** When the record was written last, in milliseconds since the epoch; 0: never. */
  readonly notedAt: number;
}

/** A peer of which nothing is known. */
export const NEW_PEER: PeerRecord = { sessions: [], wedgingIndex: 0, notedAt: 0 };

/** The kind of record. */
export const PEER_KIND = "olm-peer";

/** Returns the key of a peer. */
export function peerKey({ userId, curve25519 }: OlmPeer): RecordKey<PeerRecord> {
  return recordKey(PEER_KIND, userId, curve25519);
}

/** Returns the key of a session's state. */
export function sessionKey({ userId, curve25519 }: OlmPeer, sessionId: string): RecordKey<Uint8Array> {
  return recordKey("olm-session", userId, curve25519, sessionId);
}

/** The key of the IDs of removed sessions that a peer had started, the oldest first. */
export function goneKey({ curve25519 }: OlmPeer): RecordKey<readonly string[]> {
  return recordKey("olm-gone", curve25519);
}

/** Returns the key of the store's generation. */
export function generationKey(): RecordKey<number> {
  return recordKey("olm-generation");
}

/**
 * Returns the key of the time at which the store was last found to be set back, in milliseconds since the
 * epoch.
 */
export function rollbackKey(): RecordKey<number> {
  return recordKey("rollback");
}
