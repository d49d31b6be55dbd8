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
  type ListDevicesOptions,
  type StoredAmount,
  type StoredDevice,
} from "./inspection.ts";
export {
  type CatchUp,
  hasPower,
  isDeviceKey,
  isLocal,
  kindOf,
  type MovedRoom,
  type PowerAction,
  powerLevelOf,
  type RoomPower,
  type RoomRecord,
  type ShownLogEnd,
  type ShownRecord,
  type StoredState,
  StoreKeys,
  type SyncRecord,
} from "./keys.ts";
export { DEFAULT_LEASE, type Holding, Lease, type LeaseOptions, MIN_LEASE } from "./lease.ts";
export {
  assertNoSeal,
  assertNotSealed,
  hasRecords,
  isSealKey,
  readSchema,
  SCHEMA_VERSION,
  schemaUpgrade,
  sealKey,
} from "./schema.ts";
export { MAX_LEASE } from "./lease_records.ts";
