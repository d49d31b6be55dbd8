/**
 * The Store: what a device has on disk, or in memory.
 *
 * @module
 */

export { type OpenableStore, type OpenStore, storeOpener } from "./opener.ts";
export {
  type AnyDelivery,
  deliveryOf,
  keptOf,
  nextTry,
  type QuarantineRecord,
  told,
} from "./quarantine_record.ts";
export { namesOf, shownAmong, type ShownEvents, wasShown, withShown } from "./shown_events.ts";
export { StateStore } from "./state_store.ts";
export { spawnStore, type StoreHandlers } from "./store_actor.ts";
export type { CommittedSync, FormerRoom, RememberedRoom, RoomChange, SyncChange } from "./store_protocol.ts";
export type { InternalDelivery, RoomBatch, SyncBatch } from "./sync_batch.ts";
export { DURING } from "./while_reading.ts";
