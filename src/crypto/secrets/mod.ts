/**
 * Secret storage: recovery keys, passphrases, and the secrets themselves.
 *
 * @module
 */

export {
  describe,
  hashingOf,
  type KeyDescription,
  readDescription,
  shown,
  StorageKey,
} from "./storage_key.ts";
export {
  decodeRecoveryKey,
  encodeRecoveryKey,
  KEY_BYTES,
  KEY_OF_BOT,
  keyOfPassphrase,
  newHashing,
  openerOf,
  type PassphraseHashing,
  STORAGE_OPENER,
  type StorageOpener,
} from "./recovery_key.ts";
export {
  checkSecretName,
  ciphertextFor,
  ciphertextsOf,
  isSecretName,
  withCiphertext,
  withoutCiphertext,
} from "./secret_content.ts";
