/**
 * New keys of secret storage: their owner has them before anything of them is published.
 *
 * @module
 */

import type { RequestOptions } from "../../api/http/mod.ts";
import {
  decodeRecoveryKey,
  describe,
  KEY_BYTES,
  keyOfPassphrase,
  newHashing,
  type PassphraseHashing,
  StorageKey,
} from "../../crypto/secrets/mod.ts";
import { ValueError } from "../../errors/value_error.ts";
import type { AccountData, AccountSecrets } from "./account_secrets.ts";
import { findAnyKey } from "./unlock.ts";

/** How a new key of secret storage is made. */
export interface NewSecretStorageKeyOptions extends RequestOptions {
  /**
   * Is given the new recovery key, and awaited, before anything is sent to the server that only
   * this key opens. Write it where it outlasts the process: there is no second copy. If this
   * throws, nothing is sent. Called once, unless `recoveryKey` is used.
   */
  onRecoveryKey: (recoveryKey: string) => void | Promise<void>;
  /**
   * A passphrase from which the key is made, so that either opens it. It should be long: an
   * attacker with the server's data can try passphrases. Default: none; the key is random.
   */
  passphrase?: string;
  /**
   * The recovery key to use. Give what `onRecoveryKey` was given by a call that was cut off, and
   * that call is completed with this key. Together with `passphrase` it is used only if it was made
   * from that, and its description is published; else a new one is made. Default: a new one.
   */
  recoveryKey?: string;
}

/**
 * Checks the options of a new key, before the server is asked.
 *
 * @throws {ValueError} If they can't be used.
 * @throws {SecretStorageError} If the recovery key has a typing error.
 */
export function checkNewKey({ onRecoveryKey, passphrase, recoveryKey }: NewSecretStorageKeyOptions): void {
  if (typeof onRecoveryKey !== "function") {
    throw new ValueError("Cannot make a key: onRecoveryKey must be a function, which keeps the recovery key");
  }
  if (passphrase === "") {
    throw new ValueError("Cannot make a key: the passphrase is empty; leave it out for none");
  }
  if (recoveryKey !== undefined) decodeRecoveryKey(recoveryKey).fill(0);
}

/** The key of an earlier call that was cut off, if its description is published. */
export async function resumedKey(
  recoveryKey: string,
  passphrase: string | undefined,
  all: AccountData,
): Promise<StorageKey | undefined> {
  const key = await findAnyKey({ recoveryKey }, all);
  if (key === undefined || passphrase === undefined) return key;
  using made = await findAnyKey({ passphrase }, all);
  if (made?.keyId === key.keyId) return key;
  key[Symbol.dispose]();
  return undefined;
}

/** Makes a key, lets its owner keep it, and publishes its description. */
export async function publishedKey(
  secrets: AccountSecrets,
  options: NewSecretStorageKeyOptions,
  request: RequestOptions,
): Promise<StorageKey> {
  const { bytes, hashing, isNew } = await materialOf(options);
  const keyId = crypto.getRandomValues(new Uint8Array(24)).toBase64({ alphabet: "base64url" });
  const key = new StorageKey(keyId, bytes);
  try {
    const content = await describe(key, hashing);
    if (isNew) await options.onRecoveryKey(key.recoveryKey);
    await secrets.writeKey(keyId, { ...content }, request);
    return key;
  } catch (error) {
    key[Symbol.dispose]();
    throw error;
  }
}

/** What a key is made of. */
interface KeyMaterial {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly hashing?: PassphraseHashing;
  /** Whether its owner does not have it yet. */
  readonly isNew: boolean;
}

async function materialOf({ passphrase, recoveryKey }: NewSecretStorageKeyOptions): Promise<KeyMaterial> {
  if (passphrase !== undefined) {
    const hashing = newHashing();
    return { bytes: await keyOfPassphrase(passphrase, hashing), hashing, isNew: true };
  }
  if (recoveryKey !== undefined) return { bytes: decodeRecoveryKey(recoveryKey), isNew: false };
  return { bytes: crypto.getRandomValues(new Uint8Array(KEY_BYTES)), isNew: true };
}
