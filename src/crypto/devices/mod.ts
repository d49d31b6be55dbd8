/**
 * Users and their devices: who is tracked, what the server answers, and how far each is trusted.
 *
 * @module
 */

export { type KeyUsage, readCrossSigningKey } from "./cross_signing_key.ts";
export {
  type ComparedDevice,
  type Device,
  type DeviceTrust,
  type FindableDevices,
  isOwnDehydrated,
  isVouchedFor,
  type KnownDevices,
  type LocalTrust,
} from "./device.ts";
export { checkDeviceKeys, credentialsIn, SenderDeviceKeys } from "./device_keys_check.ts";
export { DeviceLists } from "./device_lists.ts";
export { DeviceOwners } from "./device_owners.ts";
export { shownKeys, userPart } from "./query_response.ts";
export type { DeviceQuery } from "./tracked_users.ts";
export {
  acceptedIdentity,
  type ComparedIdentity,
  isPinned,
  provenIdentity,
  signedIdentity,
  type StoredIdentity,
  type UserIdentity,
  withdrawnIdentity,
} from "./user_identity.ts";
export type { Credentials, StoredDevice } from "./user_record.ts";
