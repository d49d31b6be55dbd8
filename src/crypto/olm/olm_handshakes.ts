/**
 * How Olm sessions with other devices are started, from the one-time keys that servers hand out.
 *
 * @module
 */

import { serverOf } from "../../types/identifiers.ts";
import { type OlmSession, type Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import type { UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { type OwnKeys, SIGNED_CURVE25519 } from "../account/account.ts";
import type { CryptoDevice, KnownDevices } from "../devices/mod.ts";
import { isKey } from "../../types/base64.ts";
import { verifySignedJson } from "../encoding/encoding.ts";
import type { CryptoContext } from "../context/context.ts";
import type { Transaction } from "../records/mod.ts";
import type { DeviceRef, KeyClaim, OlmClaims } from "./olm_claims.ts";
import type { OlmSessions } from "./olm_sessions.ts";

/** How many servers' failures are read. */
const MAX_SERVERS = 10_000;

/**
 * The key of a device in the response to a claim; undefined if there is none that the device has
 * signed.
 */
function claimedKey(vodozemac: Vodozemac, response: JsonObject, device: CryptoDevice): string | undefined {
  const { userId, deviceId, ed25519 } = device;
  const ofDevice = memberOf(memberOf(memberOf(response, "one_time_keys"), userId), deviceId);
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
  return memberOf(memberOf(memberOf(response, "one_time_keys"), userId), deviceId) !== undefined;
}

/** The servers that were asked and could not be reached. */
export function unreachableServers(response: JsonObject, asked: ReadonlySet<string>): string[] {
  const failures = Object.keys(memberOf(response, "failures") ?? {}).slice(0, MAX_SERVERS);
  return failures.filter((server) => asked.has(server));
}

function memberOf(object: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
  return isJsonObject(value) ? value : undefined;
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
    for (const ref of asked) {
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
