/**
 * Secret storage as the server has it, which is account data of the user, and what opens it: the key that a
 * recovery key or a passphrase stands for, once that is proven.
 *
 * @module
 */

import type { RequestOptions } from "../../api/http/mod.ts";
import type { AllAPI } from "../../api/api.ts";
import {
  ciphertextFor,
  decodeRecoveryKey,
  hashingOf,
  isSecretName,
  KEY_OF_BOT,
  type KeyDescription,
  keyOfPassphrase,
  readDescription,
  shown,
  StorageKey,
} from "../../crypto/secrets/secrets.ts";
import { undefinedIfNotFound } from "../../errors/errcodes.ts";
import { SecretStorageError } from "../../errors/encryption_error.ts";
import { defineEvent, type EventDefinition } from "../../types/events/define_event.ts";
import { isShallow, type JsonObject } from "../../types/json.ts";
import { ValueError } from "../../errors/matrix_error.ts";

/** The operations that secret storage is made of. */
export type SecretsAPI = Pick<AllAPI, "getAccountData" | "setAccountData" | "listAccountData">;

export type AccountData = ReadonlyMap<string, JsonObject>;

/** The account data that names the default key. */
export const DEFAULT_KEY = "m.secret_storage.default_key";
const KEY = "m.secret_storage.key.";
const MAX_KEY_ID = 255;

/** Reads and writes the account data of secret storage. */
export class AccountSecrets {
  readonly #api: SecretsAPI;

  /** @param api The operations. */
  constructor(api: SecretsAPI) {
    this.#api = api;
  }

  /** The account data of a type, unchecked; undefined if there is none. */
  async read(type: string, options?: RequestOptions): Promise<JsonObject | undefined> {
    const found = await this.#api.getAccountData(rawType(type), options).catch(undefinedIfNotFound);
    return found && shallow(found);
  }

  /** Replaces the account data of a type. */
  async write(type: string, content: JsonObject, options?: RequestOptions): Promise<void> {
    await this.#api.setAccountData(rawType(type), content, options);
  }

  /** Reads what the server keeps of a key. */
  async readKey(keyId: string, options?: RequestOptions): Promise<JsonObject | undefined> {
    return await this.read(`${KEY}${keyId}`, options);
  }

  /** Publishes what the server keeps of a key. */
  async writeKey(keyId: string, content: JsonObject, options?: RequestOptions): Promise<void> {
    await this.write(`${KEY}${keyId}`, content, options);
  }

  /**
   * The ID of the default key; undefined if there is none.
   *
   * @throws {SecretStorageError} If what the server has names no key.
   */
  async defaultKeyId(options?: RequestOptions): Promise<string | undefined> {
    const content = await this.read(DEFAULT_KEY, options);
    if (content === undefined || Object.keys(content).length === 0) return undefined;
    const { key } = content;
    if (typeof key === "string" && key !== "" && key.length <= MAX_KEY_ID && key.isWellFormed()) return key;
    throw new SecretStorageError(
      `Cannot use the secret storage: ${DEFAULT_KEY} names no key; make a new one with secretStorage.reset()`,
      { problem: "unusable" },
    );
  }

  /** Makes a key the default one, whichever it was. */
  async writeDefault(keyId: string, options?: RequestOptions): Promise<void> {
    await this.write(DEFAULT_KEY, { key: keyId }, options);
  }

  /**
   * Makes a key the default one in place of another.
   *
   * @param from The one that is the default; undefined if there is none.
   * @throws {SecretStorageError} If another client made another one the default.
   */
  async moveDefault(from: string | undefined, to: string, options?: RequestOptions): Promise<void> {
    await this.assertDefault(from, options);
    await this.writeDefault(to, options);
  }

  /**
   * Makes sure that a key is the default one.
   *
   * @throws {SecretStorageError} If it is not.
   */
  async assertDefault(keyId: string | undefined, options?: RequestOptions): Promise<void> {
    const current = await this.defaultKeyId(options);
    if (current === keyId) return;
    throw new SecretStorageError(
      "Cannot change the secret storage: its default key is another one by now, as another client made it; " +
        "open it again with the key of now",
      { problem: "changed" },
    );
  }

  /** All account data of the user. */
  async all(options?: RequestOptions): Promise<AccountData> {
    const all = await this.#api.listAccountData(options);
    return new Map([...all].map(([type, content]) => [type, shallow(content)]));
  }
}

/** The keys that are described, by their IDs. */
function describedKeys(all: AccountData): Map<string, JsonObject> {
  return new Map([...all].flatMap(([type, content]) => {
    return type.startsWith(KEY) && type.length > KEY.length ? [[type.slice(KEY.length), content]] : [];
  }));
}

/** The secrets that there are for a key. */
export function secretsFor(all: AccountData, keyId: string): [name: string, content: JsonObject][] {
  return [...all].filter(([name, content]) =>
    isSecretName(name) && ciphertextFor(content, keyId) !== undefined
  );
}

/** A type that account data is read and written under as it is. */
export function rawType(type: string): EventDefinition<string, "account_data"> {
  return defineEvent({ type, class: "account_data" });
}

/** Nothing of what lies too deep can be a secret, nor be written again. */
function shallow(content: JsonObject): JsonObject {
  return isShallow(content) ? content : { unusable: "too deep" };
}

/** What opens a secret storage. */
export type SecretStorageUnlock =
  | {
    /** The recovery key: 48 characters or so; white space in it does not count. */
    recoveryKey: string;
    passphrase?: undefined;
  }
  | {
    /** The passphrase that the key was made from. */
    passphrase: string;
    recoveryKey?: undefined;
  };

/**
 * Returns what opens the secret storage; undefined if nothing was given.
 *
 * @throws {ValueError} If two things were.
 * @throws {SecretStorageError} If it is a recovery key with a typing error.
 */
export function unlockOf(
  { recoveryKey, passphrase }: { readonly recoveryKey?: string; readonly passphrase?: string },
): SecretStorageUnlock | undefined {
  if (recoveryKey === undefined && passphrase === undefined) return undefined;
  const by = { recoveryKey, passphrase } as SecretStorageUnlock; // that it is one of the two is checked next
  checkUnlock(by);
  return by;
}

/** So many secrets show whether a key is the right one, if its description does not. */
const MAX_PROOFS = 16;
/** With so many keys a recovery key is tried. */
const MAX_KEYS = 256;
/** With so many a passphrase is, since each takes seconds if the server likes. */
const MAX_HASHED = 4;

/**
 * Makes the key of a description, and proves that it is the one: by the check value of the
 * description, else by a secret that it decrypts. The specification lets clients go without proof
 * if there is no check value. Not here: a server that leaves it out would have a mistyped key, or
 * one made from the passphrase with few iterations, encrypt what is stored next.
 *
 * @param data The account data, which is asked for if a secret must prove it.
 * @throws {SecretStorageError} If it is another one, or can't be made or proven.
 */
export async function unlock(
  by: SecretStorageUnlock,
  description: KeyDescription,
  data: () => Promise<AccountData>,
): Promise<StorageKey> {
  const { keyId, check } = description;
  const key = new StorageKey(keyId, await bytesOf(by, description));
  try {
    if (check !== undefined ? await key.fits(check) : await decryptsOne(key, await data())) return key;
    throw new SecretStorageError(
      by.passphrase === undefined
        ? `Cannot open the secret storage: the recovery key is not that of its key ${shown(keyId)}; ` +
          `give the newest one of this account ${KEY_OF_BOT}`
        : `Cannot open the secret storage: the passphrase is not that of its key ${shown(keyId)}, ` +
          "or the server changed how the key is made from it; check it, or use the recovery key",
      { problem: "wrong-key" },
    );
  } catch (error) {
    key[Symbol.dispose]();
    throw error;
  }
}

/**
 * Looks for the key among all that are described, the default key first.
 *
 * @throws {SecretStorageError} Of the default key, if none fits.
 */
export async function findKey(
  by: SecretStorageUnlock,
  all: AccountData,
  defaultKeyId: string,
): Promise<StorageKey> {
  const [key, failure] = await searched(by, all, defaultKeyId);
  if (key !== undefined) return key;
  throw failure;
}

/** Looks for the key among all that are described; undefined if none fits. */
export async function findAnyKey(by: SecretStorageUnlock, all: AccountData): Promise<StorageKey | undefined> {
  const [key] = await searched(by, all);
  return key;
}

async function searched(
  by: SecretStorageUnlock,
  all: AccountData,
  first?: string,
): Promise<[key: StorageKey] | [key: undefined, failure: SecretStorageError | undefined]> {
  const keys = describedKeys(all);
  const ids = new Set([...first === undefined ? [] : [first], ...keys.keys()]);
  let failure: SecretStorageError | undefined;
  let tried = 0;
  for (const keyId of ids) {
    try {
      const description = readDescription(keyId, keys.get(keyId));
      if (by.passphrase !== undefined) hashingOf(description); // those without cost nothing
      if (++tried > (by.passphrase === undefined ? MAX_KEYS : MAX_HASHED)) break;
      return [await unlock(by, description, () => Promise.resolve(all))];
    } catch (error) {
      if (!(error instanceof SecretStorageError)) throw error;
      if (keyId === first) failure = error;
    }
  }
  return [undefined, failure];
}

/**
 * Checks what is to open a storage, before the server is asked.
 *
 * @throws {ValueError} If it is not one of the two.
 * @throws {SecretStorageError} If it is a recovery key with a typing error.
 */
export function checkUnlock(by: SecretStorageUnlock): void {
  if ((by?.recoveryKey === undefined) === (by?.passphrase === undefined)) {
    throw new ValueError(
      "Cannot open the secret storage: it takes a recoveryKey or a passphrase; give one of them",
    );
  }
  if (by.recoveryKey !== undefined) decodeRecoveryKey(by.recoveryKey).fill(0);
}

async function bytesOf(
  by: SecretStorageUnlock,
  description: KeyDescription,
): Promise<Uint8Array<ArrayBuffer>> {
  return by.passphrase === undefined
    ? decodeRecoveryKey(by.recoveryKey)
    : await keyOfPassphrase(by.passphrase, hashingOf(description));
}

/** Returns whether a key decrypts one of the secrets that are encrypted for it. */
async function decryptsOne(key: StorageKey, all: AccountData): Promise<boolean> {
  const proofs = secretsFor(all, key.keyId);
  if (proofs.length === 0) {
    throw new SecretStorageError(
      `Cannot open the secret storage: nothing shows whether this is its key ${shown(key.keyId)}, for ` +
        "the server has no check value and no secret of it; make a new key with secretStorage.reset()",
      { problem: "unverifiable" },
    );
  }
  for (const [name, content] of proofs.slice(0, MAX_PROOFS)) {
    if (await key.decrypt(name, ciphertextFor(content, key.keyId)).then(() => true, () => false)) return true;
  }
  return false;
}
