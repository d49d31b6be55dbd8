/**
 * `client.secretStorage`: secrets of the user on the server, which only the user's key opens.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#secret-storage | Secret storage}
 * @module
 */

import { optionsOfEach, type RequestOptions } from "../../api/http/mod.ts";
import { SecretStorageError, type SecretStorageProblem } from "../../errors/encryption_error.ts";
import type { NewSecretStorageKeyOptions } from "./new_key.ts";
import { type AccountSecrets, secretsFor, type SecretStorageUnlock } from "./account_secrets.ts";
import type { StoreSecretOptions } from "../backup/backup.ts";
import {
  checkSecretName,
  ciphertextFor,
  ciphertextsOf,
  shown,
  type StorageKey,
  withCiphertext,
} from "../../crypto/secrets/secrets.ts";

/** What there is of a secret storage, as the server has it: nothing of it is proven. */
export interface SecretStorageInfo {
  /** The ID of the default key; undefined if there is none, or it can't be told. */
  readonly keyId: string | undefined;
  /** The key's name; undefined if it has none. */
  readonly name: string | undefined;
  /** Whether a passphrase opens it, as well as the recovery key. */
  readonly hasPassphrase: boolean;
  /**
   * Whether the key can be checked by itself. If not, a secret must be there that proves it, before
   * it opens.
   */
  readonly isCheckable: boolean;
  /** Why it can't be opened: `absent` or `unusable`; undefined if nothing stands against it. */
  readonly problem: SecretStorageProblem | undefined;
}

/** A key of secret storage, as it was given to its owner. */
export interface SecretStorageKey {
  /** As account data names it: `m.secret_storage.key.` and this. */
  readonly keyId: string;
  /** What opens the storage. It is as secret as all that is in it. */
  readonly recoveryKey: string;
}

/**
 * Secrets of the user on the server, such as the private keys of cross-signing, encrypted with a key
 * that the user keeps: as a recovery key, or as a passphrase.
 *
 * It needs no encryption of rooms, and no store. All clients of the user share it, so another one
 * may change it at any time; the server has no way to change two things at once.
 *
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken } = homeserver.createUser("alice");
 * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
 * const { recoveryKey } = await client.secretStorage.create({
 *   onRecoveryKey: (key) => sessionStorage.setItem("key", key), // where your secrets are
 * });
 * using storage = await client.secretStorage.open({ recoveryKey });
 * await storage.set("com.example.token", "hunter2");
 * console.assert(await storage.get("com.example.token") === "hunter2");
 * ```
 */
export interface SecretStorage {
  /**
   * Looks what there is, without opening it.
   *
   * @param options Request options.
   * @returns What the server has of the default key. Data of a wrong shape is a `problem`, and no
   *   error.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function asks(client: Client): Promise<string> {
   *   const { hasPassphrase } = await client.secretStorage.info();
   *   return hasPassphrase ? "Recovery key or passphrase:" : "Recovery key:";
   * }
   * ```
   */
  info(options?: RequestOptions): Promise<SecretStorageInfo>;

  /**
   * Makes a secret storage: a key, which becomes the default one. If the call is cut off, call it
   * again with the `recoveryKey` that was handed out: whatever was done by then is completed.
   *
   * @param options What receives the recovery key, and how to make it.
   * @returns The key.
   * @throws {SecretStorageError} If there is a default key already: `open()` that, `changeKey()`, or
   *   `reset()` if it is lost.
   * @throws {ValueError} If the options can't be used.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function create(client: Client): Promise<void> {
   *   await client.secretStorage.create({
   *     onRecoveryKey: (key) => Deno.writeTextFile("recovery-key.txt", key, { mode: 0o600 }),
   *   });
   * }
   * ```
   */
  create(options: NewSecretStorageKeyOptions): Promise<SecretStorageKey>;

  /**
   * Makes a new default key, whatever there is. For a key that is lost: secrets that are there for
   * it stay on the server, but the new key does not open them.
   *
   * @param options What receives the recovery key, and how to make it.
   * @returns The key.
   * @throws {ValueError} If the options can't be used.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function replaceLost(client: Client): Promise<void> {
   *   await client.secretStorage.reset({
   *     onRecoveryKey: (key) => Deno.writeTextFile("recovery-key.txt", key, { mode: 0o600 }),
   *   });
   * }
   * ```
   */
  reset(options: NewSecretStorageKeyOptions): Promise<SecretStorageKey>;

  /**
   * Opens the storage with its default key. A passphrase takes a moment: it is hashed as often as
   * the server says, 1,000 to 10,000,000 times.
   *
   * @param by The recovery key, or the passphrase.
   * @param options Request options.
   * @returns The open storage. Dispose of it, so that the key is wiped.
   * @throws {SecretStorageError} If the key has a typing error, is another one, or can't be proven,
   *   or there is no storage; its `problem` says which.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function token(client: Client, recoveryKey: string): Promise<string | undefined> {
   *   using storage = await client.secretStorage.open({ recoveryKey });
   *   return await storage.get("com.example.token");
   * }
   * ```
   */
  open(by: SecretStorageUnlock, options?: RequestOptions): Promise<OpenSecretStorage>;

  /**
   * Changes the default key, and with it all secrets that are there for the old one. What is there
   * for other keys stays. The old key opens everything until the new one does. If the call is cut
   * off, call it again with the `recoveryKey` that was handed out: it completes the change.
   *
   * @param by What opens the storage so far.
   * @param options What receives the new recovery key, and how to make it.
   * @returns The new key.
   * @throws {SecretStorageError} If the old key does not open it, a secret is damaged, or other
   *   clients change it meanwhile; nothing is lost.
   * @throws {ValueError} If the options can't be used, or the new key is the old one.
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const onRecoveryKey = (key: string) => sessionStorage.setItem("key", key);
   * const old = await client.secretStorage.create({ onRecoveryKey });
   * const { recoveryKey } = await client.secretStorage.changeKey(old, { onRecoveryKey });
   * using _storage = await client.secretStorage.open({ recoveryKey });
   * ```
   */
  changeKey(by: SecretStorageUnlock, options: NewSecretStorageKeyOptions): Promise<SecretStorageKey>;
}

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
   *
   * @example
   * ```ts
   * import type { OpenSecretStorage } from "@greenroom/matrix/types";
   *
   * export async function token(storage: OpenSecretStorage): Promise<string | undefined> {
   *   return await storage.get("com.example.token");
   * }
   * ```
   */
  get(name: string, options?: RequestOptions): Promise<string | undefined>;

  /**
   * Stores a secret, in place of the one of the name.
   * What is there for other keys stays as it is, unless it is to be `alone`.
   *
   * @param name Its name.
   * @param value The secret, of at most 65,536 bytes in UTF-8. Keys are written in base64.
   * @param options Request options, and whether it is to be alone.
   * @throws {SecretStorageError} If the key is not the default one any more, so that the secret must
   *   be stored with the new one; or something else than a secret is kept under the name.
   *
   * @example
   * ```ts
   * import type { OpenSecretStorage } from "@greenroom/matrix/types";
   *
   * export async function keep(storage: OpenSecretStorage, token: string): Promise<void> {
   *   await storage.set("com.example.token", token);
   * }
   * ```
   */
  set(name: string, value: string, options?: StoreSecretOptions): Promise<void>;

  /**
   * Deletes a secret, for all keys. Does nothing if there is none.
   *
   * @param name Its name.
   * @param options Request options.
   * @throws {SecretStorageError} If something else than a secret is kept under the name.
   *
   * @example
   * ```ts
   * import type { OpenSecretStorage } from "@greenroom/matrix/types";
   *
   * export async function forget(storage: OpenSecretStorage): Promise<void> {
   *   await storage.delete("com.example.token");
   * }
   * ```
   */
  delete(name: string, options?: RequestOptions): Promise<void>;

  /**
   * Lists the secrets that there are for this key.
   *
   * @param options Request options.
   * @returns Their names, in the order of their characters.
   *
   * @example
   * ```ts
   * import type { OpenSecretStorage } from "@greenroom/matrix/types";
   *
   * export async function hasToken(storage: OpenSecretStorage): Promise<boolean> {
   *   return (await storage.names()).includes("com.example.token");
   * }
   * ```
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
