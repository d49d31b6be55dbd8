/**
 * Whose a Megolm session is.
 *
 * Anybody who has a session's key can send it on as if it were theirs. So several devices may claim a session, and an event
 * counts as that of its sender if the sender is one of them.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { sameKey } from "../encoding/base64.ts";
import type { OwnDevice } from "../engine/context.ts";
import type { Transaction } from "../records/transaction.ts";
import { type ClaimSet, type Hearsay, type InboundRecord, withClaims } from "./inbound_record.ts";
import type { Attribution, ClaimJudge, SenderDevices } from "./sender_trust.ts";
import type { SessionClaims } from "./session_claims.ts";
import type { SessionName } from "./unused_sessions.ts";

/** What it needs. */
export interface SessionOwnersOptions {
  /** The own device. */
  readonly own: OwnDevice;
  /** What is known of devices. */
  readonly devices: SenderDevices;
  /** Says how well founded claims are. */
  readonly judge: ClaimJudge;
  /** Who claims what. */
  readonly claims: SessionClaims;
}

/** Whose a session is, and what has to be kept of that. */
export interface Attributed extends Attribution {
  /** The session's record, as it should be from now on, if more is known of its devices. */
  readonly learnt?: InboundRecord;
}

/** Finds out whose sessions are, by what is known of devices now. */
export class SessionOwners {
  readonly #options: SessionOwnersOptions;

  /** @param options What it needs. */
  constructor(options: SessionOwnersOptions) {
    this.#options = options;
  }

  /** Reads what will be needed for users, in one go. */
  async prefetch(tx: Transaction, users: readonly UserID[]): Promise<void> {
    await this.#options.judge.prefetch(tx, users);
  }

  /** Whose a session is, if a message of it came in an event that says that a user sent it. */
  async attribute(
    tx: Transaction,
    session: SessionName,
    { record, sender }: { readonly record: InboundRecord; readonly sender: UserID },
  ): Promise<Attributed> {
    const { claims } = this.#options;
    const set = await claims.ofUser(tx, session, { record, userId: sender });
    if (set !== undefined) return await this.#ofClaims(tx, session, { record, userId: sender, set });
    const { hearsay } = record;
    const senderKey = record.claims[0]?.senderKey ?? "";
    if (hearsay === undefined || !await this.#mayBeOf(tx, session, { record, hearsay, sender })) {
      return { trust: "mismatched-sender", source: "direct", senderKey, senderDevice: undefined };
    }
    const { source } = hearsay;
    return { trust: "unknown-device", source, senderKey: hearsay.senderKey, senderDevice: undefined };
  }

  async #ofClaims(
    tx: Transaction,
    session: SessionName,
    { record, userId, set }: { record: InboundRecord; userId: UserID; set: ClaimSet },
  ): Promise<Attributed> {
    const { judge, claims } = this.#options;
    const judged: Attribution[] = [];
    for (const claim of set.claims) judged.push(await judge.judge(tx, claim));
    const best = judged.reduce((one, other) => judge.isBetter(other, one) ? other : one);
    const isUsed = best.trust !== "mismatched-sender";
    if (set === record && (set.unused === undefined || !isUsed)) return best;
    const claimed = await claims.met(tx, session, { record, userId, set, isUsed });
    return claimed === undefined ? best : { ...best, learnt: withClaims(record, claimed) };
  }

  /**
   * Whether what others said of the session may be true of a sender. It names a device: not if that claims the session for another
   * user, and not if it is known to be another user's, by the key that it signs with.
   */
  async #mayBeOf(
    tx: Transaction,
    session: SessionName,
    { record, hearsay, sender }: { record: InboundRecord; hearsay: Hearsay; sender: UserID },
  ): Promise<boolean> {
    const { own, devices, claims } = this.#options;
    const { senderKey, senderEd25519 } = hearsay;
    if (await claims.include(tx, session, { record, senderKey })) return false;
    if (senderEd25519 === "") return true;
    const device = await devices.everByIdentityKey(tx, sender, senderKey);
    if (device !== undefined && sameKey(device.ed25519, senderEd25519)) return true;
    const owner = senderEd25519 === own.ed25519 ? own.userId : await devices.ownerOf(tx, senderEd25519);
    return owner === undefined || owner === sender;
  }
}
