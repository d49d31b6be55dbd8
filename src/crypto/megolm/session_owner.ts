/**
 * The owner of a Megolm session, and how far it is trusted.
 *
 * Any device with a session's key can claim to own the session. So several devices may claim a
 * session, and an event is its sender's if one of the sender's devices does.
 *
 * @module
 */

import type { KeySource, SenderTrust } from "../../types/events/encryption_info.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import type { CryptoDevice, DeviceLists, DeviceOwners, DeviceTrust } from "../devices/mod.ts";
import { sameKey } from "../../types/base64.ts";
import type { AcceptPolicy, CryptoContext, OwnDevice } from "../context/context.ts";
import type { Transaction } from "../records/mod.ts";
import {
  type ClaimSet,
  claimsOf,
  type Hearsay,
  type InboundRecord,
  isTaken,
  metHearsay,
  type OwnerClaim,
  withClaims,
} from "./inbound_record.ts";
import type { SessionClaims } from "./session_claims.ts";
import type { MegolmSessionRef } from "../../types/identifiers.ts";

const TRUST: Readonly<Record<DeviceTrust, SenderTrust>> = {
  "blacklisted": "unsigned-device",
  "unsigned": "unsigned-device",
  "violation": "verification-violation",
  "cross-signed": "unverified-identity",
  "verified": "verified",
};

/** Returns how far the sending device is trusted; undefined: the device is unknown. */
export function senderTrustOf(device: Pick<CryptoDevice, "trust"> | undefined): SenderTrust {
  return device === undefined ? "unknown-device" : TRUST[device.trust];
}

/**
 * Returns whether events of such a sender reach handlers.
 *
 * A sender that the key contradicts is never accepted. A device that is unknown although it sent
 * the key itself is not accepted as a legacy one: a server could hide a device to pass it off as
 * that.
 */
export function accepts(
  policy: AcceptPolicy,
  { trust, source, isSpared = false }: Pick<Attribution, "trust" | "source" | "isSpared">,
): boolean {
  if (trust === "mismatched-sender") return false;
  if (policy === "all" || isSpared || trust === "verified" || trust === "unverified-identity") return true;
  return policy === "cross-signed-or-legacy" && trust === "unknown-device" && source !== "direct";
}

/**
 * Returns whether a sender is taken from a backup or a bundle, into which the server or who invites can put
 * anything. That does for what is read of the past; what comes as said now waits for a key that its sender
 * or an own verified device has sent.
 */
export function isPastOnly(
  policy: AcceptPolicy,
  { trust, source }: Pick<Attribution, "trust" | "source">,
): boolean {
  return policy === "cross-signed-or-legacy" && trust === "unknown-device" &&
    (source === "backup" || source === "bundle");
}

export type SenderDevices = Pick<DeviceLists, "devicesOf" | "everByIdentityKey" | "isSpared">;

/** The owner of a session, for an event that names its sender. */
export interface Attribution {
  /** How far the sending device is trusted. */
  readonly trust: SenderTrust;
  /** How the key came. */
  readonly source: KeySource;
  /** Who has shared it, if it came in a bundle. */
  readonly sharedBy?: UserID;
  /** The device's Curve25519 key. */
  readonly senderKey: string;
  /** The device; undefined if it is unknown. */
  readonly senderDevice: DeviceID | undefined;
  /** Whether the device counts as one that its user has signed, although it is not. Default: false. */
  readonly isSpared?: boolean;
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

  /** Judges how far the device that claims a session is trusted. */
  async judge(
    tx: Transaction,
    { userId, senderKey, senderEd25519, credentials }: Omit<OwnerClaim, "sharedHistory">,
  ): Promise<Attribution> {
    const { own } = this.#context;
    if (userId === own.userId && sameKey(senderKey, own.curve25519)) {
      return { trust: "verified", source: "direct", senderKey, senderDevice: own.deviceId };
    }
    const device = await this.#devices.everByIdentityKey(tx, userId, senderKey, credentials);
    if (device === undefined) {
      return { trust: "unknown-device", source: "direct", senderKey, senderDevice: undefined };
    }
    // The sender named another Ed25519 key than the device has.
    if (!sameKey(device.ed25519, senderEd25519)) {
      return { trust: "mismatched-sender", source: "direct", senderKey, senderDevice: undefined };
    }
    const isSpared = await this.#devices.isSpared(tx, { userId, trust: device.trust });
    return {
      trust: senderTrustOf(device),
      source: "direct",
      senderKey,
      senderDevice: device.deviceId,
      isSpared,
    };
  }

  /**
   * Judges how far hearsay is trusted. Nothing proves that a session is of the device that it names, which
   * could be the best of all; but what is said to be of one that nobody vouches for is no better than that.
   */
  async judgeHearsay(
    tx: Transaction,
    userId: UserID,
    { senderKey, senderEd25519 }: Hearsay,
  ): Promise<Pick<Attribution, "trust" | "isSpared">> {
    const { trust, isSpared } = await this.judge(tx, { userId, senderKey, senderEd25519 });
    const isPoor = trust === "unsigned-device" || trust === "verification-violation";
    return isPoor ? { trust, isSpared } : { trust: "unknown-device" };
  }

  /** Returns whether one device is trusted further than another. */
  isBetter(one: Attribution, other: Attribution): boolean {
    return rank(one) > rank(other);
  }

  /** Ranks claims by how well founded they are: higher is better. */
  async ranks(tx: Transaction, claims: readonly OwnerClaim[]): Promise<number[]> {
    const ranks: number[] = [];
    for (const claim of claims) ranks.push(rank(await this.judge(tx, claim)));
    return ranks;
  }
}

function rank({ trust }: Attribution): number {
  return FROM_BAD_TO_GOOD.indexOf(trust);
}

/** The owner of a session, and the changes of its record. */
export interface Attributed extends Attribution {
  /** The session's record, as it should be from now on, if more is known of its devices. */
  readonly learnt?: InboundRecord;
}

/** Finds the owners of sessions, by the devices that are known now. */
export class SessionOwners {
  readonly #options;

  /** @param options The parts that it needs. */
  constructor(options: {
    readonly own: OwnDevice;
    readonly devices: SenderDevices;
    /** The owners of devices by their signing keys. */
    readonly owners: Pick<DeviceOwners, "ownerOf">;
    /** Judges claims. */
    readonly judge: ClaimJudge;
    readonly claims: SessionClaims;
  }) {
    this.#options = options;
  }

  /** Reads what will be needed for users, in one go. */
  async prefetch(tx: Transaction, users: readonly UserID[]): Promise<void> {
    await this.#options.judge.prefetch(tx, users);
  }

  /** The owner of a session, for an event that names its sender. */
  async attribute(
    tx: Transaction,
    session: MegolmSessionRef,
    { record, sender }: { readonly record: InboundRecord; readonly sender: UserID },
  ): Promise<Attributed> {
    const set = await claimsOf(tx, session, { record, userId: sender });
    if (set !== undefined) return await this.#ofClaims(tx, session, { record, userId: sender, set });
    // Once a message of a user who claims it has come, no hearsay makes it another's.
    const { hearsay: all = [] } = record;
    for (const hearsay of isTaken(record) ? [] : all) {
      if (!await this.#mayBeOf(tx, session, { record, hearsay, sender })) continue;
      const { source, senderKey, sharedBy, isMet } = hearsay;
      return {
        ...(!isMet && { learnt: { ...record, hearsay: metHearsay(all, hearsay) } }),
        ...await this.#options.judge.judgeHearsay(tx, sender, hearsay),
        source,
        senderKey,
        senderDevice: undefined,
        ...(sharedBy && { sharedBy }),
      };
    }
    const senderKey = record.claims[0]?.senderKey ?? "";
    return { trust: "mismatched-sender", source: "direct", senderKey, senderDevice: undefined };
  }

  async #ofClaims(
    tx: Transaction,
    session: MegolmSessionRef,
    { record, userId, set }: { record: InboundRecord; userId: UserID; set: ClaimSet },
  ): Promise<Attributed> {
    const { judge, claims } = this.#options;
    const judged: Attribution[] = [];
    for (const claim of set.claims) judged.push(await judge.judge(tx, claim));
    const best = judged.reduce((one, other) => judge.isBetter(other, one) ? other : one);
    const isUsed = best.trust !== "mismatched-sender";
    if (set === record && (set.unused === undefined || !isUsed)) return best;
    const claimed = await claims.met(tx, session, { record, userId, set, isUsed });
    return claimed === undefined ? best : { ...best, learnt: withClaims(record, claimed) };
  }

  /**
   * Returns whether hearsay about the session may be true of a sender. It names a device, which must
   * neither claim the session for another user nor be another user's by its signing key.
   */
  async #mayBeOf(
    tx: Transaction,
    session: MegolmSessionRef,
    { record, hearsay, sender }: { record: InboundRecord; hearsay: Hearsay; sender: UserID },
  ): Promise<boolean> {
    const { own, devices, owners, claims } = this.#options;
    const { senderKey, senderEd25519 } = hearsay;
    if (await claims.include(tx, session, { record, senderKey })) return false;
    if (senderEd25519 === "") return true;
    const device = await devices.everByIdentityKey(tx, sender, senderKey);
    if (device !== undefined && sameKey(device.ed25519, senderEd25519)) return true;
    const owner = senderEd25519 === own.ed25519 ? own.userId : await owners.ownerOf(tx, senderEd25519);
    return owner === undefined || owner === sender;
  }
}
