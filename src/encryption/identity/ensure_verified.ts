/**
 * Has the own device signed by its user's identity, or replaces that: `client.crypto.ensureVerified()` and
 * `resetIdentity()`.
 *
 * In a reset the secret storage is opened, or its new key handed out, before the new identity is uploaded.
 * Its private keys are stored after that, so that a server which refuses it leaves all as it was; until they
 * are, they are durable here, and the next `ensureVerified()` stores them.
 *
 * Over 300 lines because a reset ends as the start of a device does.
 *
 * @module
 */

import { isVouchedFor } from "../../crypto/devices/mod.ts";
import { openerOf, type OwnIdentityState, type StorageOpener } from "../../crypto/engine/engine.ts";
import type { OfferOutcome } from "../../crypto/identity/identity.ts";
import { UnknownTokenError } from "../../errors/account_errcodes.ts";
import { OwnIdentityError, SecretStorageError } from "../../errors/encryption_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { MatrixRequestError, NetworkError } from "../../errors/request_error.ts";
import { ServiceResponseError } from "../../errors/service_response_error.ts";
import type { DeviceID } from "../../types/ids.ts";
import {
  AccountSecrets,
  type OpenSecretStorage,
  type SecretStorageUnlock,
  unlockOf,
} from "../secrets/secrets.ts";
import type { EnsureVerifiedOptions, ResetIdentityOptions, VerificationReport } from "./identity_crypto.ts";
import {
  assertSigning,
  hasSeeds,
  type IdentityCall,
  readSeeds,
  wipe,
  writeSeeds,
} from "./identity_secrets.ts";
import {
  authenticationOf,
  finishReset,
  handedOut,
  isPublished,
  isShown,
  makeIdentity,
  newStorage,
  otherIdentity,
  pendingKey,
} from "./new_identity.ts";

/**
 * How often it looks again, while the stored private keys are not those of the identity: so it is
 * until a device that makes one at the same time has made the backup, too.
 */
const MAX_LOOKS = 30;
/** How long it waits in between, in milliseconds. */
const BETWEEN_LOOKS = 200;

/** What has become of identity and device, and of the backup, if that was seen to with them. */
interface Settled extends Pick<VerificationReport, "state"> {
  readonly backup?: VerificationReport["backup"];
}
const VERIFIED: Settled = { state: "verified" };
const NEEDS_SECRET: Settled = { state: "needs-secret" };

/** Finds out what the account has, and goes the shortest way that replaces nothing. */
export async function ensureVerified(
  call: IdentityCall,
  options: EnsureVerifiedOptions,
): Promise<VerificationReport> {
  const { identity } = call;
  unlockOf(options); // what can't be used is refused before anything is asked
  const { state: reached, backup: made } = await settled(
    call,
    options,
    await afterReset(call, await identity.state()),
  );
  await identity.publishDevice();
  const isConfirmed = await identity.publishSignature();
  const { shown } = await identity.state();
  const master = shown?.master;
  if (reached === "needs-secret") await withoutSecret(call, shown);
  const isAtHand = reached === "verified" || reached === "bootstrapped";
  const state = isAtHand && !isConfirmed ? "unconfirmed" : reached;
  if (state === "unconfirmed") unconfirmed(call);
  if (isAtHand) await keepOpener(call);
  const backup = isAtHand && made !== "on" ? await backedUp(call, options) : made;
  if (isAtHand && backup === undefined && options.backup !== false) await asked(call); // for its key
  if (!isAtHand || options.dehydratedDevice !== true) return { state, master, backup };
  const dehydratedDevice = await call.dehydration.ensure(identity, () => opened(call, options));
  return { state, master, backup, dehydratedDevice };
}

/** Says that the server has not taken the signature of this device. */
function unconfirmed({ log }: IdentityCall): void {
  log.warn(
    "The server does not show that this device is signed by its user's identity, so that others may not trust it: " +
      "the signature is uploaded again, and ensureVerified() says what has become of it; if that lasts, verify " +
      "this device with another client of the user",
  );
}

/** The devices that were asked for secrets. That none could be is no failure of what was done. */
async function asked(call: IdentityCall): Promise<readonly DeviceID[]> {
  try {
    return (await call.identity.requestSecrets()).devices;
  } catch (error) {
    call.log.warn("Could not ask other own devices for secrets", { error: String(error) });
    return [];
  }
}

/** Asks the user's other devices, which may answer later, if this one can tell which they are. */
async function withoutSecret(call: IdentityCall, shown: OwnIdentityState["shown"]): Promise<void> {
  const devices = shown?.isVerified === true ? await asked(call) : [];
  const others = devices.length === 0 ? "" : `; ${devices.length} other devices were asked for the keys`;
  call.log.warn(
    "This device is not signed by its user's identity, so that others may not trust it: " +
      "nothing was given that opens the secret storage; give the account's recovery key or passphrase " +
      `(MATRIX_RECOVERY_KEY, or the file of MATRIX_RECOVERY_KEY_FILE, or encryption.recoveryKey)${others}`,
    { master: shown?.master },
  );
}

/** Has the backup used, or made. It needs the storage only if another one than before is there. */
async function backedUp(
  call: IdentityCall,
  options: EnsureVerifiedOptions,
): Promise<VerificationReport["backup"]> {
  if (options.backup === false) return undefined;
  return await call.backup.ensure(() => opened(call, options));
}

/** Opens the secret storage, unless it is open; undefined: nothing does. */
async function opened(
  call: IdentityCall,
  options: EnsureVerifiedOptions,
): Promise<OpenSecretStorage | undefined> {
  if (call.storage !== undefined) return call.storage;
  const { keys } = await call.identity.state();
  const by = unlockOf(options) ?? (keys?.phase === "created" ? await pendingKey(call.actor) : undefined);
  return by && await call.open(by);
}

/** The state without a new identity that was to replace the one which the server still shows. */
async function afterReset(
  { actor, identity }: IdentityCall,
  state: OwnIdentityState,
): Promise<OwnIdentityState> {
  const { keys } = state;
  if (keys?.phase !== "created" || keys.replaces !== true) return state;
  const now = await identity.look(); // it may have been published since
  if (now.keys?.master === now.shown?.master) return now;
  await actor.abandonIdentity();
  return await identity.look();
}

/**
 * The same as {@link verified}. If another device makes an identity at the same time, there is one of the
 * two, and the device that has published it stores its private keys within a few requests.
 */
async function settled(
  call: IdentityCall,
  options: EnsureVerifiedOptions,
  before: OwnIdentityState,
): Promise<Settled> {
  let state = before;
  for (let looks = 1;; looks++) {
    try {
      return await verified(call, options, state);
    } catch (error) {
      if (!isOfOther(error) || looks === MAX_LOOKS) throw error;
      await call.clock.delay(BETWEEN_LOOKS);
      await call.closeOld(); // the storage may be another one, too
      state = await call.identity.look();
    }
  }
}

/** Returns whether another device has made an identity or a secret storage meanwhile. */
function isOfOther(error: unknown): boolean {
  if (error instanceof OwnIdentityError) return error.problem === "mismatch";
  return error instanceof SecretStorageError &&
    (error.problem === "changed" || error.problem === "other-keys");
}

async function verified(
  call: IdentityCall,
  options: EnsureVerifiedOptions,
  state: OwnIdentityState,
): Promise<Settled> {
  const { shown, keys } = state;
  const signs = keys?.phase === "published" && !keys.missing?.includes("selfSigning");
  const by = unlockOf(options);
  if (shown?.isVerified === true && signs) {
    if (by === undefined) return VERIFIED;
    if (await isKnown(state, by)) return await reopened(call, state, by);
  }
  if (shown === undefined) {
    if (by === undefined && options.onRecoveryKey === undefined) return { state: "absent" };
    const made = await makeIdentity(call, options, state);
    return made === "made" ? await completed(call, options) : NEEDS_SECRET;
  }
  // A call before was cut off after it had published the identity.
  if (keys?.phase === "created" && await isPublished(call.actor)) {
    if (keys.replaces === true && !await finishReset(call, options)) return NEEDS_SECRET;
    return await completed(call, options);
  }
  return by === undefined ? NEEDS_SECRET : await adopted(call, by);
}

/**
 * Returns whether what was given has opened the storage before. A recovery key that is wrong would else be
 * noticed late.
 */
async function isKnown({ opener }: OwnIdentityState, by: SecretStorageUnlock): Promise<boolean> {
  if (opener === undefined) return false;
  return by.recoveryKey === undefined || opener.recoveryKey === await openerOf(by.recoveryKey);
}

/**
 * Opens the storage again with what has opened it before, if it has another key by now. A device that has
 * all it needs goes on if that fails, with a warning: what is lost with its store can't be had back.
 */
async function reopened(
  call: IdentityCall,
  { opener }: OwnIdentityState,
  by: SecretStorageUnlock,
): Promise<Settled> {
  const { api, log } = call;
  const named = by.recoveryKey === undefined ? "passphrase" : "recovery key";
  try {
    const keyId = await new AccountSecrets(api).defaultKeyId();
    return keyId === opener?.keyId ? VERIFIED : await adopted(call, by);
  } catch (error) {
    const isOther = error instanceof SecretStorageError || error instanceof OwnIdentityError;
    if (!isOther && !isUnanswered(error)) throw error;
    call[Symbol.dispose](); // nothing has shown that it has the private keys
    log.warn(
      isOther
        ? `The ${named} does not open the secret storage with the private keys any more, so that identity and ` +
          "history are lost with the store: give the one of now, or look with another client what has become of it"
        : `Could not look whether the ${named} opens the secret storage`,
      { error: String(error) },
    );
    return VERIFIED;
  }
}

/** Returns whether the server does not answer, or refuses to, though the token is alive. */
function isUnanswered(error: unknown): boolean {
  return error instanceof NetworkError || error instanceof ServiceResponseError ||
    (error instanceof MatrixRequestError && !(error instanceof UnknownTokenError));
}

/** Keeps what has opened the storage, once its private keys have shown to be the right ones. */
async function keepOpener({ actor, storage, recoveryKey }: IdentityCall): Promise<void> {
  if (storage === undefined) return;
  const opener: StorageOpener = {
    keyId: storage.keyId,
    ...(recoveryKey !== undefined && { recoveryKey: await openerOf(recoveryKey) }),
  };
  await actor.keepOpener(opener);
}

/**
 * Takes the private keys of an identity that is there from the secret storage.
 * What the server shows of that is read once more if they can't be taken: one altered answer ends no start.
 */
async function adopted(call: IdentityCall, by: SecretStorageUnlock): Promise<Settled> {
  try {
    return await taken(call, by, { isAsked: call.isAsked });
  } catch (error) {
    if (!isOfStorage(error)) throw error;
    const why = { error: String(error) };
    call.log.debug("Could not take the private keys from the secret storage: the server is asked again", why);
    call[Symbol.dispose]();
    call.early?.end();
    const settled = await taken(call, by, { isAsked: false });
    call.log.warn("The secret storage gave the private keys only when it was read again", why);
    return settled;
  }
}

/** Returns whether an error comes of what the server has shown of the secret storage. */
function isOfStorage(error: unknown): boolean {
  return error instanceof SecretStorageError ||
    (error instanceof OwnIdentityError && error.problem === "incomplete");
}

async function taken(
  call: IdentityCall,
  by: SecretStorageUnlock,
  { isAsked }: { readonly isAsked: boolean },
): Promise<Settled> {
  const seeds = await readSeeds(await call.open(by), {});
  try {
    assertSigning(seeds);
    const outcome = await call.identity.offer(seeds, { isAsked });
    if (outcome === "unproven") assertSigning(seeds, ["master"]); // nothing else has proven the identity
    checkOutcome(outcome);
  } finally {
    wipe(seeds);
  }
  return VERIFIED;
}

/**
 * Takes the identity that was published into use. The backup comes first: the recovery key that
 * opens the storage is remembered until then only.
 */
async function completed(call: IdentityCall, options: EnsureVerifiedOptions): Promise<Settled> {
  const { identity } = call;
  const backup = await backedUp(call, options);
  if (call.storage !== undefined) await storeAgain(call, call.storage);
  if (options.dehydratedDevice === true) await opened(call, options); // likewise
  checkOutcome(await identity.confirm());
  return { state: "bootstrapped", backup };
}

/**
 * Stores the private keys again, if they are those of the identity that the server shows and the storage
 * has others: another device that started at the same time may have stored its own, and not published it.
 */
async function storeAgain({ actor, identity }: IdentityCall, storage: OpenSecretStorage): Promise<void> {
  await identity.look();
  const { seeds } = await actor.createIdentity({});
  try {
    const isOurs = await isShown(actor, seeds);
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

/** It is to replace one that is published. */
const REPLACES = { replaces: true } as const;

/** Replaces the identity, or makes one if there is none. */
export async function resetIdentity(
  call: IdentityCall,
  { confirm, ...options }: ResetIdentityOptions,
): Promise<VerificationReport> {
  const { actor, identity, api } = call;
  const by = unlockOf(options);
  if (by === undefined && options.onRecoveryKey === undefined) {
    throw new ValueError(
      "Cannot reset the identity: nothing would keep its private keys; give recoveryKey, passphrase or onRecoveryKey",
    );
  }
  const { shown } = await identity.look();
  if (shown === undefined) return await ensureVerified(call, options);
  const hasStorage = await new AccountSecrets(api).defaultKeyId() !== undefined;
  const storage = by !== undefined && hasStorage ? await call.open(by) : undefined;
  const { userId, master } = shown;
  const devices = (await actor.devicesOf([userId]))
    .filter(isVouchedFor)
    .map(({ deviceId }) => deviceId);
  const secretStorage = storage === undefined && hasStorage ? "replaced" : "kept";
  if (await confirm({ master, devices, secretStorage }) !== true) {
    return { state: "declined", master, backup: undefined };
  }

  const made = await actor.createIdentity(REPLACES);
  let isSent = false;
  try {
    if (storage === undefined && hasStorage) await handedOut(actor, options, made);
    else if (!hasStorage) await newStorage(call, options);
    const { masterKey, selfSigningKey, userSigningKey } = made;
    const authentication = authenticationOf(options);
    isSent = true;
    await api.uploadCrossSigningKeys({ masterKey, selfSigningKey, userSigningKey, authentication });
  } catch (error) {
    if (!isSent || isRefusal(error)) await actor.abandonIdentity();
    throw error;
  } finally {
    wipe(made.seeds);
  }
  const report = await ensureVerified(call, options);
  return { ...report, state: report.state === "unconfirmed" ? "unconfirmed" : "reset" };
}

/** Returns whether the server has said no: what could not be asked may have been done. */
function isRefusal(error: unknown): boolean {
  return error instanceof MatrixRequestError && error.status >= 400 && error.status < 500;
}
