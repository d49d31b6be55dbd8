/**
 * How sessions with other devices are started.
 *
 * @module
 */

import { type OlmSession, VodozemacError } from "@greenroom/vodozemac-wasm";
import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { claimedKey, isAnswered, unreachableServers } from "./claimed_key.ts";
import type { CryptoContext } from "../engine/context.ts";
import type { Device } from "../devices/device.ts";
import type { KnownDevices } from "../devices/known_devices.ts";
import { type DeviceRef, type KeyClaim, type OlmClaims, serverOf } from "./olm_claims.ts";
import type { OlmSessions } from "./olm_sessions.ts";
import type { OwnKeys } from "../account/own_keys.ts";
import type { Transaction } from "../records/transaction.ts";

/** What became of a claim of one-time keys. */
export interface ClaimOutcome {
  /** Devices that have a session now. */
  readonly established: readonly Device[];
  /** Devices of which no usable key came. */
  readonly exhausted: readonly Device[];
}

/** What handshakes need. */
export interface OlmHandshakesOptions {
  /** What the parts share. */
  readonly context: CryptoContext;
  /** The own account. */
  readonly ownKeys: OwnKeys;
  /** Others' devices. */
  readonly devices: KnownDevices;
  /** The sessions. */
  readonly sessions: OlmSessions;
  /** Which devices need a session. */
  readonly claims: OlmClaims;
  /** Tells a device that could not be understood about the session that there is now. */
  readonly greet: (tx: Transaction, device: Device) => Promise<void>;
}

/** Starts sessions with the keys that servers hand out. */
export class OlmHandshakes {
  readonly #options: OlmHandshakesOptions;

  /** @param options What it needs. */
  constructor(options: OlmHandshakesOptions) {
    this.#options = options;
  }

  /**
   * Takes in the answer to a claim.
   *
   * @param claim What was asked for; whatever else is in the answer is ignored.
   */
  async receive(tx: Transaction, claim: KeyClaim, response: JsonObject): Promise<ClaimOutcome> {
    const { claims, devices, context: { clock } } = this.#options;
    const now = clock.now();
    claims.answered(tx, claim);
    const asked = devicesOf(claim);
    const unreachable = unreachableServers(response, new Set(asked.map(serverOf)));
    claims.unreachable(tx, unreachable, now);
    const established: Device[] = [];
    const exhausted: Device[] = [];
    for (const ref of asked) {
      const device = await devices.device(tx, ref.userId, ref.deviceId);
      if (device === undefined) {
        await claims.unwant(tx, ref);
      } else if (await this.#establish(tx, device, response)) {
        await claims.established(tx, device);
        established.push(device);
      } else {
        exhausted.push(device);
        // What a server that does not answer would have said, nobody knows: it is asked again.
        const isDown = unreachable.includes(serverOf(device)) && !isAnswered(response, device);
        if (!isDown) await claims.exhausted(tx, device, now);
      }
    }
    return { established, exhausted };
  }

  async #establish(tx: Transaction, device: Device, response: JsonObject): Promise<boolean> {
    const { sessions, claims, greet } = this.#options;
    const wedged = await claims.isWedged(tx, device);
    // The device may have started one meanwhile.
    if (!wedged && sessions.isUsable(await sessions.peer(tx, device))) return true;
    const session = this.#start(tx, device, response);
    if (session === undefined) return false;
    await sessions.add(tx, device, { session, inbound: false });
    if (wedged) await greet(tx, device);
    if (wedged) await sessions.wedged(tx, device);
    return true;
  }

  #start(tx: Transaction, device: Device, response: JsonObject): OlmSession | undefined {
    const { ownKeys, context: { vodozemac, log } } = this.#options;
    const key = claimedKey(vodozemac, response, device);
    if (key === undefined) return undefined;
    try {
      return ownKeys.createOutbound(tx, device, key);
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
