/**
 * What other libraries call members of encryption, and what to write here.
 *
 * @module
 */

import { hintAt, type Hints } from "../errors/hints.ts";

const VERIFIED = "client.crypto.ensureVerified({ password, backup: true, onRecoveryKey })";
const DOCTOR = "await client.crypto.doctor(), which says all that is not well";

/** Of `client.crypto`, by the name elsewhere. */
const CRYPTO_HINTS = {
  bootstrap: VERIFIED,
  bootstrapCrossSigning: VERIFIED,
  bootstrapSecretStorage: VERIFIED,
  recover: "client.crypto.ensureVerified({ recoveryKey })",
  status: DOCTOR,
  crossSigning: "client.crypto.ensureVerified(options), or doctor()",
  isVerified: DOCTOR,
  devices: "await client.crypto.getDevices(userId)",
  getUserDeviceInfo: "await client.crypto.getDevices(userId)",
  getDevice: "await client.crypto.getDevices(userId)",
  getOwnDevice: "await client.crypto.getOwnDeviceKeys()",
  ownDevice: "await client.crypto.getOwnDeviceKeys()",
  on: 'client.on("VERIFICATION_REQUEST", handler), and other types',
  exportRoomKeys: "client.crypto.exportKeys({ passphrase })",
  importRoomKeys: "client.crypto.importKeys(file, { passphrase })",
  setRoomPolicy: "the option encryption: { sendTo }, which is for all rooms",
} as const;

/** @internal Names of other libraries, for the compiler. */
export interface CryptoHints extends Hints<typeof CRYPTO_HINTS> {}

/** Refuses them with the names that there are here. */
export class HintedCrypto {}

export interface HintedCrypto extends CryptoHints {}

hintAt(HintedCrypto.prototype, "client.crypto", CRYPTO_HINTS);
