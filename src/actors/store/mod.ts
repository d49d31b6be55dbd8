/**
 * The Store: what a device has on disk, or in memory.
 *
 * @module
 */

export {
  type OpenableStore,
  openedStore,
  type OpenStore,
  type StateUpdates,
  storeOpener,
} from "./store_access.ts";
export type { KeptResponse } from "./kept_responses.ts";
export { type AnyDelivery, deliveryOf, keptOf, nextTry, type QuarantineRecord, told } from "./quarantine.ts";
export { CREATE } from "./redactable_state.ts";
export { membershipIn, prevMembership } from "./room_records.ts";
export { nameOf } from "./room_state.ts";
export { lookAt, type ShownEvents, wasShown, withShown } from "./shown_events.ts";
export { StateStore, UPDATES } from "./state_store.ts";
export { spawnStore, type StoreHandlers } from "./store_actor.ts";
export type {
  CommittedSync,
  FormerRoom,
  InternalDelivery,
  PruneStep,
  RememberedRoom,
  RoomBatch,
  RoomChange,
  StatePiece,
  SyncBatch,
  SyncChange,
} from "./store_protocol.ts";
