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

/** Makes the changes that together do what one does. */
export type Parts = () => Promise<readonly StoreMutation[]>;

/** What is known of a commit that a store has refused. */
export interface RefusedCommit {
  /** What the store said. */
  readonly error: unknown;
  /** What the keys of the device begin with. */
  readonly prefix: StoreKey;
  /** The parts of the changes that have some. */
  readonly parts: Pick<WeakMap<StoreMutation, Parts>, "get">;
}

/**
 * Finds the expendable changes that make a store refuse a commit. Of those that have parts, the parts
 * count. Nothing is written for it.
 *
 * @param kv The store.
 * @param changes The changes that it refused together.
 * @param commit What is known of them.
 * @returns What is left; undefined if the store is broken, or refuses records that are needed, or
 *   too many.
 */
export async function acceptableChanges(
  kv: Store,
  changes: readonly StoreMutation[],
  { error, prefix, parts }: RefusedCommit,
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
  const refusedOf = async (all: readonly StoreMutation[]): Promise<Set<StoreMutation> | undefined> => {
    const filled = all.filter(isFilled);
    const found = await culprits(filled.length, MOST, (start, end) => takes(filled.slice(start, end)));
    return found && new Set(found.map((place) => filled[place] as StoreMutation)); // one for each place
  };
  if (!await takes(changes.filter((change) => !isFilled(change)))) return undefined;
  const whole = await refusedOf(changes);
  if (whole === undefined || whole.size === 0) return undefined;
  const divided = await divide(changes, whole, parts);
  const refused = divided === changes ? whole : await refusedOf(divided);
  if (refused === undefined) return undefined;
  const accepted = divided.filter((change) => !refused.has(change));
  for (const { key } of refused) {
    const removal: StoreMutation = { type: "delete", key };
    if (STATE.has(key[prefix.length]) && await takes([removal])) accepted.push(removal);
  }
  return { changes: accepted, refused: [...refused].map(({ key }) => key.slice(prefix.length)) };
}

/**
 * The changes with the parts of those that were refused in their place; the same if none has parts. What
 * another change sets is newer than a part, and is not set by one.
 */
async function divide(
  changes: readonly StoreMutation[],
  refused: ReadonlySet<StoreMutation>,
  parts: RefusedCommit["parts"],
): Promise<readonly StoreMutation[]> {
  const divided = new Map<StoreMutation, readonly StoreMutation[]>();
  const isSet = new Set(changes.map(({ type, key }) => type === "set" && JSON.stringify(key)));
  for (const change of refused) {
    const all = await parts.get(change)?.();
    const some = all?.filter(({ key }) => !isSet.has(JSON.stringify(key)));
    if (some !== undefined) divided.set(change, [{ type: "delete", key: change.key }, ...some]);
  }
  return divided.size === 0 ? changes : changes.flatMap((change) => divided.get(change) ?? [change]);
}

function isExpendable([part, kind]: StoreKey): boolean {
  return STATE.has(part) || (part === "crypto" && EXPENDABLE.has(kind));
}
