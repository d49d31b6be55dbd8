/**
 * A user with a secret storage, and hands on what the server has of it.
 *
 * @module
 */

import { assertRejects } from "@std/assert";
import { type Client, defineEvent } from "@greenroom/matrix";
import { SecretStorageError } from "@greenroom/matrix/errors";
import type { JsonObject, SecretStorageProblem } from "@greenroom/matrix/types";
import type { ClientStage } from "../../client/support/stage.ts";
import { describe, keyOfPassphrase, StorageKey } from "../../../src/crypto/secrets/secrets.ts";

/** Where the server has the default key. */
export const DEFAULT_KEY = "m.secret_storage.default_key";

/** Takes no note of a recovery key: the call returns it. */
export function forget(): void {}

/** The account data of a type, as it is. */
export async function kept(client: Client, type: string): Promise<JsonObject> {
  return await client.getAccountData(defineEvent({ type, class: "account_data" }));
}

/** Replaces the account data of a type, as any client or the server could. */
export async function plant(client: Client, type: string, content: object): Promise<void> {
  await client.setAccountData(defineEvent({ type, class: "account_data" }), content as JsonObject);
}

/** Changes the account data of a type. */
export async function alter(client: Client, type: string, change: object): Promise<void> {
  await plant(client, type, { ...await kept(client, type), ...change });
}

/** The type of a key's description. */
export function keyType(keyId: string): string {
  return `m.secret_storage.key.${keyId}`;
}

/** Makes the default key from a passphrase, hashed less often than a new one's. */
export async function passphraseKey(client: Client, passphrase: string, keyId = "quick"): Promise<void> {
  const hashing = { salt: "salt", iterations: 1_000 };
  using key = new StorageKey(keyId, await keyOfPassphrase(passphrase, hashing));
  await plant(client, keyType(keyId), await describe(key, hashing));
  await plant(client, DEFAULT_KEY, { key: keyId });
}

/** What is wrong, as the error of an operation says. */
export async function problemOf(work: () => Promise<unknown>): Promise<SecretStorageProblem> {
  return (await assertRejects(work, SecretStorageError)).problem;
}

/** What a filled storage holds. */
export const SECRETS = { "com.example.token": "hunter2", "m.megolm_backup.v1": "c2VjcmV0" };

/** A storage with secrets. */
export async function filled(client: Client): Promise<{ keyId: string; recoveryKey: string }> {
  const key = await client.secretStorage.create({ onRecoveryKey: forget });
  using storage = await client.secretStorage.open(key);
  for (const [name, value] of Object.entries(SECRETS)) await storage.set(name, value);
  return key;
}

/** What a key opens. */
export async function opened(
  client: Client,
  recoveryKey: string,
): Promise<Record<string, string | undefined>> {
  using storage = await client.secretStorage.open({ recoveryKey });
  const found: Record<string, string | undefined> = {};
  for (const name of await storage.names()) found[name] = await storage.get(name);
  return found;
}

/** The keys that a secret is there for. */
export async function keysOf(client: Client, name: string): Promise<string[]> {
  const { encrypted } = await kept(client, name);
  return Object.keys(encrypted as object);
}

/** Does something as another client while a request of a kind is on its way. */
export function interruptedBy(
  here: ClientStage,
  path: RegExp,
  work: () => Promise<unknown>,
): typeof fetch {
  let isDone = false;
  return async (input, init) => {
    const request = new Request(input, init);
    if (!isDone && request.method === "PUT" && path.test(request.url)) {
      isDone = true;
      await work();
    }
    return await here.homeserver.fetch(request);
  };
}
