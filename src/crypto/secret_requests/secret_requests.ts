/**
 * Secrets that other own devices are asked for, and that they ask for: the private keys of the own identity,
 * and the key of the backup.
 *
 * Only own devices that are verified are asked, and only those that were asked may answer, for a while; what
 * they send counts if it belongs to the public key that is known.
 *
 * Secrets go to own devices that are verified, and to nobody else: who has them can sign in the user's name,
 * or read the backup. A device that is not verified yet may be within minutes, and gets them then.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#sharing | Sharing secrets}
 *
 * Over 300 lines because requests and answers are the two ends of one protocol.
 *
 * @module
 */

import { elapsed } from "../../base/clock.ts";
import { decodeBase64, encodeBase64 } from "../../types/base64.ts";
import { isOpaqueId, readPublicKey, type ShownVersion } from "../../types/identifiers.ts";
import type { ToDeviceEvent } from "../../types/events/event.ts";
import type { DeviceID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { BACKUP_SECRET, backupSecret, type KeyBackup } from "../backup/backup.ts";
import { type CryptoContext, newTxn } from "../context/context.ts";
import type { CryptoDevice, DeviceLists } from "../devices/mod.ts";
import {
  type IdentitySeeds,
  type OwnIdentity,
  SEED_NAMES,
  SEED_SECRETS,
  seedNameOf,
} from "../identity/identity.ts";
import {
  asked,
  type AskedDevices,
  checkedAnswer,
  devicesToAsk,
  type OlmAnswer,
  tellAsked,
} from "../key_requests/key_requests.ts";
import type { OlmChannels, OlmClaims } from "../olm/olm.ts";
import { FairRecords, type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import { type Outbox, SharedRateLimit } from "../requests/requests.ts";

/** What is asked for. */
export interface WantedSecrets {
  /** The version of the backup that the server shows; absent, or unusable: its key is not asked for. */
  readonly backup?: ShownVersion;
}

/** What was asked for, and whom. */
export interface AskedSecrets {
  /** The names of the secrets. */
  readonly names: readonly string[];
  /** Those that were asked. */
  readonly devices: readonly DeviceID[];
}

interface SecretRequest extends AskedDevices {
  readonly name: string;
  /** When, in milliseconds since the epoch. */
  readonly askedAt: number;
  /** The version of the backup, if it is its key. */
  readonly backup?: ShownVersion;
}

const KIND = "secret_request";

/** How long an answer is awaited, in milliseconds: the user has just verified, or started, the device. */
const ANSWER_TIME = 15 * 60_000;

/** How soon they are not asked again, in milliseconds. */
const PATIENCE = 60_000;

/** No more devices are asked. */
const MAX_DEVICES = 50;

const SEED_BYTES = 32;

export class SecretRequests {
  readonly #options;
  readonly #requests = new Map<string, SecretRequest>();

  /** @param options The parts that it needs. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    /** The own devices. */
    readonly devices: Pick<DeviceLists, "devicesOf">;
    /** Takes private keys of the own identity. */
    readonly ownIdentity: Pick<OwnIdentity, "known" | "receive">;
    /** Takes the key of the backup. */
    readonly backup: Pick<KeyBackup, "used" | "adopt">;
    /** What is on its way to the server. */
    readonly outbox: Pick<Outbox, "add">;
  }) {
    this.#options = options;
  }

  /** Reads what an earlier process has left. */
  async load(tx: Transaction): Promise<void> {
    for (const [, request] of await tx.list<SecretRequest>(KIND)) this.#requests.set(request.name, request);
  }

  /**
   * Asks the own verified devices for the secrets that are not here. What was asked for a minute ago is
   * awaited still; older requests count no more.
   */
  async want(tx: Transaction, wanted: WantedSecrets = {}): Promise<AskedSecrets> {
    const backup = neededOf(wanted.backup);
    const { context: { uniqueId, clock } } = this.#options;
    const devices = (await devicesToAsk(tx, this.#options)).slice(0, MAX_DEVICES);
    const names = this.#missing(backup);
    if (devices.length === 0 || names.length === 0) return { names: [], devices: [] };
    for (const name of names) {
      if (this.#isFresh(name, devices)) continue;
      this.#forget(tx, name);
      const request: SecretRequest = {
        name,
        requestId: uniqueId(),
        devices: asked(devices),
        askedAt: clock.now(),
        ...(seedNameOf(name) === undefined && { backup }),
      };
      tx.set(requestKey(name), request);
      this.#change(tx, name, request);
      this.#send(tx, request, { action: "request", name });
    }
    return { names, devices: devices.map(({ deviceId }) => deviceId) };
  }

  /** Receives a secret, and cancels the request at the other devices. */
  async receive(tx: Transaction, { sender, device, content }: OlmAnswer): Promise<void> {
    const { context: { own, log, clock } } = this.#options;
    const { request_id: id, secret } = content;
    const ignore = (reason: string): void => log.warn("Ignored a secret", { sender, reason });
    const requested = [...this.#requests.values()].find(({ requestId }) => requestId === id);
    const answer = checkedAnswer(own.userId, { sender, device }, requested);
    if (typeof answer === "string") return ignore(answer);
    const { request, device: { deviceId } } = answer;
    if (elapsed(clock.now(), request.askedAt) > ANSWER_TIME) return ignore("it came too late");
    if (typeof secret !== "string" || !await this.#take(tx, request, secret)) {
      return ignore("it is not what belongs to the public key");
    }
    log.info("Received a secret of another own device", { name: request.name, deviceId });
    this.#forget(tx, request.name);
  }

  /** Returns whether the same devices were asked just now. */
  #isFresh(name: string, asked: readonly CryptoDevice[]): boolean {
    const { devices = [], askedAt } = this.#requests.get(name) ?? {};
    if (elapsed(this.#options.context.clock.now(), askedAt) > PATIENCE) return false;
    return asked.every(({ deviceId }) => devices.some((device) => device.deviceId === deviceId));
  }

  /** The secrets that are not here. */
  #missing(backup: ShownVersion | undefined): string[] {
    const { known } = this.#options.ownIdentity;
    const missing = known === undefined ? SEED_NAMES : known.missing ?? []; // of a new identity all are here
    const names = missing.map((name) => SEED_SECRETS[name]);
    const { used } = this.#options.backup;
    const isHere = used?.privateKey !== undefined && used.phase === "on" && used.version === backup?.version;
    return backup === undefined || isHere ? names : [...names, BACKUP_SECRET];
  }

  async #take(tx: Transaction, { name, backup }: SecretRequest, secret: string): Promise<boolean> {
    const { backup: keyBackup, ownIdentity } = this.#options;
    if (backup !== undefined) return keyBackup.adopt(tx, { shown: backup, secret }) === "adopted";
    const seedName = seedNameOf(name);
    const seed = decodeBase64(secret);
    if (seedName === undefined || seed?.length !== SEED_BYTES) return false;
    const seeds: Partial<IdentitySeeds> = { [seedName]: seed };
    const outcome = await ownIdentity.receive(tx, seeds);
    seed.fill(0);
    tx.leadsToRequest = true; // the own device may be signed now
    return outcome === "adopted";
  }

  /** Ends a request, if there is one: nobody need answer it any more. */
  #forget(tx: Transaction, name: string): void {
    const request = this.#requests.get(name);
    if (request === undefined) return;
    tx.delete(requestKey(name));
    this.#change(tx, name, undefined);
    this.#send(tx, request, { action: "request_cancellation" });
  }

  #send(tx: Transaction, request: SecretRequest, what: JsonObject): void {
    tellAsked(tx, this.#options, { eventType: "m.secret.request", request, what });
  }

  /** A step sees its own changes. */
  #change(tx: Transaction, name: string, request: SecretRequest | undefined): void {
    const before = this.#requests.get(name);
    this.#put(name, request);
    tx.onAbort(() => this.#put(name, before));
  }

  #put(name: string, request: SecretRequest | undefined): void {
    if (request === undefined) this.#requests.delete(name);
    else this.#requests.set(name, request);
  }
}

function requestKey(name: string): RecordKey<SecretRequest> {
  return { ...recordKey<SecretRequest>(KIND, name), held: true };
}

/** What a key must fit, of a version that can be used: nothing else of what the server says is kept. */
function neededOf(shown: ShownVersion | undefined): ShownVersion | undefined {
  const public_key = shown && readPublicKey(shown);
  if (shown === undefined || public_key === undefined) return undefined;
  return { version: shown.version, algorithm: shown.algorithm, auth_data: { public_key } };
}

/** Which device asks, and how the request is called. */
interface Asker {
  readonly deviceId: DeviceID;
  readonly requestId: string;
}

/** A request that waits for the device to be verified, or for an Olm session with it. */
interface PendingSecret extends Asker {
  readonly name: string;
  /** When it came, in milliseconds since the epoch. */
  readonly since: number;
}

/** How many requests wait, of all devices; the oldest of the device with the most is dropped. */
const MAX_PENDING = 40;
/** How long they wait, in milliseconds: as long as one asks after it was verified. */
const PENDING_TIME = 15 * 60_000;
/** How often a device is answered an hour, and all together. */
const PER_DEVICE = { times: 20, periodMs: 3_600_000 };
const MAX_IN_ALL = 100;

/** Answers requests for secrets. */
export class SecretAnswers {
  readonly #options;
  readonly #pending = new FairRecords<PendingSecret, Asker>(
    "secret_answer",
    MAX_PENDING,
    ({ deviceId, requestId }) => [deviceId, requestId],
  );
  readonly #limit: SharedRateLimit;

  /** @param options The parts that it needs. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    /** The own devices. */
    readonly devices: Pick<DeviceLists, "device">;
    readonly olm: Pick<OlmChannels, "encrypt"> & { readonly claims: Pick<OlmClaims, "want"> };
    /** What is on its way to the server. */
    readonly outbox: Pick<Outbox, "add">;
    /** The private keys. */
    readonly ownIdentity: Pick<OwnIdentity, "seedOf">;
    readonly backup: Pick<KeyBackup, "used">;
  }) {
    this.#options = options;
    this.#limit = new SharedRateLimit(options.context.clock, PER_DEVICE, MAX_IN_ALL);
  }

  /** Reads what an earlier process has left. */
  async load(tx: Transaction): Promise<void> {
    await this.#pending.load(tx);
  }

  /** Receives an `m.secret.request`, which comes in clear: only the answer is a secret. */
  async receive(tx: Transaction, { sender, content }: ToDeviceEvent): Promise<void> {
    const { own, clock } = this.#options.context;
    const { action, requesting_device_id: deviceId, request_id: requestId, name } = content;
    if (sender !== own.userId || deviceId === own.deviceId) return;
    if (!isOpaqueId(deviceId) || !isOpaqueId(requestId)) return;
    if (action === "request_cancellation") return this.#pending.delete(tx, { deviceId, requestId });
    if (action !== "request" || typeof name !== "string" || !NAMES.has(name)) return;
    await this.#answer(tx, { deviceId, requestId, name, since: clock.now() });
  }

  /** Answers the requests that had to wait: their devices may be verified now, or reachable. */
  async retry(tx: Transaction): Promise<void> {
    for (const pending of this.#pending.values) {
      this.#pending.delete(tx, pending);
      await this.#answer(tx, pending);
    }
  }

  async #answer(tx: Transaction, asked: PendingSecret): Promise<void> {
    const { context: { own, log, clock }, devices, olm } = this.#options;
    const { deviceId, name, requestId } = asked;
    if (elapsed(clock.now(), asked.since) > PENDING_TIME) return;
    const device = await devices.device(tx, own.userId, deviceId);
    if (device?.trust === "blacklisted" || device?.isDehydrated) return;
    if (device?.trust !== "verified") {
      log.debug("A device that is not verified asks for a secret", { deviceId, name });
      return this.#pending.set(tx, asked);
    }
    const secret = await this.#secret(tx, name);
    if (secret === undefined) return;
    const encrypted = await olm.encrypt(tx, device, "m.secret.send", { request_id: requestId, secret });
    if (encrypted === undefined) {
      this.#pending.set(tx, asked);
      return await olm.claims.want(tx, [device]);
    }
    if (!this.#limit.take(deviceId)) {
      return log.warn("A device asks for too many secrets", { deviceId });
    }
    log.info("Sent a secret to another own device that is verified", { deviceId, name });
    this.#send(tx, deviceId, encrypted);
  }

  async #secret(tx: Transaction, name: string): Promise<string | undefined> {
    const { ownIdentity, backup: { used } } = this.#options;
    const seedName = seedNameOf(name);
    if (seedName === undefined) {
      const { privateKey, phase } = used ?? {};
      return privateKey !== undefined && phase === "on" ? backupSecret(privateKey) : undefined;
    }
    const seed = await ownIdentity.seedOf(tx, seedName);
    const secret = seed && encodeBase64(seed);
    seed?.fill(0);
    return secret;
  }

  #send(tx: Transaction, deviceId: DeviceID, content: JsonObject): void {
    const { context, outbox } = this.#options;
    const messages = { [context.own.userId]: { [deviceId]: content } };
    outbox.add(tx, { kind: "toDevice", eventType: "m.room.encrypted", messages }, newTxn(context));
  }
}

/** What is given: nothing else is kept here. */
const NAMES: ReadonlySet<string> = new Set([...Object.values(SEED_SECRETS), BACKUP_SECRET]);
