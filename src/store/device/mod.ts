/**
 * What a device keeps in a store: its records and their keys, its schema, and its lease, which says
 * who may write.
 *
 * @module
 */

export {
  type DeviceHolder,
  type DeviceInspection,
  inspectDevice,
  type InspectDeviceOptions,
  listDevices,
  type StoredAmount,
  type StoredDevice,
} from "./inspection.ts";
export type { CatchUp, RoomRecord, ShownLogEnd, ShownRecord, StoredState, SyncRecord } from "./records.ts";
export { hasPower, type PowerAction, powerLevelOf, type RoomPower } from "./room_power.ts";
export { DEFAULT_LEASE, type Holding, Lease, type LeaseOptions, MIN_LEASE } from "./lease.ts";
export { isDeviceKey, isLocal, kindOf, StoreKeys } from "./keys.ts";
export { hasRecords, readSchema, schemaUpgrade } from "./schema.ts";
export { MAX_LEASE } from "./lease_records.ts";
export { assertNoSeal, assertNotSealed, isSealKey, sealKey } from "./assert_not_sealed.ts";
