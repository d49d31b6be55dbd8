/**
 * The keys of the own device, and what of them is uploaded.
 *
 * @module
 */

export { deviceConflict, showsKeys } from "./device_conflict.ts";
export { newDeviceKeys, newUpload, SIGNED_CURVE25519 } from "./key_upload.ts";
export { DamagedAccountError, OwnAccount } from "./own_account.ts";
export { OwnKeys } from "./own_keys.ts";
