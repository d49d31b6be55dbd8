/**
 * What all stores have in common: the port, the order of keys, how values become bytes, and the store
 * in memory.
 *
 * @module
 */

export {
  compareParts,
  decodeValue,
  encodeValue,
  isEncodable,
  type Store,
  type StoreCheck,
  type StoreEntry,
  type StoreKey,
  type StoreListOptions,
  type StoreLock,
  type StoreMutation,
} from "./store.ts";
export { decodeKey, encodeKey, endOfRange } from "./byte_keys.ts";
export { MemoryStore } from "./memory_store.ts";
