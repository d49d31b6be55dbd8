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
  type KvCheck,
  type KvEntry,
  type KvKey,
  type KvListOptions,
  type KvLock,
  type KvMutation,
  type KvStore,
} from "./kv_store.ts";
export { MemoryStore } from "./memory_store.ts";
