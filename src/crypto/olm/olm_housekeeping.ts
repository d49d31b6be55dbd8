/**
 * Removes Olm sessions with devices that are gone; bounds those with devices that are unknown, and has the
 * server asked about their users: one that was set back announces no device to anybody who is ahead of it.
 *
 * Sessions with a device that is present are never touched: there are a few of each, and the one in
 * use is among them.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { OwnKeys } from "../account/account.ts";
import type { FindableDevices, KnownDevices } from "../devices/mod.ts";
import type { CryptoContext } from "../context/context.ts";
import {
  DAY_MS,
  FairIndex,
  FALLBACK_MARGIN_MS,
  LOOKUPS_AN_HOUR,
  type RecordKey,
  recordKey,
  RECORDS_A_STEP,
  type Transaction,
} from "../records/mod.ts";
import type { DeviceRef, OlmClaims } from "./olm_claims.ts";
import type { OlmInbox } from "./olm_inbox.ts";
import type { OlmPeer, OlmSessions, PeerRecord } from "./olm_sessions.ts";
import { serverOf } from "../../types/identifiers.ts";
import { SharedRateLimit } from "../requests/requests.ts";

/** A device that is not in its user's list. */
export interface UnknownDevice extends OlmPeer {
  /** When it was met, in milliseconds since the epoch. */
  readonly at: number;
}

/** Which unknown devices: those that have begun sessions, or those that could not be understood. */
type UnknownKind = "olm_stranger" | "olm_misunderstood";

/**
 * Unknown devices of a kind, the newest ones, fairly among users.
 *
 * Such devices can be made up, so they are bounded. Those with sessions may only send room keys and
 * dummies, which have no effect a second time, so that nothing is lost with what would refuse a
 * repetition.
 */
export class UnknownDevices {
  readonly #kind: UnknownKind;
  readonly #index: FairIndex<UnknownDevice>;

  /**
   * @param kind Which ones.
   * @param limit How many of them are remembered.
   */
  constructor(kind: UnknownKind, limit: number) {
    this.#kind = kind;
    this.#index = new FairIndex(limit);
  }

  /** Reads what an earlier process has left. */
  async load(tx: Transaction): Promise<void> {
    this.#index.clear();
    const records = await tx.list<number>(this.#kind);
    records.sort(([, one], [, other]) => one - other);
    for (const [[userId = "", curve25519 = ""], at] of records) {
      // It was written under a user ID.
      this.#index.load(userId, curve25519, { userId: userId as UserID, curve25519, at });
    }
  }

  /**
   * Adds a device.
   *
   * @returns The devices that have to go for it.
   */
  meet(tx: Transaction, { userId, curve25519 }: OlmPeer, now: number): UnknownDevice[] {
    const unknown: UnknownDevice = { userId, curve25519, at: now };
    tx.set(this.#key(unknown), now);
    const gone = this.#index.set(tx, [userId, curve25519, unknown]).map(([, , value]) => value);
    for (const each of gone) tx.delete(this.#key(each));
    return gone;
  }

  /** Forgets one of them: it is known now, or gone. */
  forget(tx: Transaction, { userId, curve25519 }: OlmPeer): void {
    if (this.#index.get(userId, curve25519) === undefined) return;
    this.#index.delete(tx, userId, curve25519);
    tx.delete(this.#key({ userId, curve25519 }));
  }

  /** Returns when a device of them was met last, in milliseconds since the epoch; undefined: it is none. */
  metAt({ userId, curve25519 }: OlmPeer): number | undefined {
    return this.#index.get(userId, curve25519)?.at;
  }

  /** All of them. */
  all(): UnknownDevice[] {
    return [...this.#index.values()];
  }

  #key({ userId, curve25519 }: OlmPeer): RecordKey<number> {
    return recordKey(this.#kind, userId, curve25519);
  }
}

/** The outcome of pruning: `more` can be pruned now, or something has to be pruned `later`. */
export type PruneOutcome = "done" | "later" | "more";

/** Prunes what belongs to devices that are gone. */
export class OlmHousekeeping {
  readonly #options;

  /** @param options The parts that it prunes. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    /** The own account. */
    readonly ownKeys: Pick<OwnKeys, "oldestFallbackSince">;
    /** Others' devices. */
    readonly devices: KnownDevices;
    readonly sessions: OlmSessions;
    /** The messages that have come. */
    readonly inbox: OlmInbox;
    /** The devices that need a session. */
    readonly claims: OlmClaims;
    readonly unknownDevices: UnknownDevices;
  }) {
    this.#options = options;
  }

  /** Adds an unknown device that has begun a session; others may have to go for it. */
  async met(tx: Transaction, peer: OlmPeer): Promise<void> {
    const { unknownDevices, context: { clock }, sessions, devices } = this.#options;
    for (const gone of unknownDevices.meet(tx, peer, clock.now())) {
      if (await devices.byIdentityKey(tx, gone.userId, gone.curve25519) !== undefined) continue;
      await this.#forgetUnknown(tx, gone, await sessions.peer(tx, gone));
    }
  }

  /**
   * Removes sessions with a user's devices that are gone and have not sent anything for some days.
   *
   * @param days For how many days they have not.
   */
  async pruneUser(tx: Transaction, userId: UserID, days: number): Promise<PruneOutcome> {
    const { sessions, devices } = this.#options;
    let outcome: PruneOutcome = "done";
    for (const [curve25519, record] of await sessions.peersOf(tx, userId)) {
      const peer = { userId, curve25519 };
      if (await devices.byIdentityKey(tx, userId, curve25519) !== undefined) continue;
      if (tx.changes >= RECORDS_A_STEP) return "more";
      if (await this.#prunePeer(tx, { peer, record, days }) === "later") outcome = "later";
    }
    return outcome;
  }

  /** The devices that were unknown when they began a session. */
  unknownDevices(): UnknownDevice[] {
    return this.#options.unknownDevices.all();
  }

  /** Removes a device that is known by now from the unknown ones. */
  async pruneUnknownDevice(tx: Transaction, unknown: UnknownDevice): Promise<void> {
    const { unknownDevices, devices } = this.#options;
    const device = await devices.byIdentityKey(tx, unknown.userId, unknown.curve25519);
    if (device !== undefined) unknownDevices.forget(tx, unknown);
  }

  /** The devices that need a session. */
  wanted(): DeviceRef[] {
    return this.#options.claims.all();
  }

  /** Stops asking for a session with a device that is gone. */
  async pruneWanted(tx: Transaction, wanted: DeviceRef): Promise<void> {
    const { claims, devices } = this.#options;
    const device = await devices.device(tx, wanted.userId, wanted.deviceId);
    if (device === undefined) await claims.unwant(tx, wanted);
  }

  async #prunePeer(
    tx: Transaction,
    { peer, record, days }: { readonly peer: OlmPeer; readonly record: PeerRecord; readonly days: number },
  ): Promise<"done" | "later"> {
    const { sessions } = this.#options;
    // A moment that lies ahead keeps it: the clock may be wrong now.
    if (this.#options.context.clock.now() - await this.#usedAt(tx, peer, record) < days * DAY_MS) {
      return "later";
    }
    if (await this.#mayForgetMessages(tx, peer, record)) {
      await this.#forget(tx, peer, record);
      return "done";
    }
    await sessions.dropSessions(tx, peer, record); // their IDs stay, so that they are not begun again
    return "later";
  }

  /**
   * Returns whether no repeated message of a device could begin a session any more: the keys for that are
   * gone.
   */
  async #mayForgetMessages(tx: Transaction, peer: OlmPeer, record: PeerRecord): Promise<boolean> {
    const since = this.#options.ownKeys.oldestFallbackSince();
    return since !== undefined && since - await this.#usedAt(tx, peer, record) >= FALLBACK_MARGIN_MS;
  }

  async #usedAt(tx: Transaction, { curve25519 }: OlmPeer, { notedAt }: PeerRecord): Promise<number> {
    return Math.max(notedAt, await this.#options.inbox.seen.lastAt(tx, curve25519) ?? 0);
  }

  /**
   * A repeated message of an unknown device does no harm. But a server can pass off a device's
   * messages as an unknown device's: then what refuses the device's messages a second time is kept.
   */
  async #forgetUnknown(tx: Transaction, peer: OlmPeer, record: PeerRecord): Promise<void> {
    const { sessions, inbox, unknownDevices } = this.#options;
    if (await inbox.seen.isOnlyOf(tx, peer.curve25519, peer.userId)) await this.#forget(tx, peer, record);
    else await sessions.forget(tx, peer, record);
    unknownDevices.forget(tx, peer);
  }

  async #forget(tx: Transaction, peer: OlmPeer, record: PeerRecord): Promise<void> {
    const { sessions, inbox, unknownDevices } = this.#options;
    await sessions.forget(tx, peer, record);
    await sessions.forgetGone(tx, peer);
    await inbox.seen.forget(tx, peer.curve25519);
    unknownDevices.forget(tx, peer);
  }
}

const HOUR_MS = 3_600_000;
/** How often a user is looked up. */
const LOOKUPS_OF_USER = { times: 1, periodMs: HOUR_MS, names: 10_000 };

/** Looks users up, each once an hour at most: devices can be made up. */
export class OlmLookUps {
  readonly #devices: FindableDevices;
  readonly #limit: SharedRateLimit;

  /**
   * @param context What the parts share.
   * @param devices Others' devices.
   */
  constructor({ clock }: Pick<CryptoContext, "clock">, devices: FindableDevices) {
    this.#devices = devices;
    this.#limit = new SharedRateLimit(clock, LOOKUPS_OF_USER, LOOKUPS_AN_HOUR);
  }

  /** Looks a user up of whom nothing else need show a device. */
  lookUp(tx: Transaction, userId: UserID): void {
    if (this.#limit.take(userId, "", serverOf(userId))) this.#devices.tracked.lookUp(tx, userId);
  }

  /** Looks a user up who is followed, if no change was announced that has yet to be asked about. */
  lookUpFollowed(tx: Transaction, userId: UserID): void {
    if (this.#devices.tracked.isUpToDate(userId)) this.lookUp(tx, userId);
  }
}
