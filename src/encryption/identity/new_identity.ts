/**
 * Makes an identity for an account that has none.
 *
 * Private keys are durable here first, then in the secret storage, whose key its owner has by then;
 * only then is anything published. So whatever a crash leaves, the owner's key opens what is
 * published, and the next call completes it.
 *
 * @module
 */

import { AuthenticationNeededError } from "../../errors/request_error.ts";
import { OwnIdentityError, SecretStorageError } from "../../errors/encryption_error.ts";
import type { Authentication } from "../../api/account/account.ts";
import type { EnsureVerifiedOptions } from "./identity_crypto.ts";
import type { OwnIdentityState } from "../../crypto/engine/engine.ts";
import type { IdentitySeeds, NewIdentity } from "../../crypto/identity/identity.ts";
import { encodeRecoveryKey, KEY_BYTES } from "../../crypto/secrets/secrets.ts";
import {
  AccountSecrets,
  type OpenSecretStorage,
  type SecretStorageUnlock,
  unlockOf,
} from "../secrets/secrets.ts";
import {
  assertNoSeeds,
  type IdentityCall,
  isWhole,
  readSeeds,
  wipe,
  writeSeeds,
} from "./identity_secrets.ts";

/** A secret storage that belongs to its owner already. */
const KEPT = { onRecoveryKey: () => {} };

/**
 * Makes an identity.
 *
 * @returns Whether it is there; `needs-secret` if there is a secret storage that nothing opens.
 */
export async function makeIdentity(
  call: IdentityCall,
  options: EnsureVerifiedOptions,
  state: OwnIdentityState,
): Promise<"made" | "needs-secret"> {
  const { actor, identity } = call;
  const by = await storageFor(call, options, state);
  if (by === undefined) return "needs-secret";
  const storage = await call.open(by);
  const stored = await seedsBefore(storage, state);
  const made = await actor.createIdentity({ seeds: stored });
  if (!isWhole(stored)) await writeSeeds(storage, made.seeds, {});
  wipe(stored);
  wipe(made.seeds);
  await identity.publishDevice(); // first, so that the server knows the device that signs the master key
  await upload(call, options, await storedSince(actor, storage));
  return "made";
}

/**
 * The private keys of a try before, perhaps on a device that is gone. What a device that has
 * begun to make an identity can't read was stored since for a key of the storage that
 * another has replaced meanwhile: it stays.
 */
async function seedsBefore(
  storage: OpenSecretStorage,
  { keys }: OwnIdentityState,
): Promise<Partial<IdentitySeeds>> {
  try {
    return await readSeeds(storage, {});
  } catch (error) {
    const isOfOther = error instanceof SecretStorageError && error.problem === "other-keys";
    if (isOfOther && keys?.phase === "created") return {};
    throw error;
  }
}

/**
 * The identity of the private keys that are stored by now. Devices that start at the same time publish the
 * same by that: a server that takes the keys of two at once may show some of each.
 */
async function storedSince(
  actor: IdentityCall["actor"],
  storage: OpenSecretStorage,
): Promise<NewIdentity> {
  const seeds = await readSeeds(storage, {});
  const made = await actor.createIdentity({ seeds });
  wipe(seeds);
  wipe(made.seeds);
  return made;
}

/** Returns what opens the secret storage, which is made if there is none; undefined: nothing does. */
async function storageFor(
  call: IdentityCall,
  options: EnsureVerifiedOptions,
  { keys }: OwnIdentityState,
): Promise<SecretStorageUnlock | undefined> {
  const { api, actor } = call;
  const secrets = new AccountSecrets(api);
  const by = unlockOf(options);
  const hasStorage = await isThere(secrets);
  call.early?.end();
  if (!hasStorage) return await newStorage(call, options);
  if (by !== undefined || keys?.phase !== "created") return by;
  return await pendingKey(actor); // a call before was cut off after it had made the storage
}

/**
 * Returns whether there is a secret storage. One that another device makes meanwhile is there before its
 * private keys.
 */
async function isThere(secrets: AccountSecrets): Promise<boolean> {
  if (await secrets.defaultKeyId() !== undefined) return true;
  try {
    await assertNoSeeds(secrets, {});
  } catch (error) {
    if (await secrets.defaultKeyId() !== undefined) return true;
    throw error;
  }
  return false;
}

/** The recovery key that was handed out for an identity that is being made; undefined: none was. */
export async function pendingKey(
  actor: IdentityCall["actor"],
): Promise<SecretStorageUnlock | undefined> {
  const { recoveryKey, seeds } = await actor.createIdentity({});
  wipe(seeds);
  return recoveryKey === undefined ? undefined : { recoveryKey };
}

/** Makes a secret storage for an account without one. */
export async function newStorage(
  { actor, secrets }: IdentityCall,
  options: EnsureVerifiedOptions,
): Promise<SecretStorageUnlock> {
  const pending = await actor.createIdentity({});
  wipe(pending.seeds);
  if (options.recoveryKey !== undefined) {
    await secrets.create({ recoveryKey: options.recoveryKey, ...KEPT });
    return { recoveryKey: options.recoveryKey };
  }
  const keep = async (recoveryKey: string): Promise<void> => {
    wipe((await actor.createIdentity({ recoveryKey })).seeds);
    await handOut(options, recoveryKey);
  };
  if (options.passphrase !== undefined) {
    const { recoveryKey } = pending;
    await secrets.create({ passphrase: options.passphrase, recoveryKey, onRecoveryKey: keep });
    return { passphrase: options.passphrase };
  }
  const recoveryKey = await handedOut(actor, options, pending);
  await secrets.create({ recoveryKey, ...KEPT });
  return { recoveryKey };
}

/** A new recovery key, which is durable here and handed out; the same until it is published. */
export async function handedOut(
  actor: IdentityCall["actor"],
  options: EnsureVerifiedOptions,
  pending: NewIdentity,
): Promise<string> {
  const recoveryKey = pending.recoveryKey ?? newRecoveryKey();
  wipe((await actor.createIdentity({ recoveryKey })).seeds);
  await handOut(options, recoveryKey);
  return recoveryKey;
}

function newRecoveryKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  try {
    return encodeRecoveryKey(bytes);
  } finally {
    bytes.fill(0);
  }
}

async function handOut({ onRecoveryKey }: EnsureVerifiedOptions, recoveryKey: string): Promise<void> {
  try {
    await onRecoveryKey?.(recoveryKey);
  } catch (cause) {
    throw new OwnIdentityError(
      "Cannot make an identity: onRecoveryKey has failed, so that nobody has the recovery key; nothing was published",
      { problem: "recovery-key", cause },
    );
  }
}

/**
 * Uploads the public keys. The server is asked once more before they are uploaded with an
 * authentication, since with that they would replace an identity that has come up since.
 */
async function upload(
  { actor, identity, api }: IdentityCall,
  options: EnsureVerifiedOptions,
  { masterKey, selfSigningKey, userSigningKey }: NewIdentity,
): Promise<void> {
  const keys = { masterKey, selfSigningKey, userSigningKey };
  const authentication = authenticationOf(options);
  try {
    await api.uploadCrossSigningKeys(keys);
  } catch (error) {
    if (!(error instanceof AuthenticationNeededError)) throw error;
    const { shown } = await identity.look();
    if (shown !== undefined && !await isPublished(actor)) throw otherIdentity();
    if (shown !== undefined) return; // another device with the same seeds was first
    if (authentication === undefined) throw error;
    await api.uploadCrossSigningKeys({ ...keys, authentication });
  }
}

/**
 * Returns whether the server shows the identity that was made here. Its master key does not say so: devices
 * that start at the same time may have published it with other keys.
 */
export async function isPublished(actor: IdentityCall["actor"]): Promise<boolean> {
  const { seeds } = await actor.createIdentity({});
  try {
    return await isShown(actor, seeds);
  } finally {
    wipe(seeds);
  }
}

/** Returns whether the server shows the identity of some private keys, with all its keys. */
export async function isShown(actor: IdentityCall["actor"], seeds: IdentitySeeds): Promise<boolean> {
  const compared = await actor.compareIdentity(seeds);
  return compared !== undefined && Object.values(compared).every((outcome) => outcome === "fits");
}

/**
 * Stores the private keys of an identity that has replaced another, once the server has taken that.
 *
 * @returns Whether that could be done; if not, nothing was given that opens the secret storage.
 */
export async function finishReset(
  call: IdentityCall,
  options: EnsureVerifiedOptions,
): Promise<boolean> {
  const { seeds, recoveryKey } = await call.actor.createIdentity({});
  try {
    const isNew = call.storage === undefined && recoveryKey !== undefined;
    if (isNew) await call.secrets.reset({ recoveryKey, onRecoveryKey: () => {} });
    const by = recoveryKey === undefined ? unlockOf(options) : { recoveryKey };
    const storage = call.storage ?? (by && await call.open(by));
    if (storage === undefined) return false;
    await writeSeeds(storage, seeds, { alone: true }); // those of the identity before open nothing any more
    if (isNew && options.backup !== false) {
      await call.backup.ensure(() => Promise.resolve(storage), { isNew });
    }
  } finally {
    wipe(seeds);
  }
  return true;
}

/** Returns how to authenticate; undefined: not at all. */
export function authenticationOf(
  { password, authentication }: EnsureVerifiedOptions,
): Authentication | undefined {
  return password === undefined ? authentication : { password, ...authentication };
}

/** The identity of the account is not the one that is at hand. */
export function otherIdentity(): OwnIdentityError {
  return new OwnIdentityError(
    "Cannot use the own identity: the private keys that were found are of another identity than the server shows; " +
      "look with another client of the user which is right, and set up its secret storage again",
    { problem: "mismatch" },
  );
}
