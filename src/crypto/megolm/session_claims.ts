/**
 * Who claims a Megolm session.
 *
 * Anybody who has a session's key can send it on as if it were theirs, and a server can make up as many who do as it likes. So
 * the claims of each user stand for themselves: those of one are in the session's record, and each other user's in a record of
 * their own. Nobody's take the place of another user's, and among a user's own the better founded stay.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { Transaction } from "../records/transaction.ts";
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
import type { MegolmSessionRef } from "./session_ref.ts";
import type { Evicted, UnusedPlace, UnusedSessions } from "./unused_sessions.ts";

/** What it needs. */
export interface SessionClaimsOptions {
  /** Ranks claims. */
  readonly judge: {
    /** How well founded each claim is, as a number: higher is better. */
    ranks(tx: Transaction, claims: readonly OwnerClaim[]): Promise<number[]>;
  };
  /** What was claimed and not used yet. */
  readonly unused: UnusedSessions;
  /** Has a session let go of that nobody claims any more, and of which nobody else has said anything. */
  readonly forget: (tx: Transaction, session: MegolmSessionRef) => void;
}

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
  readonly #options: SessionClaimsOptions;

  /** @param options What it needs. */
  constructor(options: SessionClaimsOptions) {
    this.#options = options;
  }

  /** The best founded claim of the user whose the session most likely is; undefined if nobody claims it. */
  async best(tx: Transaction, { claims }: ClaimSet): Promise<OwnerClaim | undefined> {
    if (claims.length <= 1) return claims[0];
    const ranks = await this.#options.judge.ranks(tx, claims);
    return claims[ranks.indexOf(Math.max(...ranks))];
  }

  /** Whether a device with a Curve25519 key is among those who claim a session. */
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
   * Takes in a claim. It waits for the first message of its user, unless it is `kept` anyway.
   *
   * @returns What the record says from now on; undefined if nothing is new.
   */
  async add(
    tx: Transaction,
    session: MegolmSessionRef,
    { record = NOBODY, claim, kept }: {
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
    // One of those who had to go may have claimed the same session.
    const left =
      evicted.some((gone) => gone.roomId === session.roomId && gone.sessionId === session.sessionId)
        ? await tx.get(inboundKey(session.roomId, session.sessionId)) ?? NOBODY
        : record;
    return await this.#put(tx, session, { record: left, userId, set: { ...waiting(place), claims } });
  }

  /**
   * Takes in what is known of the devices that claim a session for a user, when a message of it came from the user.
   *
   * @param options.isUsed Whether the message is to be taken for the user's.
   * @returns What the record says from now on; undefined if nothing is new.
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

  /** A user's claims with one more; undefined if it is no new one, or none that is better founded than what is there. */
  async #with(
    tx: Transaction,
    claims: readonly OwnerClaim[],
    claim: OwnerClaim,
  ): Promise<OwnerClaim[] | undefined> {
    if (claims.some(({ senderKey }) => senderKey === claim.senderKey)) return undefined;
    if (claims.length < MAX_CLAIMS_PER_USER) return [...claims, claim];
    const ranks = await this.#options.judge.ranks(tx, [...claims, claim]);
    const worst = ranks.indexOf(Math.min(...ranks));
    if ((ranks.at(-1) ?? 0) <= (ranks[worst] ?? 0)) return undefined;
    return claims.with(worst, claim);
  }

  /** Puts a user's claims where they belong: those of whom the session most likely is into its record. */
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
    const isShared = sharedHistory && [set, first].every(allowsHistory);
    if (user !== undefined && !await this.#isBetter(tx, set, first)) {
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

  /** Whether claims are better founded than others: by messages, and then by what is known of the devices. */
  async #isBetter(tx: Transaction, one: ClaimSet, other: ClaimSet): Promise<boolean> {
    const used = one.unused === undefined;
    if (used !== (other.unused === undefined)) return used;
    const best = async ({ claims }: ClaimSet) => Math.max(...await this.#options.judge.ranks(tx, claims));
    return await best(one) > await best(other);
  }

  /** What a user has claimed and not used has to go: the session only if there is nobody else. */
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

const NOBODY: Claimed = { claims: [] };

function waiting(unused: UnusedPlace | undefined): Pick<ClaimSet, "unused"> {
  return unused === undefined ? {} : { unused };
}

function allowsHistory({ claims }: ClaimSet): boolean {
  return claims.every((claim) => claim.sharedHistory);
}
