/**
 * Has the own device signed by its user's identity: `client.crypto.ensureVerified()`.
 *
 * @module
 */

import type { EnsureVerifiedOptions, VerificationReport } from "../../actors/crypto/identity_crypto.ts";
import type { OwnIdentityState } from "../../crypto/engine/identity_steps.ts";
import type { OfferOutcome } from "../../crypto/identity/own_identity.ts";
import type { DeviceID } from "../../types/ids.ts";
import { openerOf } from "../../crypto/identity/storage_opener.ts";
import { OwnIdentityError } from "../../errors/encryption_error.ts";
import { SecretStorageError } from "../../errors/secret_storage_error.ts";
import type { OpenSecretStorage } from "../secrets/open_secret_storage.ts";
import type { SecretStorageUnlock } from "../secrets/unlock.ts";
import { finishReset } from "./finish_reset.ts";
import { assertSigning, hasSeeds, readSeeds, wipe, writeSeeds } from "./identity_secrets.ts";
import { isPublished, isShown, makeIdentity, otherIdentity, pendingKey } from "./new_identity.ts";
import { requestSecrets } from "./request_secrets.ts";
import { type CallParts, HeldStorage, unlockOf, type VerifyParts } from "./verify_parts.ts";

/**
 * How often it looks again, while the stored private keys are not those of the identity: so it is
 * until a device that makes one at the same time has made the backup, too.
 */
const MAX_LOOKS = 30;
/** How long it waits in between, in milliseconds. */
const BETWEEN_LOOKS = 200;

/**
 * Finds out what the account has, and goes the shortest way that replaces nothing.
 *
 * @param parts.isAsked Whether the server has just been asked for the own identity.
 */
export async function ensureVerified(
  parts: VerifyParts,
  options: EnsureVerifiedOptions,
): Promise<VerificationReport> {
  using held = new HeldStorage(parts.api);
  return await ensured({ ...parts, held }, options);
}

/** The same, with a secret storage that may be open. */
export async function ensured(
  parts: CallParts,
  options: EnsureVerifiedOptions,
): Promise<VerificationReport> {
  const { identity } = parts;
  unlockOf(options); // what can't be used is refused before anything is asked
  const state = await settled(parts, options, await afterReset(parts, await identity.state()));
  await identity.publishDevice();
  await identity.publishSignature();
  const { shown } = await identity.state();
  const master = shown?.master;
  if (state === "needs-secret") await withoutSecret(parts, shown);
  const isAtHand = state === "verified" || state === "bootstrapped";
  if (isAtHand) await keepOpener(parts);
  const backup = isAtHand ? await backedUp(parts, options) : undefined;
  if (isAtHand && backup === undefined && options.backup !== false) await asked(parts); // for its key
  if (!isAtHand || options.dehydratedDevice !== true) return { state, master, backup };
  const dehydratedDevice = await parts.dehydration.ensure(identity, () => opened(parts, options));
  return { state, master, backup, dehydratedDevice };
}

/** The devices that were asked for secrets. That none could be is no failure of what was done. */
async function asked(parts: CallParts): Promise<readonly DeviceID[]> {
  try {
    return (await requestSecrets(parts)).devices;
  } catch (error) {
    parts.log.warn("Could not ask other own devices for secrets", { error: String(error) });
    return [];
  }
}

/** Asks the user's other devices, which may answer later, if this one can tell which they are. */
async function withoutSecret(parts: CallParts, shown: OwnIdentityState["shown"]): Promise<void> {
  const devices = shown?.verified === true ? await asked(parts) : [];
  const others = devices.length === 0 ? "" : `; ${devices.length} other devices were asked for the keys`;
  parts.log.warn(
    "This device is not signed by its user's identity, so that others may not trust it: " +
      "nothing was given that opens the secret storage; give the account's recovery key or passphrase " +
      `(MATRIX_RECOVERY_KEY, or the file of MATRIX_RECOVERY_KEY_FILE, or encryption.recoveryKey)${others}`,
    { master: shown?.master },
  );
}

/** Has the backup used, or made. It needs the storage only if it is not in use yet. */
async function backedUp(
  parts: CallParts,
  options: EnsureVerifiedOptions,
): Promise<VerificationReport["backup"]> {
  if (options.backup === false) return undefined;
  return await parts.backup.ensure(() => opened(parts, options));
}

/** Opens the secret storage, unless it is open; undefined: nothing does. */
async function opened(
  { identity, held }: CallParts,
  options: EnsureVerifiedOptions,
): Promise<OpenSecretStorage | undefined> {
  if (held.storage !== undefined) return held.storage;
  const { keys } = await identity.state();
  const by = unlockOf(options) ?? (keys?.phase === "created" ? await pendingKey(identity) : undefined);
  return by && await held.open(by);
}

/** The state without a new identity that was to replace the one which the server still shows. */
async function afterReset({ identity }: VerifyParts, state: OwnIdentityState): Promise<OwnIdentityState> {
  const { keys } = state;
  if (keys?.phase !== "created" || keys.replaces !== true) return state;
  const now = await identity.look(); // it may have been published since
  if (now.keys?.master === now.shown?.master) return now;
  await identity.abandon();
  return await identity.look();
}

/**
 * The same as {@link verified}. If another device makes an identity at the same time, there is one of the
 * two, and the device that has published it stores its private keys within a few requests.
 */
async function settled(
  parts: CallParts,
  options: EnsureVerifiedOptions,
  before: OwnIdentityState,
): Promise<VerificationReport["state"]> {
  let state = before;
  for (let looks = 1;; looks++) {
    try {
      return await verified(parts, options, state);
    } catch (error) {
      if (!isOfOther(error) || looks === MAX_LOOKS) throw error;
      await parts.clock.delay(BETWEEN_LOOKS);
      await parts.held.closeOld(); // the storage may be another one, too
      state = await parts.identity.look();
    }
  }
}

/** Whether another device has made an identity or a secret storage meanwhile. */
function isOfOther(error: unknown): boolean {
  if (error instanceof OwnIdentityError) return error.problem === "mismatch";
  return error instanceof SecretStorageError &&
    (error.problem === "changed" || error.problem === "other-keys");
}

async function verified(
  parts: CallParts,
  options: EnsureVerifiedOptions,
  state: OwnIdentityState,
): Promise<VerificationReport["state"]> {
  const { identity } = parts;
  const { shown, keys } = state;
  const signs = keys?.phase === "published" && !keys.missing?.includes("selfSigning");
  const by = unlockOf(options);
  if (shown?.verified === true && signs && await isKnown(state, by)) return "verified";
  if (shown === undefined) {
    if (by === undefined && options.onRecoveryKey === undefined) return "absent";
    const made = await makeIdentity(parts, options, state);
    return made === "made" ? await completed(parts, options) : made;
  }
  // A call before was cut off after it had published the identity.
  if (keys?.phase === "created" && await isPublished(identity)) {
    if (keys.replaces === true && !await finishReset(parts, options)) return "needs-secret";
    return await completed(parts, options);
  }
  return by === undefined ? "needs-secret" : await adopted(parts, by);
}

/**
 * Whether the storage need not be opened to tell that it can be. A recovery key that is wrong would
 * else be noticed only when the store is lost.
 */
async function isKnown(
  { opener }: OwnIdentityState,
  by: SecretStorageUnlock | undefined,
): Promise<boolean> {
  return by?.recoveryKey === undefined || opener === await openerOf(by.recoveryKey);
}

/** Keeps which recovery key has opened the storage, once its private keys have shown to be the right ones. */
async function keepOpener({ identity, held }: CallParts): Promise<void> {
  if (held.recoveryKey === undefined) return;
  const opener = await openerOf(held.recoveryKey);
  if ((await identity.known()).opener !== opener) await identity.keepOpener(opener);
}

/** Takes the private keys of an identity that is there from the secret storage. */
async function adopted({ identity, held, isAsked }: CallParts, by: SecretStorageUnlock): Promise<"verified"> {
  const seeds = await readSeeds(await held.open(by), {});
  try {
    assertSigning(seeds);
    const outcome = await identity.offer(seeds, { isAsked });
    if (outcome === "unproven") assertSigning(seeds, ["master"]); // nothing else has proven the identity
    checkOutcome(outcome);
  } finally {
    wipe(seeds);
  }
  return "verified";
}

/**
 * Takes the identity that was published into use. The backup comes first: the recovery key that
 * opens the storage is remembered until then only.
 */
async function completed(parts: CallParts, options: EnsureVerifiedOptions): Promise<"bootstrapped"> {
  const { identity } = parts;
  await backedUp(parts, options);
  if (parts.held.storage !== undefined) await storeAgain(parts, parts.held.storage);
  if (options.dehydratedDevice === true) await opened(parts, options); // likewise
  checkOutcome(await identity.confirm());
  return "bootstrapped";
}

/**
 * Stores the private keys again, if they are those of the identity that the server shows and the storage
 * has others: another device that started at the same time may have stored its own, and not published it.
 */
async function storeAgain({ identity }: CallParts, storage: OpenSecretStorage): Promise<void> {
  await identity.look();
  const { seeds } = await identity.create({});
  try {
    const isOurs = await isShown(identity, seeds);
    if (isOurs && !await hasSeeds(storage, seeds, {})) await writeSeeds(storage, seeds, {});
  } finally {
    wipe(seeds);
  }
}

function checkOutcome(outcome: OfferOutcome): void {
  if (outcome === "adopted") return;
  if (outcome === "mismatch") throw otherIdentity();
  if (outcome === "replaced") {
    throw new OwnIdentityError(
      "Cannot use the own identity: the server shows one again that was replaced by another; if the user's other " +
        "clients show its master key too, acknowledgeIdentity() takes it back, else resetIdentity() makes a new one",
      { problem: "replaced" },
    );
  }
  throw new OwnIdentityError(
    "Cannot use the own identity: the server does not show it; try again",
    { problem: "not-shown" },
  );
}
