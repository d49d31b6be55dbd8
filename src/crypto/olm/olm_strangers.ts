/**
 * Devices that have begun Olm sessions and of which nobody knows whose they are.
 *
 * Anybody can make such devices up, so that they are bounded. What they may send is room keys and dummies: of no use a second
 * time, so that nothing is lost with what would refuse a repetition.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { FairIndex } from "../records/fair_index.ts";
import type { OlmPeer } from "./olm_peer.ts";
import { type RecordKey, recordKey } from "../records/record_key.ts";
import { STRANGERS } from "../engine/retention.ts";
import type { Transaction } from "../records/transaction.ts";

/** A device that nobody knows. */
export interface Stranger extends OlmPeer {
  /** When it was met, in milliseconds since the epoch. */
  readonly at: number;
}

/** Keeps the last of them, fairly among users. */
export class OlmStrangers {
  readonly #index: FairIndex<Stranger>;

  /** @param limit How many are kept. Default: 5,000. */
  constructor(limit = STRANGERS) {
    this.#index = new FairIndex(limit);
  }

  /** Reads what an earlier process has left. */
  async load(tx: Transaction): Promise<void> {
    this.#index.clear();
    const records = await tx.list<number>("olm_stranger");
    records.sort(([, one], [, other]) => one - other);
    for (const [[userId = "", curve25519 = ""], at] of records) {
      this.#index.load(userId, curve25519, { userId: userId as UserID, curve25519, at }); // it was written under a user ID
    }
  }

  /**
   * Takes in that a device nobody knows has begun a session.
   *
   * @returns Those that have to go for it.
   */
  meet(tx: Transaction, { userId, curve25519 }: OlmPeer, now: number): Stranger[] {
    const stranger: Stranger = { userId, curve25519, at: now };
    tx.set(strangerKey(stranger), now);
    const gone = this.#index.set(tx, [userId, curve25519, stranger]).map(([, , value]) => value);
    for (const each of gone) tx.delete(strangerKey(each));
    return gone;
  }

  /** Forgets one of them: it is known now, or gone. */
  forget(tx: Transaction, { userId, curve25519 }: OlmPeer): void {
    if (this.#index.get(userId, curve25519) === undefined) return;
    this.#index.delete(tx, userId, curve25519);
    tx.delete(strangerKey({ userId, curve25519 }));
  }

  /** All of them. */
  all(): Stranger[] {
    return [...this.#index.values()];
  }
}

function strangerKey({ userId, curve25519 }: OlmPeer): RecordKey<number> {
  return recordKey("olm_stranger", userId, curve25519);
}
