/**
 * The record that marks a store as sealed.
 *
 * @module
 */

import { StoreKeyError } from "../../errors/store_error.ts";
import type { KvEntry, KvKey, KvStore } from "../base/mod.ts";

/**
 * The key of the record, in the sealed store. No account's keys begin so: theirs begin with a user
 * ID.
 */
export const sealKey: KvKey = ["greenroom:sealed"];

/** Whether a key is {@link sealKey}. */
export function isSealKey(key: KvKey): boolean {
  return key.length === sealKey.length && key[0] === sealKey[0];
}

/**
 * Checks that a store is not a sealed one without its `SealedStore`: writing into it would damage
 * it.
 *
 * @param store A store, or a sealed one.
 * @throws {StoreKeyError} If it is sealed and not opened as a `SealedStore`.
 */
export async function assertNotSealed(store: KvStore): Promise<void> {
  const [seal] = await store.getMany([sealKey]);
  assertNoSeal(seal);
}

/**
 * The same for the record that was read already.
 *
 * @param seal The record at {@link sealKey}.
 * @throws {StoreKeyError} If there is one.
 */
export function assertNoSeal(seal: KvEntry | undefined): void {
  if (seal === undefined) return;
  throw new StoreKeyError("Cannot use the store: it is sealed; open it with SealedStore.open() and its key");
}
