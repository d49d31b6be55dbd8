/**
 * One call that works on the own identity; and the private keys of that in the secret storage, and what a
 * start reads there.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#storage | Secret storage}
 *
 * @module
 */

import { FORMERLY_WANTED, type KeyBackupMachine, type StoreSecretOptions, WANTED } from "../backup/backup.ts";
import type { RequestOptions } from "../../api/http/mod.ts";
import { decodeBase64, encodeBase64 } from "../../types/base64.ts";
import { type IdentitySeeds, SEED_SECRETS } from "../../crypto/identity/identity.ts";
import { ciphertextsOf } from "../../crypto/secrets/secrets.ts";
import { OwnIdentityError, SecretStorageError } from "../../errors/encryption_error.ts";
import {
  type AccountSecrets,
  DEFAULT_KEY,
  type OpenSecretStorage,
  rawType,
  secretOperations,
  type SecretsAPI,
  type SecretStorage,
  type SecretStorageUnlock,
} from "../secrets/secrets.ts";
import type { EnsureVerifiedOptions } from "./identity_crypto.ts";
import { BACKUP_SECRET } from "../../crypto/backup/backup.ts";
import type { EarlyReads, IdentityRequests, ReadPlan } from "./identity_requests.ts";
import type { CryptoHandlers, EngineRunner } from "../../actors/crypto/crypto.ts";
import type { ActorRef } from "../../actors/kernel/mod.ts";
import type { AllAPI } from "../../api/api.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { DehydratedDevices } from "../dehydration.ts";

const SEED_BYTES = 32;

/**
 * Reads the private keys that are there.
 *
 * @returns The keys, which the caller wipes.
 * @throws {OwnIdentityError} If one is no key.
 * @throws {SecretStorageError} If one is damaged, or there for another key of the storage only.
 */
export async function readSeeds(
  storage: OpenSecretStorage,
  request: RequestOptions,
): Promise<Partial<IdentitySeeds>> {
  const seeds: { -readonly [Name in keyof IdentitySeeds]?: Uint8Array } = {};
  const names = keysOf(SEED_SECRETS);
  // All of them, though one fails: none is decrypted any more when this has ended.
  const read = await Promise.allSettled(names.map((name) => storage.get(SEED_SECRETS[name], request)));
  for (const [index, name] of names.entries()) {
    const text = read[index];
    if (text?.status === "rejected") throw text.reason;
    if (text?.value === undefined) continue;
    const seed = decodeBase64(text.value);
    if (seed?.length !== SEED_BYTES) throw incomplete(`${SEED_SECRETS[name]} is no private key`);
    seeds[name] = seed;
  }
  return seeds;
}

/** Returns whether the storage has just these private keys, for its key of now. */
export async function hasSeeds(
  storage: OpenSecretStorage,
  seeds: IdentitySeeds,
  request: RequestOptions,
): Promise<boolean> {
  let stored: Partial<IdentitySeeds>;
  try {
    stored = await readSeeds(storage, request);
  } catch (error) {
    // Of other keys, or none.
    if (error instanceof SecretStorageError || error instanceof OwnIdentityError) return false;
    throw error;
  }
  const isSame = keysOf(SEED_SECRETS).every((name) => {
    const bytes = stored[name];
    return bytes !== undefined && encodeBase64(bytes) === encodeBase64(seeds[name]);
  });
  wipe(stored);
  return isSame;
}

/** Returns whether all private keys are there. */
export function isWhole(seeds: Partial<IdentitySeeds>): seeds is IdentitySeeds {
  return keysOf(SEED_SECRETS).every((name) => seeds[name] !== undefined);
}

/**
 * Makes sure that the private keys are there without which a device can't be signed. The others may
 * be kept elsewhere.
 *
 * @throws {OwnIdentityError} If one is missing.
 */
export function assertSigning(
  seeds: Partial<IdentitySeeds>,
  needed: readonly (keyof IdentitySeeds)[] = ["selfSigning"],
): void {
  const missing = needed.filter((name) => seeds[name] === undefined);
  if (missing.length === 0) return;
  throw incomplete(`it has no ${missing.map((name) => SEED_SECRETS[name]).join(", ")}`);
}

/** Stores the private keys. */
export async function writeSeeds(
  storage: OpenSecretStorage,
  seeds: IdentitySeeds,
  options: StoreSecretOptions,
): Promise<void> {
  const names = keysOf(SEED_SECRETS);
  await Promise.all(
    names.map((name) => storage.set(SEED_SECRETS[name], encodeBase64(seeds[name]), options)),
  );
}

/**
 * Makes sure that no private keys are there, before a storage is made for new ones.
 *
 * @throws {OwnIdentityError} If there are some: the account had an identity, which the server hides.
 */
export async function assertNoSeeds(secrets: AccountSecrets, request: RequestOptions): Promise<void> {
  const names = Object.values(SEED_SECRETS);
  const contents = await Promise.all(names.map((name) => secrets.read(name, request)));
  for (const [index, name] of names.entries()) {
    if (ciphertextsOf(name, contents[index]) === undefined) continue;
    throw new OwnIdentityError(
      `Cannot make an identity: the account has ${name} in its secret storage, but the server shows neither ` +
        "an identity nor a default key of the storage; look with another client of the user what has become of them",
      { problem: "hidden" },
    );
  }
}

/** Overwrites private keys in memory. */
export function wipe(seeds: Partial<IdentitySeeds>): void {
  for (const seed of Object.values(seeds)) seed.fill(0);
}

function incomplete(why: string): OwnIdentityError {
  return new OwnIdentityError(
    `Cannot use the own identity: the secret storage does not have all of its private keys, for ${why}; ` +
      "set the secret storage up again with a client that has them",
    { problem: "incomplete" },
  );
}

function keysOf<Key extends string>(object: Readonly<Record<Key, unknown>>): Key[] {
  return Object.keys(object) as Key[]; // it has no others
}

/**
 * Tells what that is, if it takes the private keys of the own identity from the secret storage. The key's
 * description has to wait: its name is what the default key says.
 *
 * @param hasBackup Whether the backup is taken into use, too.
 */
export function firstReads(hasBackup: boolean): ReadPlan {
  const names = [DEFAULT_KEY, ...Object.values(SEED_SECRETS), ...hasBackup ? [BACKUP_SECRET] : []];
  const wanted = hasBackup ? [WANTED, FORMERLY_WANTED] : [];
  return { types: [...names.map(rawType), ...wanted], version: hasBackup };
}

/**
 * The same if it has them already: whether what was given still opens the storage, and the backup is there.
 */
export function laterReads({ recoveryKey, passphrase, backup }: EnsureVerifiedOptions): ReadPlan {
  const opens = recoveryKey !== undefined || passphrase !== undefined;
  return { types: opens ? [rawType(DEFAULT_KEY)] : [], version: backup !== false };
}

/** What a call uses beside the engine. */
export interface IdentityTools {
  /** Asks the server about the own identity. */
  readonly identity: IdentityRequests;
  /** The operations. */
  readonly api: SecretsAPI & Pick<AllAPI, "uploadCrossSigningKeys">;
  /** The backup of room keys. */
  readonly backup: Pick<KeyBackupMachine, "ensure">;
  /** The dehydrated device. */
  readonly dehydration: Pick<DehydratedDevices, "ensure">;
  /** Whether the server has just been asked for the own identity. Default: false. */
  readonly isAsked?: boolean;
  /** What was read early: it ends before anything is made, since it may be out of date by then. */
  readonly early?: Pick<EarlyReads, "end">;
}

/** What a call uses, and the secret storage, which it opens once: a passphrase takes time. */
export class IdentityCall implements IdentityTools, Disposable {
  readonly actor: ActorRef<CryptoHandlers>;
  /** The wall clock. */
  readonly clock: Clock;
  /** Where it says what is missing. */
  readonly log: Logger;
  readonly identity: IdentityTools["identity"];
  readonly api: IdentityTools["api"];
  readonly backup: IdentityTools["backup"];
  readonly dehydration: IdentityTools["dehydration"];
  readonly isAsked: boolean;
  readonly early: IdentityTools["early"];
  /** The operations of the secret storage. */
  readonly secrets: SecretStorage;
  #storage: OpenSecretStorage | undefined;
  #recoveryKey: string | undefined;

  /**
   * @param engine The engine, which has been opened.
   * @param tools What the call uses beside it.
   */
  constructor({ actor, clock, log }: Pick<EngineRunner, "actor" | "clock" | "log">, tools: IdentityTools) {
    [this.actor, this.clock, this.log] = [actor, clock, log];
    const { identity, api, backup, dehydration, isAsked = false, early } = tools;
    [this.identity, this.api, this.backup, this.dehydration] = [identity, api, backup, dehydration];
    [this.isAsked, this.early] = [isAsked, early];
    this.secrets = secretOperations(api);
  }

  /** The secret storage, if it is open. */
  get storage(): OpenSecretStorage | undefined {
    return this.#storage;
  }

  /** The recovery key that it was opened with; undefined: none, or it is not open. */
  get recoveryKey(): string | undefined {
    return this.#recoveryKey;
  }

  /** Opens the secret storage, unless it is open. */
  async open(by: SecretStorageUnlock): Promise<OpenSecretStorage> {
    if (this.#storage !== undefined) return this.#storage;
    this.#storage = await this.secrets.open(by);
    this.#recoveryKey = by.recoveryKey;
    return this.#storage;
  }

  /** Closes it if the account has another one by now, or nothing says which. */
  async closeOld(): Promise<void> {
    if (this.#storage === undefined) return;
    const { keyId } = await this.secrets.info();
    if (keyId !== this.#storage?.keyId) this[Symbol.dispose]();
  }

  /** Closes it. */
  [Symbol.dispose](): void {
    this.#storage?.[Symbol.dispose]();
    this.#storage = undefined;
    this.#recoveryKey = undefined;
  }
}
