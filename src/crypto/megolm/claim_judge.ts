/**
 * How well founded it is that a device says that a Megolm session is its own.
 *
 * @module
 */

import type { KeySource, SenderTrust } from "../../types/events/encryption_info.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { sameKey } from "../encoding/base64.ts";
import type { CryptoContext } from "../engine/context.ts";
import type { FormerDevice } from "../devices/device_trust.ts";
import type { OwnerClaim } from "./inbound_record.ts";
import { senderTrustOf } from "./sender_trust.ts";
import type { Transaction } from "../records/transaction.ts";

/** What must be known of devices. */
export interface SenderDevices {
  /** The devices of users, read at once. */
  devicesOf(tx: Transaction, users: readonly UserID[]): Promise<unknown>;
  /** The device of a user that has a Curve25519 key, or had it when it was there last, as it is to be trusted now. */
  everByIdentityKey(tx: Transaction, userId: UserID, curve25519: string): Promise<FormerDevice | undefined>;
  /** The user of the device with an Ed25519 key; undefined if no such device is known. */
  ownerOf(tx: Transaction, ed25519: string): Promise<UserID | undefined>;
}

/** Whose a session is, in the eyes of an event that says who sent it. */
export interface Attribution {
  /** How far the sending device is to be trusted. */
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

/** Judges claims, by what is known of devices now. */
export class ClaimJudge {
  readonly #context: CryptoContext;
  readonly #devices: SenderDevices;

  /**
   * @param context What the parts share.
   * @param devices What is known of devices.
   */
  constructor(context: CryptoContext, devices: SenderDevices) {
    this.#context = context;
    this.#devices = devices;
  }

  /** Reads what will be needed for users, in one go. */
  async prefetch(tx: Transaction, users: readonly UserID[]): Promise<void> {
    if (users.length > 1) await this.#devices.devicesOf(tx, users);
  }

  /** How far the device is to be trusted that claims a session. */
  async judge(tx: Transaction, { userId, senderKey, senderEd25519 }: OwnerClaim): Promise<Attribution> {
    const { own } = this.#context;
    if (userId === own.userId && sameKey(senderKey, own.curve25519)) {
      return { trust: "verified", source: "direct", senderKey, senderDevice: own.deviceId };
    }
    const device = await this.#devices.everByIdentityKey(tx, userId, senderKey);
    if (device === undefined) {
      return { trust: "unknown-device", source: "direct", senderKey, senderDevice: undefined };
    }
    // Whoever named another Ed25519 key than the device has does not speak for the device.
    if (!sameKey(device.ed25519, senderEd25519)) {
      return { trust: "mismatched-sender", source: "direct", senderKey, senderDevice: undefined };
    }
    return { trust: senderTrustOf(device), source: "direct", senderKey, senderDevice: device.deviceId };
  }

  /** Whether a device is to be trusted further than another. */
  isBetter(one: Attribution, other: Attribution): boolean {
    return rank(one) > rank(other);
  }

  /** How well founded each of some claims is: a number, and the more the better. */
  async ranks(tx: Transaction, claims: readonly OwnerClaim[]): Promise<number[]> {
    const ranks: number[] = [];
    for (const claim of claims) ranks.push(rank(await this.judge(tx, claim)));
    return ranks;
  }
}

function rank({ trust }: Attribution): number {
  return FROM_BAD_TO_GOOD.indexOf(trust);
}
