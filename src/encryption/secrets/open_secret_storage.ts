/**
 * An open secret storage.
 *
 * @module
 */

import type { StoreSecretOptions } from "../backup/backup.ts";
import { optionsOfEach, type RequestOptions } from "../../api/http/mod.ts";
import {
  checkSecretName,
  ciphertextFor,
  ciphertextsOf,
  shown,
  type StorageKey,
  withCiphertext,
} from "../../crypto/secrets/mod.ts";
import { SecretStorageError } from "../../errors/secret_storage_error.ts";
import { type AccountSecrets, secretsFor } from "./account_secrets.ts";

/**
 * A secret storage with its key: what {@linkcode SecretStorage.open} returns.
 *
 * Each method asks the server. Each throws a {@linkcode SecretStorageError} if the storage was
 * closed, and a `ValueError` before anything is sent if a secret can't have the name: it has 1 to
 * 255 bytes, no control characters, and is not that of other account data. What comes from the
 * server proves only that the key's owner stored it once under this name: a server can show an
 * older value again, or nothing.
 */
export interface OpenSecretStorage extends Disposable {
  /** The ID of the key that it was opened with. */
  readonly keyId: string;

  /**
   * Reads a secret.
   *
   * @param name Its name, such as `m.megolm_backup.v1`, or one behind a domain of yours.
   * @param options Request options.
   * @returns The secret; undefined if there is none of the name.
   * @throws {SecretStorageError} If it is damaged, or there only for other keys.
   */
  get(name: string, options?: RequestOptions): Promise<string | undefined>;

  /**
   * Stores a secret, in place of the one of the name. What is there for other keys stays as it is, unless it is
   * to be `alone`.
   *
   * @param name Its name.
   * @param value The secret, of at most 65,536 bytes in UTF-8. Keys are written in base64.
   * @param options Request options, and whether it is to be alone.
   * @throws {SecretStorageError} If the key is not the default one any more, so that the secret must
   *   be stored with the new one; or something else than a secret is kept under the name.
   */
  set(name: string, value: string, options?: StoreSecretOptions): Promise<void>;

  /**
   * Deletes a secret, for all keys. Does nothing if there is none.
   *
   * @param name Its name.
   * @param options Request options.
   * @throws {SecretStorageError} If something else than a secret is kept under the name.
   */
  delete(name: string, options?: RequestOptions): Promise<void>;

  /**
   * Lists the secrets that there are for this key.
   *
   * @param options Request options.
   * @returns Their names, in the order of their characters.
   */
  names(options?: RequestOptions): Promise<string[]>;

  /** Closes it, and wipes the key. */
  [Symbol.dispose](): void;
}

/** Makes an open storage of a key that was proven; it is disposed of with the storage. */
export function openSecretStorage(secrets: AccountSecrets, key: StorageKey): OpenSecretStorage {
  const { keyId } = key;
  return {
    keyId,
    async get(name, options = {}) {
      checkSecretName(name);
      key.assertOpen();
      const content = await secrets.read(name, optionsOfEach(options, {}, "read a secret"));
      if (ciphertextsOf(name, content) === undefined) return undefined;
      const ciphertext = ciphertextFor(content, keyId);
      if (ciphertext !== undefined) return await key.decrypt(name, ciphertext);
      throw new SecretStorageError(
        `Cannot read the secret "${name}": it is not there for the key ${shown(keyId)}, but for others; ` +
          "open the storage again if the key was changed, else store the secret again",
        { problem: "other-keys" },
      );
    },
    async set(name, value, { alone = false, ...options } = {}) {
      checkSecretName(name);
      const request = optionsOfEach(options, {}, "store a secret");
      const encrypted = await key.encrypt(name, value);
      const [content] = await Promise.all([
        secrets.read(name, request),
        secrets.assertDefault(keyId, request),
      ]);
      ciphertextsOf(name, content); // something else stays
      const kept = alone ? { ...content, encrypted: {} } : content;
      await secrets.write(name, withCiphertext(kept, keyId, encrypted), request);
      await secrets.assertDefault(keyId, request); // or the new key does not open what was stored
    },
    async delete(name, options = {}) {
      checkSecretName(name);
      key.assertOpen();
      const request = optionsOfEach(options, {}, "delete a secret");
      if (ciphertextsOf(name, await secrets.read(name, request)) === undefined) return;
      await secrets.write(name, {}, request);
    },
    async names(options = {}) {
      key.assertOpen();
      const all = await secrets.all(optionsOfEach(options, {}, "list secrets"));
      return secretsFor(all, keyId).map(([name]) => name).sort();
    },
    [Symbol.dispose]: () => key[Symbol.dispose](),
  };
}
