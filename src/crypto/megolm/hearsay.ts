/**
 * What others than its maker say of a Megolm session: hearsay, which nobody can prove.
 *
 * @module
 */

import type { KeySource } from "../../types/events/encryption_info.ts";
import type { UserID } from "../../types/ids.ts";

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

/** What is known once a message has come from a user whose device was named. */
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
