/**
 * Where a sealed store keeps what its key is recognised by.
 *
 * @module
 */

import { StoreKeyError } from "../../errors/store_error.ts";
import type { KvEntry, KvKey, KvStore } from "../kv_store.ts";

/**
 * Where it is: in the store that is sealed, where no account can be, whose keys begin with a user
 * ID.
 */
export const sealKey: KvKey = ["greenroom:sealed"];

/** Whether a key is {@link sealKey}. */
export function isSealKey(key: KvKey): boolean {
  return key.length === sealKey.length && key[0] === sealKey[0];
}

/**
 * Makes sure that a store is not one that is sealed, without its seal around it: whoever wrote into
 * it would spoil it.
 *
 * @param store A store, or a sealed one.
 * @throws {StoreKeyError} If it is sealed, and no `SealedStore` is around it.
 */
export async function assertNotSealed(store: KvStore): Promise<void> {
  const [seal] = await store.getMany([sealKey]);
  assertNoSeal(seal);
}

/**
 * The same, for who has looked already.
 *
 * @param seal What is at {@link sealKey}.
 * @throws {StoreKeyError} If there is something.
 */
export function assertNoSeal(seal: KvEntry | undefined): void {
  if (seal === undefined) return;
  throw new StoreKeyError("Cannot use the store: it is sealed; open it with SealedStore.open() and its key");
}
