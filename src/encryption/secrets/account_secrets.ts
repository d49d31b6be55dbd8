/**
 * Secret storage as the server has it: account data of the user, as it is.
 *
 * @module
 */

import type { RequestOptions } from "../../api/http/mod.ts";
import type { ClientAPI } from "../../api/api.ts";
import { ciphertextFor, isSecretName } from "../../crypto/secrets/mod.ts";
import { NotFoundError } from "../../errors/request_errcodes.ts";
import { SecretStorageError } from "../../errors/secret_storage_error.ts";
import { defineEvent, type EventDefinition } from "../../types/events/define_event.ts";
import { isShallow, type JsonObject } from "../../types/json.ts";

/** The operations that secret storage is made of. */
export type SecretsAPI = Pick<ClientAPI, "getAccountData" | "setAccountData" | "listAccountData">;

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
    try {
      return shallow(await this.#api.getAccountData(rawType(type), options));
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  /** Replaces the account data of a type. */
  async write(type: string, content: JsonObject, options?: RequestOptions): Promise<void> {
    await this.#api.setAccountData(rawType(type), content, options);
  }

  /** What the server keeps of a key. */
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
export function describedKeys(all: AccountData): Map<string, JsonObject> {
  return new Map([...all].flatMap(([type, content]) => {
    return type.startsWith(KEY) && type.length > KEY.length ? [[type.slice(KEY.length), content]] : [];
  }));
}

/** What may be secrets: the rest has names that none can have. */
function secretsOf(all: AccountData): AccountData {
  return new Map([...all].filter(([name]) => isSecretName(name)));
}

/** The secrets that there are for a key. */
export function secretsFor(all: AccountData, keyId: string): [name: string, content: JsonObject][] {
  return [...secretsOf(all)].filter(([, content]) => ciphertextFor(content, keyId) !== undefined);
}

/** A type that account data is read and written under as it is. */
export function rawType(type: string): EventDefinition<string, "account_data"> {
  return defineEvent({ type, class: "account_data" });
}

/** Nothing of what lies too deep can be a secret, nor be written again. */
function shallow(content: JsonObject): JsonObject {
  return isShallow(content) ? content : { unusable: "too deep" };
}
