/**
 * What is kept of a Megolm session of another device.
 *
 * @module
 */

import type { KeySource } from "../types/encryption_info.ts";
import type { RoomID, UserID } from "../types/ids.ts";
import { type RecordKey, recordKey } from "./record_key.ts";
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

/** How many devices may claim a session, and how many of one user: more than one is an attack already. */
const MAX_CLAIMS = 32;
const MAX_CLAIMS_PER_USER = 4;

/** A session. */
export interface InboundRecord {
  /** The state of vodozemac's session; secret. */
  readonly state: Uint8Array;
  /** The first index that can be decrypted. */
  readonly firstIndex: number;
  /** Who claims to have made it. */
  readonly claims: readonly OwnerClaim[];
  /** What others said of it; undefined if nobody but claimants had it. */
  readonly hearsay?: Hearsay;
  /** Where it is among the sessions that wait for their first message; absent: it has had one, or is an own one. */
  readonly unused?: UnusedPlace;
}

/** Where a session is kept: sessions are found by room and ID and by nothing else. */
export function inboundKey(roomId: RoomID, sessionId: string): RecordKey<InboundRecord> {
  return recordKey("inbound", roomId, sessionId);
}

/** Whether history keys of the session may be passed on: all who sent the key have to say so. */
export function isShareable({ claims, hearsay }: InboundRecord): boolean {
  return claims.length > 0 ? claims.every((claim) => claim.sharedHistory) : hearsay?.sharedHistory === true;
}

/** What is new of whose a session is; undefined: nothing. */
export function provenanceOf(
  old: InboundRecord | undefined,
  { claim, hearsay }: { claim?: OwnerClaim; hearsay?: Hearsay },
): Partial<Pick<InboundRecord, "claims" | "hearsay">> | undefined {
  if (hearsay !== undefined) return old?.hearsay === undefined ? { hearsay } : undefined;
  const claims = old?.claims ?? [];
  if (claim === undefined || claims.length >= MAX_CLAIMS) return undefined;
  const ofUser = claims.filter(({ userId }) => userId === claim.userId);
  if (ofUser.length >= MAX_CLAIMS_PER_USER || ofUser.some(({ senderKey }) => senderKey === claim.senderKey)) {
    return undefined;
  }
  return { claims: [...claims, claim] };
}
