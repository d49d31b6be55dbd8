/**
 * The operations of `client.secretStorage`.
 *
 * @module
 */

import { optionsOfEach, type RequestOptions, requestOptions } from "../../api/http/mod.ts";
import {
  hashingOf,
  type KeyDescription,
  readDescription,
  shown,
  type StorageKey,
} from "../../crypto/secrets/secrets.ts";
import { SecretStorageError } from "../../errors/encryption_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { AccountSecrets, checkUnlock, findKey, type SecretsAPI, unlock } from "./account_secrets.ts";
import {
  assertReadable,
  checkNewKey,
  KeyChange,
  type NewSecretStorageKeyOptions,
  publishedKey,
  resumedKey,
} from "./new_key.ts";
import {
  openSecretStorage,
  type SecretStorage,
  type SecretStorageInfo,
  type SecretStorageKey,
} from "./secret_storage.ts";

export {
  AccountSecrets,
  DEFAULT_KEY,
  rawType,
  type SecretsAPI,
  type SecretStorageUnlock,
  unlockOf,
} from "./account_secrets.ts";
export type { NewSecretStorageKeyOptions } from "./new_key.ts";
export type {
  OpenSecretStorage,
  SecretStorage,
  SecretStorageInfo,
  SecretStorageKey,
} from "./secret_storage.ts";

/** What the making of a key takes; an ID, as with a key that is given as it was made, says nothing. */
const NEW_KEY = { onRecoveryKey: true, passphrase: true, recoveryKey: true, keyId: true } as const;

/** Makes the operations. */
export function secretOperations(api: SecretsAPI): SecretStorage {
  const secrets = new AccountSecrets(api);
  return {
    info: async (options = {}) => await infoOf(secrets, optionsOfEach(options, {}, "look at secret storage")),
    async create(options) {
      checkNewKey(options);
      const request = optionsOfEach(options, NEW_KEY, "create secret storage");
      const current = await secrets.defaultKeyId(request);
      using key = await resumed(secrets, options);
      if (key !== undefined && key.keyId === current) return made(key);
      if (current !== undefined) throw exists(current);
      using own = key ?? await publishedKey(secrets, options, request);
      await secrets.moveDefault(undefined, own.keyId, request);
      return made(own);
    },
    async reset(options) {
      checkNewKey(options);
      const request = optionsOfEach(options, NEW_KEY, "reset secret storage");
      using key = await resumed(secrets, options) ?? await publishedKey(secrets, options, request);
      await secrets.writeDefault(key.keyId, request);
      return made(key);
    },
    async open(by, options = {}) {
      checkUnlock(by);
      const request = optionsOfEach(options, {}, "open secret storage");
      const description = await defaultKey(secrets, request);
      return openSecretStorage(secrets, await unlock(by, description, () => secrets.all(request)));
    },
    async changeKey(by, options) {
      checkUnlock(by);
      checkNewKey(options);
      const request = optionsOfEach(options, NEW_KEY, "change the key of secret storage");
      const { keyId } = await defaultKey(secrets, request);
      const all = await secrets.all(request);
      using from = await findKey(by, all, keyId);
      using known = await resumed(secrets, options);
      checkChange({ from, to: known, current: keyId });
      if (from.keyId === keyId) await assertReadable(all, from);
      using to = known ?? await publishedKey(secrets, options, request);
      const change = new KeyChange(secrets, { from, to }, request);
      if (from.keyId === keyId) await change.move();
      await change.finish();
      return made(to);
    },
  };
}

async function infoOf(secrets: AccountSecrets, request: RequestOptions): Promise<SecretStorageInfo> {
  let keyId: string | undefined;
  try {
    keyId = await secrets.defaultKeyId(request);
    const description = await described(secrets, keyId, request);
    return {
      keyId,
      name: description.name,
      hasPassphrase: hasPassphrase(description),
      isCheckable: description.check !== undefined,
      problem: undefined,
    };
  } catch (error) {
    if (!(error instanceof SecretStorageError)) throw error;
    return { keyId, name: undefined, hasPassphrase: false, isCheckable: false, problem: error.problem };
  }
}

function hasPassphrase(description: KeyDescription): boolean {
  try {
    hashingOf(description);
    return true;
  } catch {
    return false;
  }
}

/** Reads what the server has of the default key. */
async function defaultKey(secrets: AccountSecrets, request: RequestOptions): Promise<KeyDescription> {
  return await described(secrets, await secrets.defaultKeyId(request), request);
}

async function described(
  secrets: AccountSecrets,
  keyId: string | undefined,
  request: RequestOptions,
): Promise<KeyDescription> {
  if (keyId !== undefined) return readDescription(keyId, await secrets.readKey(keyId, request));
  throw new SecretStorageError(
    "Cannot open the secret storage: the account has none; make one with secretStorage.create()",
    { problem: "absent" },
  );
}

/** The key of a call that was cut off; the account data is listed only if there may be one. */
async function resumed(
  secrets: AccountSecrets,
  { recoveryKey, passphrase, ...options }: NewSecretStorageKeyOptions,
): Promise<StorageKey | undefined> {
  if (recoveryKey === undefined) return undefined;
  return await resumedKey(recoveryKey, passphrase, await secrets.all(requestOptions(options)));
}

function made({ keyId, recoveryKey }: StorageKey): SecretStorageKey {
  return { keyId, recoveryKey };
}

function exists(keyId: string): SecretStorageError {
  return new SecretStorageError(
    `Cannot make a secret storage: there is one with the key ${
      shown(keyId)
    }; open() it, changeKey(), or reset() it ` +
      "if the key is lost",
    { problem: "exists" },
  );
}

/** Makes sure that the change leads away from the default key, or did so before it was cut off. */
function checkChange(
  { from, to, current }: { from: StorageKey; to: StorageKey | undefined; current: string },
): void {
  if (from.keyId === to?.keyId) {
    throw new ValueError(
      "Cannot change the key of the secret storage: the new key is the old one; leave it out",
    );
  }
  if (current === from.keyId || current === to?.keyId) return;
  throw new SecretStorageError(
    `Cannot change the key of the secret storage: its default key is ${
      shown(current)
    }, and not the one that was ` +
      "given; give the key of now, or as recoveryKey the one that a call before was to change to",
    { problem: "changed" },
  );
}
