/**
 * How far the sender of an encrypted event or message is trusted, and how well founded a claim to a session is.
 *
 * @module
 */

import type { KeySource, SenderTrust } from "../../types/events/encryption_info.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import type { Device, DeviceTrust } from "../devices/device.ts";
import type { FormerDevice } from "../devices/user_record.ts";
import { sameKey } from "../encoding/base64.ts";
import type { CryptoContext } from "../engine/context.ts";
import type { AcceptPolicy } from "../engine/policy.ts";
import type { Transaction } from "../records/transaction.ts";
import type { OwnerClaim } from "./inbound_record.ts";

const TRUST: Readonly<Record<DeviceTrust, SenderTrust>> = {
  "blacklisted": "unsigned-device",
  "unsigned": "unsigned-device",
  "violation": "verification-violation",
  "cross-signed": "unverified-identity",
  "verified": "verified",
};

/** How far the sending device is trusted; undefined: the device is unknown. */
export function senderTrustOf(device: Pick<Device, "trust"> | undefined): SenderTrust {
  return device === undefined ? "unknown-device" : TRUST[device.trust];
}

/**
 * Whether events of such a sender reach handlers.
 *
 * A sender that the key contradicts is never accepted. A device that is unknown although it sent the key itself is
 * not accepted as a legacy one: a server could hide a device to pass it off as that.
 */
export function accepts(policy: AcceptPolicy, trust: SenderTrust, source: KeySource): boolean {
  if (trust === "mismatched-sender") return false;
  if (policy === "all" || trust === "verified" || trust === "unverified-identity") return true;
  return policy === "cross-signed-or-legacy" && trust === "unknown-device" && source !== "direct";
}

/** The devices of senders. */
export interface SenderDevices {
  /** The devices of users, read at once. */
  devicesOf(tx: Transaction, users: readonly UserID[]): Promise<unknown>;
  /** A user's present or former device by its Curve25519 key, with its trust as of now. */
  everByIdentityKey(tx: Transaction, userId: UserID, curve25519: string): Promise<FormerDevice | undefined>;
  /** The user of the device with an Ed25519 key; undefined if no such device is known. */
  ownerOf(tx: Transaction, ed25519: string): Promise<UserID | undefined>;
}

/** The owner of a session, for an event that names its sender. */
export interface Attribution {
  /** How far the sending device is trusted. */
  readonly trust: SenderTrust;
  /** How the key came. */
  readonly source: KeySource;
  /** The device's Curve25519 key. */
  readonly senderKey: string;
  /** The device; undefined if it is unknown. */
  readonly senderDevice: DeviceID | undefined;
}

const FROM_BAD_TO_GOOD: readonly SenderTrust[] = [
  "mismatched-sender",
  "unknown-device",
  "unsigned-device",
  "verification-violation",
  "unverified-identity",
  "verified",
];

/** Judges claims, by the devices that are known now. */
export class ClaimJudge {
  readonly #context: CryptoContext;
  readonly #devices: SenderDevices;

  /**
   * @param context What the parts share.
   * @param devices The devices of senders.
   */
  constructor(context: CryptoContext, devices: SenderDevices) {
    this.#context = context;
    this.#devices = devices;
  }

  /** Reads the devices of several users at once. */
  async prefetch(tx: Transaction, users: readonly UserID[]): Promise<void> {
    if (users.length > 1) await this.#devices.devicesOf(tx, users);
  }

  /** How far the device that claims a session is trusted. */
  async judge(tx: Transaction, { userId, senderKey, senderEd25519 }: OwnerClaim): Promise<Attribution> {
    const { own } = this.#context;
    if (userId === own.userId && sameKey(senderKey, own.curve25519)) {
      return { trust: "verified", source: "direct", senderKey, senderDevice: own.deviceId };
    }
    const device = await this.#devices.everByIdentityKey(tx, userId, senderKey);
    if (device === undefined) {
      return { trust: "unknown-device", source: "direct", senderKey, senderDevice: undefined };
    }
    // The sender named another Ed25519 key than the device has.
    if (!sameKey(device.ed25519, senderEd25519)) {
      return { trust: "mismatched-sender", source: "direct", senderKey, senderDevice: undefined };
    }
    return { trust: senderTrustOf(device), source: "direct", senderKey, senderDevice: device.deviceId };
  }

  /** Whether one device is trusted further than another. */
  isBetter(one: Attribution, other: Attribution): boolean {
    return rank(one) > rank(other);
  }

  /** How well founded each claim is, as a number: higher is better. */
  async ranks(tx: Transaction, claims: readonly OwnerClaim[]): Promise<number[]> {
    const ranks: number[] = [];
    for (const claim of claims) ranks.push(rank(await this.judge(tx, claim)));
    return ranks;
  }
}

function rank({ trust }: Attribution): number {
  return FROM_BAD_TO_GOOD.indexOf(trust);
}
