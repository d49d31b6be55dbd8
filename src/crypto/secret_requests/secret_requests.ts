/**
 * Secrets that other own devices are asked for: the private keys of the own identity, and the key of
 * the backup.
 *
 * Only own devices that are verified are asked, and only those that were asked may answer, for a
 * while; what they send counts if it belongs to the public key that is known.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#sharing | Sharing secrets}
 * @module
 */

import { elapsed } from "../../base/clock.ts";
import { readPublicKey, type ShownVersion } from "../../types/checks/room_keys.ts";
import { BACKUP_SECRET, type KeyBackup } from "../backup/backup.ts";
import type { CryptoDevice, DeviceLists } from "../devices/mod.ts";
import { decodeBase64 } from "../../types/base64.ts";
import type { CryptoContext } from "../context/context.ts";
import {
  type IdentitySeeds,
  type OwnIdentity,
  SEED_NAMES,
  SEED_SECRETS,
  seedNameOf,
} from "../identity/identity.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import type { DeviceID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import {
  asked,
  type AskedDevices,
  checkedAnswer,
  devicesToAsk,
  type OlmAnswer,
  tellAsked,
} from "../key_requests/key_requests.ts";
import type { Outbox } from "../requests/requests.ts";

export { SecretAnswers } from "./secret_answers.ts";

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
