/**
 * The keys of the own device, and what of them is uploaded.
 *
 * @module
 */

export { DamagedAccountError, deviceConflict, OwnAccount, showsKeys } from "./own_account.ts";
export { newDeviceKeys, newUpload, SIGNED_CURVE25519 } from "./key_upload.ts";
export { OwnKeys } from "./own_keys.ts";
