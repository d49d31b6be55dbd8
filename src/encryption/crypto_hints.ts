/**
 * What other libraries call the members of a client's `crypto`, and what to write here.
 *
 * @module
 */

const VERIFY = "client.crypto.ensureVerified({ recoveryKey })";

/** By the name elsewhere. */
export const CRYPTO_HINTS = {
  recover: VERIFY,
  recovery: VERIFY,
  bootstrap: VERIFY,
  bootstrapCrossSigning: VERIFY,
  bootstrapSecretStorage: VERIFY,
  checkKeyBackupAndEnable: VERIFY,
  createRecoveryKeyFromPassphrase: VERIFY,
  isCrossSigningReady: "client.crypto.doctor()",
  getCrossSigningStatus: "client.crypto.doctor()",
  getUserVerificationStatus: "client.crypto.getIdentity(userId)",
  getDeviceVerificationStatus: "client.crypto.getDevices(userId)",
  getUserDeviceInfo: "client.crypto.getDevices(userId)",
  requestOwnUserVerification: "client.crypto.requestVerification(peer)",
  requestDeviceVerification: "client.crypto.requestVerification(peer)",
  exportRoomKeys: "client.crypto.exportKeys({ passphrase })",
  importRoomKeys: "client.crypto.importKeys(file, { passphrase })",
  restoreKeyBackup: "client.crypto.backup.restore()",
} as const;
