/**
 * What is kept of a Megolm session of another device.
 *
 * @module
 */

import type { KeySource } from "../../types/events/encryption_info.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { type RecordKey, recordKey } from "../records/record_key.ts";
import type { UnusedPlace } from "./unused_sessions.ts";

/** A device that sent the key itself, and so claims to be the one that made the session. */
export interface OwnerClaim {
  /** The device's user. */
  readonly userId: UserID;
  /** The device's Curve25519 key, in unpadded base64. */
  readonly senderKey: string;
  /** The Ed25519 key that it named as its own, in unpadded base64. */
  readonly senderEd25519: string;
  /** Whether it said that users who are invited later may have the key. */
  readonly sharedHistory: boolean;
}

/** What somebody said of the session who did not make it. */
export interface Hearsay {
  /** How the key came. */
  readonly source: Exclude<KeySource, "direct">;
  /** The Curve25519 key of the device that is said to have made the session. */
  readonly senderKey: string;
  /** The Ed25519 key of it; empty if nothing was said. */
  readonly senderEd25519: string;
  /** Whether it was said that users who are invited later may have the key. */
  readonly sharedHistory: boolean;
}

/** What devices of one user claim. */
export interface ClaimSet {
  /** The claims. */
  readonly claims: readonly OwnerClaim[];
  /** Where they are among what waits for its first message; absent: it has come, or they are not to be let go of. */
  readonly unused?: UnusedPlace;
}

/** What is known of whose a session is: the claims of the user whose it most likely is, and what else was said. */
export interface Claimed extends ClaimSet {
  /** How many other users claim it, and whether all who do, or did, said that users who are invited later may have the key. */
  readonly others?: { readonly count: number; readonly sharedHistory: boolean };
  /** What others said of it; undefined if nobody but claimants had it. */
  readonly hearsay?: Hearsay;
}

/** A session. */
export interface InboundRecord extends Claimed {
  /** The state of vodozemac's session; secret. */
  readonly state: Uint8Array;
  /** The first index that can be decrypted. */
  readonly firstIndex: number;
  /** The index from which on the session's own key has signed its ratchet; absent: nobody knows of any. */
  readonly signedFrom?: number;
}

/** What a record says of whose its session is. */
export function claimsIn({ claims, unused, others, hearsay }: Claimed = { claims: [] }): Claimed {
  return {
    claims,
    ...(unused !== undefined && { unused }),
    ...(others !== undefined && { others }),
    ...(hearsay !== undefined && { hearsay }),
  };
}

/** A record of whose session something else is known now. */
export function withClaims(
  { state, firstIndex, signedFrom }: InboundRecord,
  claimed: Claimed,
): InboundRecord {
  return { state, firstIndex, ...(signedFrom !== undefined && { signedFrom }), ...claimed };
}

/** Where a session is kept: sessions are found by room and ID and by nothing else. */
export function inboundKey(roomId: RoomID, sessionId: string): RecordKey<InboundRecord> {
  return recordKey("inbound", roomId, sessionId);
}

/** Whether history keys of the session may be passed on: all who sent the key have to say so. */
export function isShareable({ claims, hearsay, others }: InboundRecord): boolean {
  if (others?.sharedHistory === false) return false;
  return claims.length > 0 ? claims.every((claim) => claim.sharedHistory) : hearsay?.sharedHistory === true;
}
