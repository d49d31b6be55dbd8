/**
 * The claims of users to a Megolm session.
 *
 * Any device with a session's key can claim to own the session, and a server can make up any
 * number of users. So the claims of each user are separate: those of the most likely owner are in
 * the session's record, and those of each other user in a record of their own. No claim replaces
 * that of another user, and among a user's own the better founded ones stay.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { Transaction } from "../records/mod.ts";
import {
  type Claimed,
  CLAIMS_KIND,
  type ClaimSet,
  claimsKey,
  claimsOf,
  inboundKey,
  type OwnerClaim,
  withClaims,
} from "./inbound_record.ts";
import type { MegolmSessionRef } from "../../types/identifiers.ts";
import type { Evicted, UnusedPlace, UnusedSessions } from "./unused_sessions.ts";

/** The claims of a user, and where they are. */
interface Standing {
  readonly record: Claimed;
  readonly userId: UserID;
  readonly set: ClaimSet;
}

/** How many devices of one user may claim a session: more than one is an attack already. */
const MAX_CLAIMS_PER_USER = 32;

/** Keeps the claims. */
export class SessionClaims {
  readonly #options;

  /** @param options The parts that it needs. */
  constructor(options: {
    /** Ranks claims. */
    readonly judge: {
      /** Ranks claims by how well founded they are: higher is better. */
      ranks(tx: Transaction, claims: readonly OwnerClaim[]): Promise<number[]>;
    };
    /** The sessions without a message. */
    readonly unused: UnusedSessions;
    /** Frees a session that no user claims any more. */
    readonly forget: (tx: Transaction, session: MegolmSessionRef) => void;
  }) {
    this.#options = options;
  }

  /** The best founded claim of the most likely owner; undefined if there is none. */
  async best(
    tx: Transaction,
    { roomId, sessionId }: MegolmSessionRef,
    record: Claimed,
  ): Promise<OwnerClaim | undefined> {
    const others = record.claims.length > 0 || record.others === undefined
      ? []
      : await tx.list<ClaimSet>(CLAIMS_KIND, roomId, sessionId);
    const claims = [record, ...others.map(([, set]) => set)].flatMap((set) => set.claims);
    if (claims.length <= 1) return claims[0];
    const ranks = await this.#options.judge.ranks(tx, claims);
    return claims[ranks.indexOf(Math.max(...ranks))];
  }

  /** Returns whether a device with a Curve25519 key claims a session. */
  async include(
    tx: Transaction,
    { roomId, sessionId }: MegolmSessionRef,
    { record, senderKey }: { readonly record: Claimed; readonly senderKey: string },
  ): Promise<boolean> {
    const others = record.others === undefined ? [] : await tx.list<ClaimSet>(CLAIMS_KIND, roomId, sessionId);
    const sets = [record, ...others.map(([, set]) => set)];
    return sets.some(({ claims }) => claims.some((claim) => claim.senderKey === senderKey));
  }

  /**
   * Adds a claim. It is provisional until the first message of its user, unless it is `kept`.
   *
   * @returns The record's new claims; undefined if nothing is new.
   */
  async add(
    tx: Transaction,
    session: MegolmSessionRef,
    { record = NO_CLAIMS, claim, kept }: {
      readonly record: Claimed | undefined;
      readonly claim: OwnerClaim;
      readonly kept: boolean;
    },
  ): Promise<Claimed | undefined> {
    const { userId } = claim;
    const known = await claimsOf(tx, session, { record, userId });
    const claims = await this.#with(tx, known?.claims ?? [], claim);
    if (claims === undefined) return undefined;
    if (known !== undefined || kept) {
      return await this.#put(tx, session, { record, userId, set: { ...waiting(known?.unused), claims } });
    }
    const { place, evicted } = await this.#options.unused.add(tx, userId, session);
    for (const gone of evicted) await this.#forget(tx, gone);
    // An evicted claim may have been to the same session.
    const left =
      evicted.some((gone) => gone.roomId === session.roomId && gone.sessionId === session.sessionId)
        ? await tx.get(inboundKey(session.roomId, session.sessionId)) ?? NO_CLAIMS
        : record;
    return await this.#put(tx, session, { record: left, userId, set: { ...waiting(place), claims } });
  }

  /**
   * Updates the claims of a user from whom a message of the session has come.
   *
   * @param options.isUsed Whether the message is to be taken for the user's.
   * @returns The record's new claims; undefined if nothing is new.
   */
  async met(
    tx: Transaction,
    session: MegolmSessionRef,
    { record, userId, set, isUsed }: Standing & { readonly isUsed: boolean },
  ): Promise<Claimed | undefined> {
    if (!isUsed || set.unused === undefined) return await this.#put(tx, session, { record, userId, set });
    await this.#options.unused.used(tx, set.unused);
    return await this.#put(tx, session, { record, userId, set: { claims: set.claims } });
  }

  /**
   * A user's claims with one more; undefined if it is known, or not better founded than those that
   * are kept.
   */
  async #with(
    tx: Transaction,
    claims: readonly OwnerClaim[],
    claim: OwnerClaim,
  ): Promise<OwnerClaim[] | undefined> {
    const place = claims.findIndex(({ senderKey }) => senderKey === claim.senderKey);
    const known = claims[place];
    if (known !== undefined) {
      const { senderEd25519, credentials } = claim;
      // It may have been signed since it sent the key first.
      const isNews = credentials !== undefined &&
        JSON.stringify(credentials) !== JSON.stringify(known.credentials);
      return isNews && senderEd25519 === known.senderEd25519
        ? claims.with(place, { ...known, credentials })
        : undefined;
    }
    if (claims.length < MAX_CLAIMS_PER_USER) return [...claims, claim];
    const ranks = await this.#options.judge.ranks(tx, [...claims, claim]);
    const worst = ranks.indexOf(Math.min(...ranks));
    if ((ranks.at(-1) ?? 0) <= (ranks[worst] ?? 0)) return undefined;
    return claims.with(worst, claim);
  }

  /** Writes a user's claims: those of the most likely owner into the session's record. */
  async #put(tx: Transaction, session: MegolmSessionRef, standing: Standing): Promise<Claimed | undefined> {
    const { record: { claims, unused, hearsay, others }, userId, set } = standing;
    const first: ClaimSet = { claims, ...waiting(unused) };
    const user = claims[0]?.userId;
    const { count = 0, sharedHistory = true } = others ?? {};
    const about = { ...(hearsay !== undefined && { hearsay }) };
    if (user === userId || (user === undefined && count === 0)) {
      return { ...set, ...about, ...(others && { others }) };
    }
    const key = claimsKey(session, userId);
    const known = await tx.get(key);
    const isFirst = user === undefined || await this.#isBetter(tx, set, first);
    // Who merely claims what the messages of another show to be the other's has no say.
    const heard = !isFirst && first.unused === undefined && set.unused !== undefined ? [first] : [set, first];
    const isShared = sharedHistory && heard.every(allowsHistory);
    if (!isFirst) {
      if (known === set) return undefined;
      tx.set(key, set);
      const all = known === undefined ? count + 1 : count;
      return { ...first, ...about, others: { count: all, sharedHistory: isShared } };
    }
    if (known !== undefined) tx.delete(key);
    if (user !== undefined) tx.set(claimsKey(session, user), first);
    const rest = count + (user === undefined ? 0 : 1) - (known === undefined ? 0 : 1);
    return { ...set, ...about, others: { count: rest, sharedHistory: isShared } };
  }

  /**
   * Returns whether claims are better founded than others: by messages, and then by the trust in the
   * devices.
   */
  async #isBetter(tx: Transaction, one: ClaimSet, other: ClaimSet): Promise<boolean> {
    const used = one.unused === undefined;
    if (used !== (other.unused === undefined)) return used;
    const best = async ({ claims }: ClaimSet) => Math.max(...await this.#options.judge.ranks(tx, claims));
    return await best(one) > await best(other);
  }

  /** Removes a provisional claim of a user, and the session if no other user claims it. */
  async #forget(tx: Transaction, { userId, roomId, sessionId }: Evicted): Promise<void> {
    const session = { roomId, sessionId };
    const key = inboundKey(roomId, sessionId);
    const record = await tx.get(key);
    if (record === undefined) return;
    const { claims, unused, hearsay, others } = record;
    const isFirst = claims[0]?.userId === userId;
    const count = (others?.count ?? 0) - (isFirst ? 0 : 1);
    if (!isFirst) tx.delete(claimsKey(session, userId));
    if (count <= 0 && hearsay === undefined && (isFirst || claims.length === 0)) {
      tx.delete(key);
      return this.#options.forget(tx, session);
    }
    const left: ClaimSet = isFirst ? { claims: [] } : { claims, ...waiting(unused) };
    const about = {
      ...(hearsay !== undefined && { hearsay }),
      ...(others && { others: { ...others, count } }),
    };
    tx.set(key, withClaims(record, { ...left, ...about }));
  }
}

const NO_CLAIMS: Claimed = { claims: [] };

function waiting(unused: UnusedPlace | undefined): Pick<ClaimSet, "unused"> {
  return unused === undefined ? {} : { unused };
}

function allowsHistory({ claims }: ClaimSet): boolean {
  return claims.every((claim) => claim.sharedHistory);
}
