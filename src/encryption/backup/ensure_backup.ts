/**
 * Has the backup of room keys used, or made, for an account whose secret storage opens.
 *
 * The key of a new backup is durable here first, then in the secret storage, and only then is the
 * backup made: so whatever a crash leaves, the storage has the key of the backup that is there. A
 * key that is in the storage is never replaced: a server that hides a backup, or shows one of its
 * own, would have it lost.
 *
 * @module
 */

import { RESTART_DELAY } from "../../api/http/mod.ts";
import {
  type KeyBackupAPI,
  type KeyBackupOutcome,
  latestVersion,
  publicKeyOf,
  type SecretKeeper,
  type StoreSecretOptions,
  WANTED,
} from "./key_backup.ts";
import type { CryptoHandlers, EngineRunner } from "../../actors/crypto/crypto.ts";
import type { ActorRef } from "../../actors/kernel/mod.ts";
import { BACKUP_SECRET } from "../../crypto/backup/backup.ts";
import { readKeySecret } from "../../crypto/secrets/secrets.ts";
import { KeyBackupError, type KeyBackupProblem, SecretStorageError } from "../../errors/encryption_error.ts";
import type { KeyBackupVersion } from "../../types/api/device_keys.ts";
import { isWantedBy, leftBackup } from "./key_backup_operations.ts";

/** What it works on. */
export interface EnsureBackupInput {
  /** Opens the secret storage; undefined: nothing does. */
  readonly open: () => Promise<SecretKeeper | undefined>;
  /** Whether the backup is in use, and its key is there: the storage only has to get it. */
  readonly isOn: boolean;
}

/**
 * How often it looks again, while the stored key is not that of the backup: so it is for some
 * requests of a device that makes one at the same time.
 */
const MAX_LOOKS = 15;
/** How long it waits in between, in milliseconds. */
const BETWEEN_LOOKS = 200;

/** Has the backup used, made, or its key stored. Never rejects. */
export async function ensureBackup(
  engine: EngineRunner,
  api: KeyBackupAPI,
  { open, isOn }: EnsureBackupInput,
): Promise<KeyBackupOutcome | undefined> {
  try {
    const isWanted = isOn || await isWantedBy(api, {});
    if (isWanted === false) return "unwanted";
    const storage = await open();
    if (storage === undefined) return undefined;
    if (isOn) return await stored(engine.actor, storage, { alone: true });
    await begunOrUsed(engine, api, storage);
    if (isWanted === undefined) await api.setAccountData(WANTED, { enabled: true });
    engine.requests.wake();
    return "on";
  } catch (error) {
    const problem = error instanceof KeyBackupError ? error.problem : "failed";
    engine.log.warn("Room keys are not backed up", { problem, error: String(error) });
    return problem;
  }
}

/**
 * Uses the backup that is there, or makes one. If several devices make one at the same time, the
 * latest stays, and its key gets into the storage, whoever was the last to write there.
 */
async function begunOrUsed(
  { actor, http, clock }: EngineRunner,
  api: KeyBackupAPI,
  storage: SecretKeeper,
): Promise<void> {
  const keys = new Set<string | undefined>();
  let restarts = 0; // after which the backup may be there, although its making has failed
  for (let looks = 1;; looks++) {
    const [shown, secret] = await Promise.all([latestVersion(api, {}), storedSecret(storage)]);
    keys.add(secret);
    try {
      return shown === undefined
        ? await begin(actor, api, storage, { known: secret, keys })
        : await use(actor, storage, { shown, secret, keys });
    } catch (error) {
      const isOther = error instanceof KeyBackupError && ["changed", "wrong-key"].includes(error.problem);
      const delay = isOther ? BETWEEN_LOOKS : http[RESTART_DELAY](error, restarts++);
      if (delay === undefined || looks === MAX_LOOKS) throw error;
      await clock.delay(delay);
    }
  }
}

/** Makes a backup with the key that is stored, or a new one. */
async function begin(
  actor: ActorRef<CryptoHandlers>,
  api: KeyBackupAPI,
  storage: SecretKeeper,
  { known, keys }: { readonly known: string | undefined; readonly keys: Set<string | undefined> },
): Promise<void> {
  const usable = known !== undefined && hasKey(known) ? known : undefined;
  if (known !== undefined && usable === undefined) {
    throw refusal("no-secret", "what is stored as its key is none");
  }
  const newBackup = async (given: string | undefined) =>
    await actor.newBackup({ latest: undefined, isNew: false, secret: given });
  let made = await newBackup(usable);
  if (usable === undefined) {
    await storage.set(BACKUP_SECRET, made.secret);
    const since = await storage.get(BACKUP_SECRET); // devices that make one at the same time make the same
    if (since !== made.secret) made = await newBackup(since);
  }
  const { definition, publicKey, secret, isLeft } = made;
  if (isLeft) throw leftBackup();
  keys.add(secret);
  await api.createKeyBackupVersion(definition);
  const latest = async () => {
    const shown = await latestVersion(api, {});
    if (shown !== undefined && publicKeyOf(shown) === publicKey) return shown;
    throw refusal("changed", "another client has made or deleted one meanwhile; the next start looks again");
  };
  let shown = await latest();
  const since = await storage.get(BACKUP_SECRET);
  if (since !== secret) { // a faster one's
    keys.add(since);
    await storage.set(BACKUP_SECRET, secret);
    shown = await latest();
  }
  await actor.adoptBackup({ shown, secret });
}

/**
 * Uses the backup that is there, if its key is the one that is stored, was so before (`keys`), or is here.
 */
async function use(
  actor: ActorRef<CryptoHandlers>,
  storage: SecretKeeper,
  { shown, secret, keys }: {
    readonly shown: KeyBackupVersion;
    readonly secret: string | undefined;
    readonly keys: ReadonlySet<string | undefined>;
  },
): Promise<void> {
  const publicKey = publicKeyOf(shown);
  if (publicKey === undefined) throw refusal("unusable", "its algorithm or its public key is not known");
  const { pending } = await actor.backupState() ?? {};
  const adopt = async (key: string | undefined) => {
    const outcome = await actor.adoptBackup({ shown, secret: key });
    if (outcome === "left") throw leftBackup();
    return outcome === "adopted";
  };
  for (const key of keys) { // those that were stored before were replaced, perhaps by this device
    if (key === undefined || !await adopt(key)) continue;
    if (key !== secret) await storage.set(BACKUP_SECRET, key);
    return;
  }
  if (pending === publicKey) return await finish(actor, storage, shown);
  if (await adopt(undefined)) { // with the key that is here
    if (secret === undefined) await stored(actor, storage);
    return;
  }
  if (secret === undefined) {
    throw refusal(
      "no-secret",
      "the secret storage does not have its key; give it to backup.trust(), or reset() it",
    );
  }
  throw refusal(
    "wrong-key",
    "the key that is stored is another one: another client, or the server, has made the backup since",
  );
}

/** Ends what made a backup in place of another, and was cut off after the server had it. */
async function finish(
  actor: ActorRef<CryptoHandlers>,
  storage: SecretKeeper,
  shown: KeyBackupVersion,
): Promise<void> {
  const { secret } = await actor.newBackup({ latest: publicKeyOf(shown), isNew: true });
  await storage.set(BACKUP_SECRET, secret);
  await actor.adoptBackup({ shown, secret });
}

/** Stores the key of the backup in use. */
async function stored(
  actor: ActorRef<CryptoHandlers>,
  storage: SecretKeeper,
  options: StoreSecretOptions = {},
): Promise<KeyBackupOutcome> {
  const state = await actor.backupState();
  const { secret, isThere } = await actor.newBackup({ latest: state?.publicKey, isNew: false });
  if (isThere) await storage.set(BACKUP_SECRET, secret, options);
  return "on";
}

/** Reads what is stored as the key; undefined: nothing for this key of the storage. */
async function storedSecret(storage: SecretKeeper): Promise<string | undefined> {
  try {
    return await storage.get(BACKUP_SECRET);
  } catch (error) {
    if (error instanceof SecretStorageError && error.problem === "other-keys") return undefined;
    throw error;
  }
}

function hasKey(secret: string): boolean {
  const bytes = readKeySecret(secret);
  bytes?.fill(0);
  return bytes !== undefined;
}

function refusal(problem: KeyBackupProblem, why: string): KeyBackupError {
  return new KeyBackupError(`Cannot use the backup of room keys: ${why}`, { problem });
}
