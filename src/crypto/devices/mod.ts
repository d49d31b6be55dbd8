/**
 * Users and their devices: who is tracked, what the server answers, and how far each is trusted.
 *
 * @module
 */

export {
  checkDeviceKeys,
  credentialsIn,
  type KeyUsage,
  readCrossSigningKey,
  SenderDeviceKeys,
} from "./device_keys_check.ts";
export {
  type ComparedDevice,
  type CryptoDevice,
  DeviceOwners,
  type DeviceTrust,
  type FindableDevices,
  isOwnDehydrated,
  isVouchedFor,
  type KnownDevices,
} from "./user_record.ts";
export { type Credentials, type LocalTrust, type StoredDevice } from "./device_keys_check.ts";
export { DeviceLists } from "./device_lists.ts";
export { shownKeys, userPart } from "./user_answer.ts";
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
