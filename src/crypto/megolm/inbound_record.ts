/**
 * The record of a Megolm session of another device, which of two ratchets of a session it keeps,
 * and what others than its maker say of it: hearsay, which nobody can prove.
 *
 * @module
 */

import { type InboundGroupSession, VodozemacError } from "@greenroom/vodozemac-wasm";
import type { RoomID, UserID } from "../../types/ids.ts";
import type { Credentials } from "../devices/mod.ts";
import type { CryptoContext } from "../context/context.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import type { MegolmSessionRef } from "../../types/identifiers.ts";
import type { UnusedPlace } from "./unused_sessions.ts";
import type { KeySource } from "../../types/events/encryption_info.ts";

/** A device that sent the key itself, and so claims to be the one that made the session. */
export interface OwnerClaim {
  /** The device's user. */
  readonly userId: UserID;
  /** The device's Curve25519 key, in unpadded base64. */
  readonly senderKey: string;
  /** The Ed25519 key that it named as its own, in unpadded base64. */
  readonly senderEd25519: string;
  /** Whether it allowed sharing the key with users who are invited later. */
  readonly sharedHistory: boolean;
  /** What it has shown of itself with the key; absent: nothing that its user may have signed. */
  readonly credentials?: Credentials;
}

/** What devices of one user claim. */
export interface ClaimSet {
  readonly claims: readonly OwnerClaim[];
  /**
   * Their place among the sessions without a message; absent: one has come, or they must not be
   * evicted.
   */
  readonly unused?: UnusedPlace;
}

/** Who owns a session: the claims of the most likely user, and what others said. */
export interface Claimed extends ClaimSet {
  /**
   * How many other users claim it, and whether all of them, and former ones, allowed sharing its
   * history.
   */
  readonly others?: { readonly count: number; readonly sharedHistory: boolean };
  /** What others than its maker said, the best first; undefined: only claimants sent the key. */
  readonly hearsay?: readonly Hearsay[];
}

/** A session. */
export interface InboundRecord extends Claimed {
  /** The state of vodozemac's session; secret. */
  readonly state: Uint8Array;
  /** The first index that can be decrypted. */
  readonly firstIndex: number;
  /**
   * The first index at which the session's own key is known to have signed its ratchet; absent:
   * none is.
   */
  readonly signedFrom?: number;
}

/** The part of a record that says who owns its session. */
export function claimsIn({ claims, unused, others, hearsay }: Claimed = { claims: [] }): Claimed {
  return {
    claims,
    ...(unused !== undefined && { unused }),
    ...(others !== undefined && { others }),
    ...(hearsay !== undefined && { hearsay }),
  };
}

/** A record with another owner. */
export function withClaims(
  { state, firstIndex, signedFrom }: InboundRecord,
  claimed: Claimed,
): InboundRecord {
  return { state, firstIndex, ...(signedFrom !== undefined && { signedFrom }), ...claimed };
}

/** The kind of record of sessions. */
export const INBOUND_KIND = "inbound";

/** The key of a session's record: sessions are found by room and ID only. */
export function inboundKey(roomId: RoomID, sessionId: string): RecordKey<InboundRecord> {
  return recordKey(INBOUND_KIND, roomId, sessionId);
}

/**
 * The session of a record; undefined if that is damaged: one must not stop all others, and the key
 * may come again.
 */
export function restored(
  { vodozemac: { megolm }, log }: CryptoContext,
  ref: MegolmSessionRef,
  { state }: Pick<InboundRecord, "state">,
): InboundGroupSession | undefined {
  try {
    return megolm.restoreInbound(state);
  } catch (error) {
    if (!(error instanceof VodozemacError) || error.code !== "bad_state") throw error;
    log.error("The record of a group session is damaged", { ...ref });
    return undefined;
  }
}

/** The kind of record of the claims of users other than the most likely owner. */
export const CLAIMS_KIND = "inbound_claims";

/** The key of the claims of a user who is not the most likely owner. */
export function claimsKey({ roomId, sessionId }: MegolmSessionRef, userId: UserID): RecordKey<ClaimSet> {
  return recordKey(CLAIMS_KIND, roomId, sessionId, userId);
}

/** The claims of a user to a session; undefined if there are none. */
export async function claimsOf(
  tx: Transaction,
  session: MegolmSessionRef,
  { record, userId }: { readonly record: Claimed; readonly userId: UserID },
): Promise<ClaimSet | undefined> {
  if (record.claims[0]?.userId === userId) return record;
  return record.others === undefined ? undefined : await tx.get(claimsKey(session, userId));
}

/**
 * Returns whether a message of the most likely owner, who has sent the key, has come: no hearsay counts any
 * more.
 */
export function isTaken({ claims, unused }: Pick<Claimed, "claims" | "unused">): boolean {
  return claims.length > 0 && unused === undefined;
}

/**
 * The hearsay that messages have borne out, while none of a user who claims the session has come: to
 * claim it needs no more than its key, which each member has, and changes nothing of that.
 */
export function borneOut({ hearsay = [], ...claimed }: Claimed): readonly Hearsay[] {
  return isTaken(claimed) ? [] : hearsay.filter(({ isMet }) => isMet);
}

/**
 * Returns whether the key may be shared with users who join later: the maker must have allowed it; while
 * nothing shows who that is, all who may be.
 */
export function isShareable(record: Claimed): boolean {
  const { claims, hearsay = [], others } = record;
  const makers = borneOut(record);
  if (makers.length > 0) return makers.every((each) => each.sharedHistory);
  if (others?.sharedHistory === false) return false;
  const said = isTaken(record) ? claims : [...claims, ...hearsay];
  return said.length > 0 && said.every((each) => each.sharedHistory);
}

/** A ratchet that was known before. */
export interface KnownRatchet {
  readonly session: InboundGroupSession;
  readonly record: Pick<InboundRecord, "signedFrom">;
}

/** Which ratchet to keep. */
export interface MergedRatchet {
  /** Whether the new ratchet replaces the known one. */
  readonly isBetter: boolean;
  /**
   * The first index at which the session's own key has signed the ratchet that is kept; undefined:
   * none.
   */
  readonly signedFrom: number | undefined;
}

/**
 * Decides between a known ratchet and one that was received. Of two that are connected, the one
 * that begins earlier is kept. Of two that are not, the one is kept that the session's own key has
 * signed, as far back as it has: only the owner can sign a ratchet, and any member can forge one
 * without a signature. If neither or both are signed, the known one is kept.
 *
 * @returns Undefined if the new one must be refused.
 */
export function mergeRatchets(
  session: InboundGroupSession,
  { isSigned, before }: { readonly isSigned: boolean; readonly before: KnownRatchet | undefined },
): MergedRatchet | undefined {
  const signedFrom = isSigned ? session.firstKnownIndex : undefined;
  if (before === undefined) return { isBetter: true, signedFrom };
  const { signedFrom: known } = before.record;
  const ordering = session.compare(before.session);
  if (ordering !== "unconnected") {
    return { isBetter: ordering === "better", signedFrom: earliest(known, signedFrom) };
  }
  if (signedFrom === undefined) return undefined;
  if (known !== undefined) {
    if (known <= signedFrom) return undefined;
    using proven = before.session.clone();
    proven.advanceTo(known);
    if (session.compare(proven) === "unconnected") return undefined;
  }
  return { isBetter: true, signedFrom };
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? one ?? other : Math.min(one, other);
}

/** What a device that did not make the session, a file or a backup said of it. */
export interface Hearsay {
  /** How the key came. */
  readonly source: Exclude<KeySource, "direct">;
  /** The Curve25519 key of the alleged maker of the session. */
  readonly senderKey: string;
  /** Its Ed25519 key; empty if none was given. */
  readonly senderEd25519: string;
  /** Whether it allowed sharing the key with users who are invited later. */
  readonly sharedHistory: boolean;
  /** Who says so, if it came in a bundle of theirs. */
  readonly sharedBy?: UserID;
  /** Whether a message of the session has come from a user whose device this may be. */
  readonly isMet?: true;
}

/** The same as it comes: it may say nothing of sharing. */
export interface Said extends Omit<Hearsay, "sharedHistory" | "isMet"> {
  /** Whether it allowed sharing the key; absent: that is not said, which allows nothing new. */
  readonly sharedHistory?: boolean;
}

/**
 * From the best to the worst: an own verified device that was asked; a file of the user, under the
 * user's passphrase; another user; a backup, into which the server can put anything.
 */
const FROM_GOOD_TO_BAD: readonly Hearsay["source"][] = ["forwarded", "export", "bundle", "backup"];

/** How many alleged makers of a session are kept: more than one is a mistake, or an attack. */
const MAX_HEARSAY = 4;

/**
 * Adds what was said to what is known, the best first: of one alleged maker the best source counts,
 * and of one source who was named first.
 *
 * @returns What is known now; undefined if nothing is new.
 */
export function withHearsay(known: readonly Hearsay[], said: Said): readonly Hearsay[] | undefined {
  const same = known.find(({ senderKey, senderEd25519 }) =>
    senderKey === said.senderKey && senderEd25519 === said.senderEd25519
  );
  if (same !== undefined) {
    const { sharedBy: _before, ...rest } = same;
    const { source, sharedBy } = rank(said) < rank(same) ? said : same;
    const sharedHistory = same.sharedHistory && said.sharedHistory !== false;
    if (source === same.source && sharedHistory === same.sharedHistory) return undefined;
    return byRank(
      known.map((each) =>
        each === same ? { ...rest, source, sharedHistory, ...(sharedBy && { sharedBy }) } : each
      ),
    );
  }
  const added: Hearsay = { ...said, sharedHistory: said.sharedHistory === true };
  const all = byRank([...known, added]).slice(0, MAX_HEARSAY);
  return all.includes(added) ? all : undefined;
}

/** Returns what is known once a message has come from a user whose device was named. */
export function metHearsay(hearsay: readonly Hearsay[], met: Hearsay): readonly Hearsay[] {
  return byRank(hearsay.map((each) => each === met ? { ...each, isMet: true } : each));
}

function byRank(hearsay: readonly Hearsay[]): readonly Hearsay[] {
  const place = (each: Hearsay): number => each.isMet ? -1 : rank(each);
  return hearsay.toSorted((one, other) => place(one) - place(other));
}

function rank({ source }: Said): number {
  return FROM_GOOD_TO_BAD.indexOf(source);
}
