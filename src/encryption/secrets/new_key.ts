/**
 * New keys of secret storage, and the change to one.
 *
 * The owner of a new key has it before anything of it is published. The old key stays the default until all
 * secrets are there for the new one; then the new one becomes the default; then the old ciphertexts go. Each
 * step is done on what the server has when it begins, so that the whole can be repeated after any request.
 *
 * @module
 */

import type { RequestOptions } from "../../api/http/mod.ts";
import {
  ciphertextFor,
  decodeRecoveryKey,
  describe,
  KEY_BYTES,
  keyOfPassphrase,
  newHashing,
  type PassphraseHashing,
  shown,
  StorageKey,
  withCiphertext,
  withoutCiphertext,
} from "../../crypto/secrets/secrets.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { type AccountData, type AccountSecrets, findAnyKey, secretsFor } from "./account_secrets.ts";
import { SecretStorageError } from "../../errors/encryption_error.ts";
import type { JsonObject } from "../../types/json.ts";

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

/** So often another client may come in between. */
const MAX_ROUNDS = 5;

/** All that is there for the old key goes. */
const IS_DUE = true;

/** A change from one key to another. */
export class KeyChange {
  readonly #secrets: AccountSecrets;
  readonly #from: StorageKey;
  readonly #to: StorageKey;
  readonly #options: RequestOptions;
  /** What was written for the new key, by secret: its initialization vector, which is unique. */
  readonly #written = new Map<string, string>();

  /**
   * @param secrets What the server has.
   * @param keys The old key and the new one.
   * @param options Options of the requests.
   */
  constructor(
    secrets: AccountSecrets,
    { from, to }: { from: StorageKey; to: StorageKey },
    options: RequestOptions,
  ) {
    this.#secrets = secrets;
    this.#from = from;
    this.#to = to;
    this.#options = options;
  }

  /** Has all secrets for the new key as well, and then makes it the default. */
  async move(): Promise<void> {
    const isMissing = async (name: string, content: JsonObject) =>
      await this.#old(name, content) !== await this.#read(this.#to, name, content);
    await this.#repeat(isMissing, async (name, content) => {
      return await this.#copied(name, content, await this.#old(name, content));
    });
    await this.#secrets.moveDefault(this.#from.keyId, this.#to.keyId, this.#options);
  }

  /**
   * Removes what there is for the old key. The new one is the default already, so that what another
   * client stored for it since is newer than what there is for the old one; not so what this change
   * copied, if another client stored something for the old key while the default moved.
   */
  async finish(): Promise<void> {
    const isDue = () => Promise.resolve(IS_DUE);
    await this.#repeat(isDue, async (name, content) => {
      const current = await this.#read(this.#to, name, content);
      if (current !== undefined && this.#written.get(name) !== ivOf(content, this.#to.keyId)) {
        return withoutCiphertext(content, this.#from.keyId);
      }
      const copied = await this.#copied(name, content, await this.#old(name, content));
      return withoutCiphertext(copied, this.#from.keyId);
    });
  }

  async #copied(name: string, content: JsonObject, text: string): Promise<JsonObject> {
    const encrypted = await this.#to.encrypt(name, text);
    this.#written.set(name, encrypted.iv);
    return withCiphertext(content, this.#to.keyId, encrypted);
  }

  async #old(name: string, content: JsonObject): Promise<string> {
    return await this.#from.decrypt(name, ciphertextFor(content, this.#from.keyId));
  }

  /** Reads what there is for a key; undefined if there is nothing that can be read. */
  async #read(key: StorageKey, name: string, content: JsonObject): Promise<string | undefined> {
    return await key.decrypt(name, ciphertextFor(content, key.keyId)).catch(() => undefined);
  }

  /**
   * Changes secrets that there are for the old key, until a list of them shows none to change.
   *
   * @param isDue Whether a secret is to be changed.
   * @param change Gives a secret as it should be.
   */
  async #repeat(
    isDue: (name: string, content: JsonObject) => Promise<boolean>,
    change: (name: string, content: JsonObject) => Promise<JsonObject>,
  ): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      let isDone = true;
      for (const [name, listed] of secretsFor(await this.#secrets.all(this.#options), this.#from.keyId)) {
        if (!await isDue(name, listed)) continue;
        isDone = false;
        const content = await this.#secrets.read(name, this.#options) ?? {};
        if (ciphertextFor(content, this.#from.keyId) === undefined) continue; // another client was faster
        await this.#secrets.write(name, await change(name, content), this.#options);
      }
      if (isDone) return;
    }
    throw new SecretStorageError(
      "Cannot change the key of the secret storage: other clients keep changing secrets; " +
        "call it again with the recovery key that onRecoveryKey was given",
      { problem: "changed" },
    );
  }
}

/**
 * Makes sure that all secrets of a key can be read.
 *
 * @throws {SecretStorageError} If one can't be.
 */
export async function assertReadable(all: AccountData, key: StorageKey): Promise<void> {
  for (const [name, content] of secretsFor(all, key.keyId)) {
    try {
      await key.decrypt(name, ciphertextFor(content, key.keyId));
    } catch (cause) {
      throw new SecretStorageError(
        `Cannot change the key ${shown(key.keyId)} of the secret storage: ${
          shown(name)
        } can't be read, and would be ` +
          "lost; store it again or delete() it",
        { problem: "damaged", cause },
      );
    }
  }
}

/** The initialization vector of what a secret holds for a key, if it holds something. */
function ivOf(content: JsonObject, keyId: string): unknown {
  return (ciphertextFor(content, keyId) as JsonObject).iv;
}
