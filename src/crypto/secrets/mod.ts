/**
 * Secret storage: recovery keys, passphrases, and the secrets themselves.
 *
 * @module
 */

export { describe, hashingOf, type KeyDescription, readDescription, shown } from "./key_description.ts";
export {
  decodeRecoveryKey,
  encodeRecoveryKey,
  KEY_BYTES,
  keyOfPassphrase,
  newHashing,
  type PassphraseHashing,
} from "./recovery_key.ts";
export {
  checkSecretName,
  ciphertextFor,
  ciphertextsOf,
  isSecretName,
  withCiphertext,
  withoutCiphertext,
} from "./secret_content.ts";
export { StorageKey } from "./storage_key.ts";
