/**
 * A commit without the records that a store refuses: one name or value that it can't store must not
 * make it refuse all others, again and again.
 *
 * @module
 */

import { culprits } from "../../base/runs.ts";
import { StoreError } from "../../errors/store_error.ts";
import type { Store, StoreKey, StoreMutation } from "../../store/base/mod.ts";

/** How many refused records are searched for: each takes some tries. */
const MOST = 1_000;
/** A versionstamp that no value has, so that nothing is written. */
const NEVER = "never";

/** The first parts of the keys of room state. */
const STATE: ReadonlySet<string | undefined> = new Set(["state", "pack"]);

/** The kinds of records that others fill: without one a client can do less, and is no less safe. */
const EXPENDABLE: ReadonlySet<string | undefined> = new Set([
  "inbound",
  "inbound_unused",
  "inbound_unused_session",
  "keyAnswer",
  "keyRequest",
  "leftover",
  "olm-wanted",
  "olm_misunderstood",
  "olm_stranger",
  "parked",
  "tracked",
  "withheld",
]);

/** A commit without what the store refuses. */
export interface AcceptableChanges {
  /**
   * What it accepts. State that it refuses is removed: missing state is better than wrong state.
   */
  readonly changes: readonly StoreMutation[];
  /** The keys of the records that it refuses, relative to the device's. */
  readonly refused: readonly StoreKey[];
}

/**
 * Finds the expendable changes that make a store refuse a commit. Nothing is written for it.
 *
 * @param kv The store.
 * @param changes The changes that it refused together.
 * @param error What it said then.
 * @param prefix What the keys of the device begin with.
 * @returns What is left; undefined if the store is broken, or refuses records that are needed, or
 *   too many.
 */
export async function acceptableChanges(
  kv: Store,
  changes: readonly StoreMutation[],
  { error, prefix }: { readonly error: unknown; readonly prefix: StoreKey },
): Promise<AcceptableChanges | undefined> {
  if (error instanceof StoreError) return undefined; // the disk, or another process that has the store
  const takes = async (some: readonly StoreMutation[]): Promise<boolean> => {
    try {
      await kv.commit(some, [{ key: prefix, versionstamp: NEVER }]);
      return true;
    } catch {
      return false;
    }
  };
  const isFilled = ({ key }: StoreMutation): boolean => isExpendable(key.slice(prefix.length));
  if (!await takes(changes.filter((change) => !isFilled(change)))) return undefined;
  const filled = changes.filter(isFilled);
  const found = await culprits(filled.length, MOST, (start, end) => takes(filled.slice(start, end)));
  if (found === undefined || found.length === 0) return undefined;
  const refused = new Set(found.map((place) => filled[place] as StoreMutation)); // one for each place
  const accepted = changes.filter((change) => !refused.has(change));
  for (const { key } of refused) {
    const removal: StoreMutation = { type: "delete", key };
    if (STATE.has(key[prefix.length]) && await takes([removal])) accepted.push(removal);
  }
  return { changes: accepted, refused: [...refused].map(({ key }) => key.slice(prefix.length)) };
}

function isExpendable([part, kind]: StoreKey): boolean {
  return STATE.has(part) || (part === "crypto" && EXPENDABLE.has(kind));
}
