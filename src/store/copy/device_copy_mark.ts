/**
 * What stands in a store beside a device's records while they are copied, and is no part of the device.
 *
 * @module
 */

import { StoreError } from "../../errors/store_error.ts";
import { StoreKeys } from "../device/keys.ts";
import type { KvKey, KvStore } from "../kv_store.ts";
import { assertNoSeal, sealKey } from "../sealed/sealed_mark.ts";

const keys = new StoreKeys([]);

/** Kinds that belong to the place, not to the device: who may write there, and what is going on. */
const OF_PLACE = [keys.owner(), keys.lease(), keys.importing()].map(([kind]) => kind);

/**
 * Whether a record belongs to the place, and is not copied.
 *
 * @param path The key, without the parts that name the device.
 */
export function isOfPlace(path: KvKey): boolean {
  return path[0] !== undefined && OF_PLACE.includes(path[0]);
}

/** Whether there is a record of the device. */
export async function hasRecords(store: KvStore, prefix: KvKey): Promise<boolean> {
  for await (const { key } of store.list(prefix)) {
    if (!isOfPlace(key.slice(prefix.length))) return true;
  }
  return false;
}

/**
 * Makes sure that what is below a prefix may be taken for a device's records: the store is not one that is sealed, without its
 * seal around it, and no import was begun and not ended.
 *
 * @param store The store.
 * @param prefix What the device's keys begin with.
 * @throws {StoreKeyError} If the store is sealed.
 * @throws {StoreError} If only a part of the records may be there.
 */
export async function assertUsable(store: KvStore, prefix: KvKey): Promise<void> {
  const [seal, mark] = await store.getMany([sealKey, new StoreKeys(prefix).importing()]);
  assertNoSeal(seal);
  if (mark === undefined) return;
  throw new StoreError(
    `Cannot use the store of ${
      prefix.join(" ")
    }: it is being imported, or that was not finished; wait, or import it again`,
  );
}
