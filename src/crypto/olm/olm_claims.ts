/**
 * Which devices need an Olm session, when their one-time keys are claimed, and how sessions are started from
 * the keys that servers hand out.
 *
 * Over 300 lines because a claimed key is a session at once.
 *
 * @module
 */

import { type OlmSession, type Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import { withPauses } from "../../base/runs.ts";
import { isKey } from "../../types/base64.ts";
import { serverOf } from "../../types/identifiers.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../types/json.ts";
import { type OwnKeys, SIGNED_CURVE25519 } from "../account/account.ts";
import type { CryptoContext } from "../context/context.ts";
import type { CryptoDevice, KnownDevices } from "../devices/mod.ts";
import { verifySignedJson } from "../encoding/encoding.ts";
import { DEVICES_A_TURN, type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import { LoneFailures, Retries } from "../requests/requests.ts";
import type { OlmSessions } from "./olm_sessions.ts";

/** How many devices one request may name. */
const MAX_DEVICES = 250;
/** How long to wait after a device had no key left, in milliseconds. */
const DEVICE_WAIT = { base: 5_000, cap: 900_000 };
/** How long to wait after a server could not be reached, in milliseconds. */
const SERVER_WAIT = { base: 15_000, cap: 900_000 };
/**
 * How long to wait after a whole request has failed, in milliseconds: rooms that need keys wait as
 * long.
 */
const REQUEST_WAIT = { base: 1_000, cap: 60_000 };
/** How often a device may have no key before it is given up: for a little more than an hour. */
const MAX_TRIES = 12;
/** Of how many devices and servers failures are remembered. */
const MAX_REMEMBERED = 10_000;

/** A device that needs a session. */
interface WantedDevice {
  readonly userId: UserID;
  readonly deviceId: DeviceID;
  /**
   * Whether its messages can't be decrypted: it gets an empty message over the new session
   * immediately.
   */
  readonly wedged: boolean;
}

/** A device, by its name. */
export type DeviceRef = Pick<WantedDevice, "userId" | "deviceId">;

/** A request for one-time keys. */
export interface KeyClaim {
  /** Its unique ID. */
  readonly id: string;
  /** The algorithm of the key that is asked for, by user and device. */
  readonly oneTimeKeys: Readonly<Record<UserID, Readonly<Record<DeviceID, string>>>>;
}

/** How a request failed. */
interface ClaimFailure {
  /** The time, in milliseconds since the epoch. */
  readonly now: number;
  /** Whether the server refused it as such, and would again. */
  readonly refused: boolean;
  /** Whether the server failed over it. */
  readonly answered: boolean;
}

/** Keeps which devices need a session, durably, and which of them are being asked for. */
export class OlmClaims {
  readonly #uniqueId: () => string;
  readonly #wanted = new Map<string, WantedDevice>();
  /** The devices of each request that is on its way. */
  readonly #underway = new Map<string, readonly string[]>();
  readonly #claimed = new Set<string>();
  readonly #devices = new Retries<string>(DEVICE_WAIT, MAX_REMEMBERED);
  readonly #servers = new Retries<string>(SERVER_WAIT, MAX_REMEMBERED);
  /** Devices for which a request failed as a whole. */
  readonly #requests = new Retries<string>(REQUEST_WAIT, MAX_REMEMBERED);
  /**
   * Devices whose request failed: the size of their next request, and how many requests had been
   * answered by then.
   */
  readonly #groups = new Map<string, { readonly size: number; readonly answered: number }>();
  readonly #lone: LoneFailures;
  #answered = 0;

  /** @param context What the parts share. */
  constructor({ uniqueId, server }: Pick<CryptoContext, "uniqueId" | "server">) {
    this.#uniqueId = uniqueId;
    this.#lone = new LoneFailures(server);
  }

  /** Reads the state that is kept in memory. */
  async load(tx: Transaction): Promise<void> {
    this.#wanted.clear();
    for (const [, wanted] of await tx.list<WantedDevice>("olm-wanted")) {
      this.#wanted.set(wantedKey(wanted).id, wanted);
    }
  }

  /**
   * Adds devices that need a session. It survives a restart.
   *
   * @param options.wedged Whether their messages can't be decrypted. Default: false.
   */
  async want(
    tx: Transaction,
    devices: readonly DeviceRef[],
    { wedged = false }: { readonly wedged?: boolean } = {},
  ): Promise<void> {
    const known = await tx.getMany(devices.map(wantedKey));
    for (const [index, { userId, deviceId }] of devices.entries()) {
      const before = known[index];
      if (before !== undefined && (before.wedged || !wedged)) continue;
      const wanted = { userId, deviceId, wedged };
      tx.set(wantedKey(wanted), wanted);
      tx.leadsToRequest = true;
      tx.onCommit(() => this.#wanted.set(wantedKey(wanted).id, wanted));
    }
  }

  /** Removes a device: it needs no session any more. */
  async unwant(tx: Transaction, device: DeviceRef): Promise<void> {
    const key = wantedKey(device);
    if (await tx.get(key) === undefined) return;
    tx.delete(key);
    tx.onCommit(() => {
      this.#wanted.delete(key.id);
      this.#groups.delete(key.id);
      this.#lone.forget(key.id);
    });
  }

  /** All devices that need a session. */
  all(): DeviceRef[] {
    return [...this.#wanted.values()];
  }

  /** Returns whether a device is known to be wedged. */
  async isWedged(tx: Transaction, device: DeviceRef): Promise<boolean> {
    return (await tx.get(wantedKey(device)))?.wedged ?? false;
  }

  /** Returns whether a key of a device may come soon: none was missing lately, and its server answers. */
  isPromising(device: DeviceRef, now: number): boolean {
    return this.#devices.isOver(wantedKey(device).id, now) &&
      this.#servers.isOver(serverOf(device.userId), now);
  }

  /**
   * The next request, for at most 250 devices; undefined if there is nothing to ask for now. A
   * device is in one request at a time.
   */
  next(now: number): KeyClaim | undefined {
    const ids: string[] = [];
    let limit = MAX_DEVICES;
    // A device may have any name.
    const oneTimeKeys: Record<UserID, Record<DeviceID, string>> = Object.create(null);
    for (const [id, device] of this.#wanted) {
      if (this.#claimed.has(id) || this.#wait(id, device, now) > 0) continue;
      const group = this.#groups.get(id)?.size ?? MAX_DEVICES;
      if (ids.length >= group) continue;
      limit = Math.min(limit, group);
      const ofUser = oneTimeKeys[device.userId] ??= Object.create(null) as Record<DeviceID, string>;
      ofUser[device.deviceId] = SIGNED_CURVE25519;
      if (ids.push(id) >= limit) break;
    }
    if (ids.length === 0) return undefined;
    const claim = { id: this.#uniqueId(), oneTimeKeys };
    this.#underway.set(claim.id, ids);
    for (const id of ids) this.#claimed.add(id);
    return claim;
  }

  /** In how many milliseconds a waiting device may be asked for; infinity: none waits. */
  nextIn(now: number): number {
    let next = Infinity;
    for (const [id, device] of this.#wanted) {
      if (!this.#claimed.has(id)) next = Math.min(next, this.#wait(id, device, now));
    }
    return next;
  }

  /** Notes that a request was answered. */
  answered(tx: Transaction, { id }: KeyClaim): void {
    tx.onCommit(() => {
      for (const device of this.#underway.get(id) ?? []) {
        this.#groups.delete(device);
        this.#lone.forget(device);
        this.#requests.forget(device);
      }
      this.#release(id);
      this.#answered++;
    });
    tx.onAbort(() => this.#release(id));
  }

  /**
   * Notes that a whole request failed. One that was refused, or over which the server fails again
   * and again, is made for fewer devices at once, until the devices at fault are alone; those are
   * not waited for. Nor is one that was alone from the start, if the server answers other requests.
   */
  failed({ id }: KeyClaim, { now, refused, answered }: ClaimFailure): void {
    const devices = this.#underway.get(id) ?? [];
    const isRepeated = devices.some((device) => this.#requests.failures(device) > 0);
    this.#release(id);
    if (!refused) { for (const device of devices) this.#requests.failed(device, now); }
    if (devices.length > 1 && (refused || answered && isRepeated)) {
      const group = { size: Math.ceil(devices.length / 4), answered: this.#answered };
      for (const device of devices) this.#groups.set(device, group);
      return;
    }
    const [device, ...others] = devices;
    if (device === undefined || others.length > 0) return;
    const before = this.#groups.get(device)?.answered ?? Infinity;
    const isLone = answered && this.#lone.failed(device);
    if (refused || isLone || answered && this.#answered > before) this.#devices.failed(device, now);
  }

  /** Lets devices be asked for at once although a request failed: who needs them has waited for that. */
  endWait(devices: readonly DeviceRef[]): void {
    for (const device of devices) this.#requests.endWait(wantedKey(device).id);
  }

  /**
   * Notes that a device has no one-time key left. It is asked for again at growing distances, and
   * given up in the end.
   */
  async exhausted(tx: Transaction, device: DeviceRef, now: number): Promise<void> {
    const { id } = wantedKey(device);
    if (this.#devices.failures(id) + 1 >= MAX_TRIES) await this.unwant(tx, device);
    tx.onCommit(() => this.#devices.failed(id, now));
  }

  /** Notes that a device has a session now. */
  async established(tx: Transaction, device: DeviceRef): Promise<void> {
    await this.unwant(tx, device);
    tx.leadsToRequest = true; // other devices of the server may be asked for again
    tx.onCommit(() => {
      this.#devices.forget(wantedKey(device).id);
      this.#servers.forget(serverOf(device.userId));
    });
  }

  /** Notes that servers could not be reached. */
  unreachable(tx: Transaction, servers: readonly string[], now: number): void {
    tx.onCommit(() => {
      for (const server of servers) this.#servers.failed(server, now);
    });
  }

  /** Returns the wait of a device that is left, in milliseconds. */
  #wait(id: string, { userId }: DeviceRef, now: number): number {
    const own = Math.max(this.#requests.wait(id, now), this.#devices.wait(id, now));
    return Math.max(own, this.#servers.wait(serverOf(userId), now));
  }

  #release(claimId: string): void {
    for (const id of this.#underway.get(claimId) ?? []) this.#claimed.delete(id);
    this.#underway.delete(claimId);
  }
}

function wantedKey({ userId, deviceId }: DeviceRef): RecordKey<WantedDevice> {
  return recordKey("olm-wanted", userId, deviceId);
}

/** How many servers' failures are read. */
const MAX_SERVERS = 10_000;

/**
 * The key of a device in the response to a claim; undefined if there is none that the device has
 * signed.
 */
function claimedKey(vodozemac: Vodozemac, response: JsonObject, device: CryptoDevice): string | undefined {
  const { userId, deviceId, ed25519 } = device;
  const ofDevice = objectIn(objectIn(objectIn(response, "one_time_keys"), userId), deviceId);
  const [entry] = Object.entries(ofDevice ?? {});
  if (entry === undefined) return undefined;
  const [name, value] = entry;
  if (!name.startsWith(`${SIGNED_CURVE25519}:`) || !isJsonObject(value) || !isKey(value.key)) {
    return undefined;
  }
  const signer = { userId, keyId: `ed25519:${deviceId}`, publicKey: ed25519 };
  return verifySignedJson(vodozemac, value, signer) ? value.key : undefined;
}

/** Returns whether the response to a claim has anything about a device. */
export function isAnswered(response: JsonObject, { userId, deviceId }: DeviceRef): boolean {
  return objectIn(objectIn(objectIn(response, "one_time_keys"), userId), deviceId) !== undefined;
}

/** The servers that were asked and could not be reached. */
export function unreachableServers(response: JsonObject, asked: ReadonlySet<string>): string[] {
  const failures = Object.keys(objectIn(response, "failures") ?? {}).slice(0, MAX_SERVERS);
  return failures.filter((server) => asked.has(server));
}

/** The outcome of a claim of one-time keys. */
export interface ClaimOutcome {
  /** Devices that have a session now. */
  readonly established: readonly CryptoDevice[];
  /** Devices without a usable key in the response. */
  readonly exhausted: readonly CryptoDevice[];
}

/** Starts sessions with claimed keys. */
export class OlmHandshakes {
  readonly #options;

  /** @param options The parts that it needs. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    /** The own account. */
    readonly ownKeys: OwnKeys;
    /** Others' devices. */
    readonly devices: KnownDevices;
    readonly sessions: OlmSessions;
    /** Which devices need a session. */
    readonly claims: OlmClaims;
    /** Sends a wedged device an empty message over its new session. */
    readonly greet: (tx: Transaction, device: CryptoDevice) => Promise<void>;
  }) {
    this.#options = options;
  }

  /**
   * Receives the response to a claim.
   *
   * @param claim The claim; anything else in the response is ignored.
   */
  async receive(tx: Transaction, claim: KeyClaim, response: JsonObject): Promise<ClaimOutcome> {
    const { claims, devices, context: { clock } } = this.#options;
    const now = clock.now();
    claims.answered(tx, claim);
    const asked = devicesOf(claim);
    const unreachable = unreachableServers(response, new Set(asked.map(({ userId }) => serverOf(userId))));
    claims.unreachable(tx, unreachable, now);
    const established: CryptoDevice[] = [];
    const exhausted: CryptoDevice[] = [];
    for await (const ref of withPauses(asked, DEVICES_A_TURN)) {
      const device = await devices.device(tx, ref.userId, ref.deviceId);
      if (device === undefined) {
        await claims.unwant(tx, ref);
      } else if (await this.#establish(tx, device, response)) {
        await claims.established(tx, device);
        established.push(device);
      } else {
        exhausted.push(device);
        // A server that is down may have keys: it is asked again.
        const isDown = unreachable.includes(serverOf(device.userId)) && !isAnswered(response, device);
        if (!isDown) await claims.exhausted(tx, device, now);
      }
    }
    return { established, exhausted };
  }

  async #establish(tx: Transaction, device: CryptoDevice, response: JsonObject): Promise<boolean> {
    const { sessions, claims, greet } = this.#options;
    const wedged = await claims.isWedged(tx, device);
    // The device may have started a session meanwhile.
    if (!wedged && sessions.isUsable(await sessions.peer(tx, device))) return true;
    const session = this.#start(device, response);
    if (session === undefined) return false;
    await sessions.add(tx, device, { session, inbound: false });
    if (wedged) await greet(tx, device);
    if (wedged) await sessions.wedged(tx, device);
    return true;
  }

  #start(device: CryptoDevice, response: JsonObject): OlmSession | undefined {
    const { ownKeys, context: { vodozemac, log } } = this.#options;
    const key = claimedKey(vodozemac, response, device);
    if (key === undefined) return undefined;
    try {
      return ownKeys.account.createOutbound(device.curve25519, key);
    } catch (error) {
      if (!(error instanceof VodozemacError) || error.code !== "non_contributory_key") throw error;
      const { userId, deviceId } = device;
      log.warn("A device has a one-time key that only an attacker would make", { userId, deviceId });
      return undefined;
    }
  }
}

function devicesOf({ oneTimeKeys }: KeyClaim): DeviceRef[] {
  return Object.entries(oneTimeKeys).flatMap(([userId, devices]) =>
    // Keys of objects are strings to the compiler; these are as they were in the claim.
    Object.keys(devices).map((deviceId) => ({ userId: userId as UserID, deviceId }))
  );
}
