/**
 * Has the account have a dehydrated device, after what was sent to the one before was read.
 *
 * The one that is there is replaced, and never deleted before: so there is always one that receives
 * keys. Its key is in the secret storage before the first one is made with it.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
 * @module
 */

import type { CryptoHandlers, EngineRunner } from "../actors/crypto/crypto.ts";
import { ActorError, type ActorRef, ActorStoppedError } from "../actors/kernel/mod.ts";
import type { SecretKeeper } from "./backup/backup.ts";
import { elapsed } from "../base/clock.ts";
import {
  type DehydrationState,
  PICKLE_KEY_SECRETS,
  type ReadingState,
  type RehydratedOutput,
  type RehydratedPage,
} from "../crypto/dehydration/dehydration.ts";
import { isOwnDehydrated } from "../crypto/devices/mod.ts";
import { ForbiddenError, undefinedIfNotFound, UnrecognizedError } from "../errors/errcodes.ts";
import { SecretStorageError } from "../errors/encryption_error.ts";
import type {
  DehydratedDevice,
  DehydratedDeviceEvents,
  DehydratedDeviceUpload,
} from "../types/api/device_keys.ts";
import type { DeviceID } from "../types/ids.ts";
import type { AllAPI } from "../api/api.ts";
import type { OwnIdentityState } from "../crypto/engine/engine.ts";

/** How old a device may be, in milliseconds: its one-time keys are used up by and by. */
const LIFETIME = 7 * 86_400_000;
/** How often a device is read that other clients replace meanwhile. */
const MAX_ROUNDS = 3;

/**
 * Has the account have one. Never rejects.
 *
 * @param open Opens the secret storage; undefined: nothing does.
 */
export async function ensureDehydrated(
  engine: EngineRunner,
  api: DehydrationAPI,
  identity: ShownIdentity,
  open: () => Promise<SecretKeeper | undefined>,
): Promise<DehydrationOutcome> {
  try {
    return await ensured(engine, api, identity, open);
  } catch (error) {
    if (error instanceof UnrecognizedError) return "unsupported";
    engine.log.warn("Could not renew the dehydrated device", { error: String(error) });
    return "failed";
  }
}

async function ensured(
  engine: EngineRunner,
  api: DehydrationAPI,
  identity: ShownIdentity,
  open: () => Promise<SecretKeeper | undefined>,
): Promise<DehydrationOutcome> {
  const { actor, clock, log, signal } = engine;
  const state = await actor.dehydrationState();
  const { made } = state;
  const isFresh = made !== undefined && elapsed(clock.now(), made.at) < LIFETIME;
  if (isFresh && made.isUploaded && !state.isKeyOld && await isListed(actor, identity)) {
    if (state.reading !== undefined) await clearRehydration(actor);
    return "on";
  }
  if (!state.canSign) return "no-secret"; // before the stored key is replaced for a device that can't be made
  let shown = await present(engine, api);
  // Its answer was lost, unless it is not signed any more.
  if (isFresh && !state.isKeyOld && shown?.device_id === made.deviceId) {
    await actor.dehydratedUploaded(made.deviceId);
    await identity.look();
    if (await isListed(actor, identity)) return "on";
  }
  const storage = await open();
  const keyed = await withKey(actor, storage, state);
  if (keyed !== undefined) return keyed;
  for (let round = 0; shown !== undefined && shown.device_id !== made?.deviceId; round++) {
    if (await rehydrate(engine, api, shown)) break;
    if (round === MAX_ROUNDS) break;
    shown = await present(engine, api);
  }
  if (state.isKeyOld && storage !== undefined) await renewKey(actor, storage);
  const upload = await actor.createDehydrated();
  if (upload === undefined) return "no-secret";
  await api.uploadDehydratedDevice(upload, { signal });
  await actor.dehydratedUploaded(upload.device_id);
  await announce(engine, api, upload);
  await clearRehydration(actor);
  await identity.look();
  log.info("Made a dehydrated device, which receives keys while no other device is there", {
    deviceId: upload.device_id,
  });
  return "on";
}

/** Returns whether the server shows a dehydrated device that the own identity has signed. */
async function isListed(actor: ActorRef<CryptoHandlers>, identity: ShownIdentity): Promise<boolean> {
  const { shown } = await identity.state();
  const devices = shown === undefined ? [] : await actor.devicesOf([shown.userId]);
  return devices.some(isOwnDehydrated);
}

async function present({ signal }: EngineRunner, api: DehydrationAPI): Promise<DehydratedDevice | undefined> {
  return await api.getDehydratedDevice({ signal }).catch(undefinedIfNotFound);
}

/** Has the key at hand that the secret storage has; returns why there is none. */
async function withKey(
  actor: ActorRef<CryptoHandlers>,
  storage: SecretKeeper | undefined,
  { hasKey, isKeyOld }: DehydrationState,
): Promise<"no-secret" | "unusable" | undefined> {
  if (storage === undefined) return hasKey && !isKeyOld ? undefined : "no-secret";
  let key = await storedKey(storage);
  if (key === undefined) {
    const secret = await actor.pickleKeyToStore();
    await storage.set(PICKLE_KEY_SECRETS[0], secret);
    key = await storedKey(storage) ?? secret; // another client may have been faster, or slower
  }
  return await actor.keepPickleKey(key) ? undefined : "unusable";
}

/** Puts another key in the place of one that may be known, wherever that is stored. */
async function renewKey(actor: ActorRef<CryptoHandlers>, storage: SecretKeeper): Promise<void> {
  const secret = await actor.renewPickleKey();
  for (const name of PICKLE_KEY_SECRETS) {
    const isStored = await secretOf(storage, name) !== undefined;
    if (isStored || name === PICKLE_KEY_SECRETS[0]) await storage.set(name, secret, { alone: true });
  }
  await actor.pickleKeyRenewed();
}

/** Reads what is stored as the key; undefined: nothing for this key of the storage. */
async function storedKey(storage: SecretKeeper): Promise<string | undefined> {
  for (const name of PICKLE_KEY_SECRETS) {
    const secret = await secretOf(storage, name);
    if (secret !== undefined) return secret;
  }
  return undefined;
}

async function secretOf(storage: SecretKeeper, name: string): Promise<string | undefined> {
  try {
    return await storage.get(name);
  } catch (error) {
    if (error instanceof SecretStorageError && error.problem === "other-keys") return undefined;
    throw error;
  }
}

/**
 * Has others look once more: Synapse tells them of the device before it has stored its keys, so that
 * who looks at once finds none.
 */
async function announce(
  { log, signal }: EngineRunner,
  api: DehydrationAPI,
  { device_id, device_keys }: DehydratedDeviceUpload,
): Promise<void> {
  try {
    await api.uploadSignatures({ [device_keys.user_id]: { [device_id]: device_keys } }, { signal });
  } catch (error) {
    log.debug("Could not announce the dehydrated device once more", { error: String(error) });
  }
}

/** How many messages the engine receives in one step. */
const STEP = 100;

/**
 * Reads a device to its end, from where an earlier process has left it.
 *
 * @returns Whether it need not be asked for again: false if another client has replaced it meanwhile.
 */
async function rehydrate(
  engine: EngineRunner,
  api: DehydrationAPI,
  device: DehydratedDevice,
): Promise<boolean> {
  const { actor, log } = engine;
  const { device_id: deviceId } = device;
  let outcome = await actor.beginRehydration(device);
  if (outcome === "busy") {
    await clearRehydration(actor);
    outcome = await actor.beginRehydration(device);
  }
  if (outcome !== "reading") {
    log.warn(
      "The dehydrated device can't be read, and is replaced: it was made with another key than the stored one, " +
        "or the server has changed it",
      { deviceId },
    );
    return true;
  }
  let { reading } = await actor.dehydrationState();
  while (reading?.isRead === false) {
    const page = await pageOf(engine, api, { deviceId, from: reading.from });
    if (page === undefined) return false;
    reading = await received(engine, deviceId, page);
  }
  const { messages, keys } = reading ?? {};
  log.info("Read what was sent to the dehydrated device", { deviceId, messages, keys });
  return true;
}

/** Clears what is left of a device that was read. */
async function clearRehydration(actor: ActorRef<CryptoHandlers>): Promise<void> {
  while (!await actor.clearRehydration());
}

/** A page; undefined: the device is not the account's any more. */
async function pageOf(
  { signal }: EngineRunner,
  api: DehydrationAPI,
  { deviceId, from }: Pick<ReadingState, "deviceId" | "from">,
): Promise<DehydratedDeviceEvents | undefined> {
  try {
    return await api.getDehydratedDeviceEvents(deviceId, { from, signal });
  } catch (error) {
    if (error instanceof ForbiddenError) return undefined;
    throw error;
  }
}

/** Has a page received: the next one begins only when all of this one is durable. */
async function received(
  engine: EngineRunner,
  deviceId: DeviceID,
  { events, next_batch }: DehydratedDeviceEvents,
): Promise<ReadingState | undefined> {
  const from = events.length === 0 ? undefined : next_batch ?? undefined;
  for (let start = 0;; start += STEP) {
    const isLast = start + STEP >= events.length;
    const some = events.slice(start, start + STEP);
    const { reading } = await taken(engine, { deviceId, events: some, ...(isLast && { next: { from } }) });
    if (isLast) return reading;
  }
}

/** If a message fails the step in an unforeseen way, that one is left out: it would come each time. */
async function taken(engine: EngineRunner, page: RehydratedPage): Promise<RehydratedOutput> {
  try {
    return await step(engine, page);
  } catch {
    const { deviceId } = page;
    for (const event of page.events) {
      await step(engine, { deviceId, events: [event] }).catch((cause) => {
        if (cause instanceof ActorError || cause instanceof ActorStoppedError) throw cause;
        engine.log.error("Skipped a message to the dehydrated device", { error: String(cause) });
      });
    }
    return await step(engine, { ...page, events: [] });
  }
}

async function step(engine: EngineRunner, page: RehydratedPage): Promise<RehydratedOutput> {
  const output = await engine.actor.receiveRehydrated(page);
  engine.deliver(output.recovered);
  engine.requests.wake();
  return output;
}

/**
 * What has become of the dehydrated device:
 *
 * - `on`: the account has one, made by this device not a week ago, or by another one of the user; what
 *   was sent to one before is read;
 * - `unsupported`: the server has none;
 * - `no-secret`: its key is not here, and nothing was given that opens the secret storage;
 * - `unusable`: what the secret storage has as its key is none. Nothing was changed;
 * - `failed`: something else went wrong, as the log says; it is tried again in an hour, and with the
 *   next start.
 */
export type DehydrationOutcome = "on" | "unsupported" | "no-secret" | "unusable" | "failed";

/** The operations that a dehydrated device is made with. */
export type DehydrationAPI = Pick<
  AllAPI,
  "getDehydratedDevice" | "uploadDehydratedDevice" | "getDehydratedDeviceEvents" | "uploadSignatures"
>;

/** What the server shows of the own user. */
export interface ShownIdentity {
  /** The own identity; the server is asked if it may have changed. */
  state(): Promise<OwnIdentityState>;
  /** The same, when the server is asked now. */
  look(): Promise<OwnIdentityState>;
}
