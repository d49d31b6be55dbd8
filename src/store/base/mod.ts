/**
 * What all stores have in common: the port, the order of keys, how values become bytes, and the store
 * in memory.
 *
 * @module
 */

export {
  compareParts,
  decodeKey,
  decodeValue,
  encodeKey,
  encodeValue,
  endOfRange,
  isEncodable,
  type Store,
  type StoreCheck,
  type StoreEntry,
  type StoreKey,
  type StoreListOptions,
  type StoreLock,
  type StoreMutation,
} from "./store.ts";
export { MemoryStore } from "./memory_store.ts";
