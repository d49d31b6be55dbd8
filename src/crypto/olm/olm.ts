/**
 * Olm, from device to device: messages that only the other device can read, and that prove to come
 * from this one.
 *
 * @module
 */

import { elapsed } from "../../base/clock.ts";
import type { ToDeviceEvent } from "../../types/events/event.ts";
import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { OwnKeys } from "../account/account.ts";
import { type CryptoContext, newTxn } from "../context/context.ts";
import { type CryptoDevice, type FindableDevices, SenderDeviceKeys } from "../devices/mod.ts";
import { MISUNDERSTOOD_DEVICES, type Transaction, UNKNOWN_DEVICES } from "../records/mod.ts";
import { type Outbox, RateLimit } from "../requests/requests.ts";
import { OlmClaims, OlmHandshakes } from "./olm_claims.ts";
import { OlmHousekeeping, OlmLookUps, UnknownDevices } from "./olm_housekeeping.ts";
import { OlmInbox } from "./olm_inbox.ts";
import {
  type OlmDecryption,
  readOlmMessage,
  readOlmPayload,
  senderRefusal,
  writeOlmMessage,
  writeOlmPayload,
} from "./olm_message.ts";
import { type OlmPeer, OlmSessions } from "./olm_sessions.ts";

export { type KeyClaim, OlmClaims } from "./olm_claims.ts";
export { isAboutMessage } from "./olm_inbox.ts";
export {
  BUNDLE_TYPES,
  type OlmDecryption,
  readOlmMessage,
  readOlmPayload,
  senderRefusal,
} from "./olm_message.ts";
export { type OlmPeer, rollbackKey } from "./olm_sessions.ts";

/** How long a device that could not be understood is not asked for another session. */
const UNWEDGE_AFTER_MS = 3_600_000;
/**
 * How often a device may report that it could not decrypt; clients do so once an hour. More has no
 * effect.
 */
const WEDGES = { times: 10, periodMs: 3_600_000, names: 10_000 };

/** Encrypts for devices, decrypts their messages, and keeps sessions with them. */
export class OlmChannels {
  readonly #context: CryptoContext;
  readonly #ownKeys: OwnKeys;
  readonly #devices: FindableDevices;
  readonly #outbox: Outbox;
  /** The sessions themselves. */
  readonly sessions: OlmSessions;
  /** Starts sessions with what a claim brings. */
  readonly handshakes: OlmHandshakes;
  readonly #inbox: OlmInbox;
  readonly #unknownDevices = new UnknownDevices("olm_stranger", UNKNOWN_DEVICES);
  /** Those that could not be understood: once they are known, they get a new session. */
  readonly #misunderstood = new UnknownDevices("olm_misunderstood", MISUNDERSTOOD_DEVICES);
  /** Which devices need a session, and the claims of their one-time keys. */
  readonly claims: OlmClaims;
  /** Removes what belongs to devices that are gone. */
  readonly housekeeping: OlmHousekeeping;
  readonly #senderKeys: SenderDeviceKeys;
  readonly #wedges: RateLimit;
  readonly #lookUps: OlmLookUps;

  /** @param options The parts that the channels are made of. */
  constructor({ context, ownKeys, devices, outbox }: {
    /** What the parts share. */
    readonly context: CryptoContext;
    /** The own account. */
    readonly ownKeys: OwnKeys;
    /** Others' devices. */
    readonly devices: FindableDevices;
    /** Sends messages. */
    readonly outbox: Outbox;
  }) {
    this.#context = context;
    this.#ownKeys = ownKeys;
    this.#devices = devices;
    this.#outbox = outbox;
    this.sessions = new OlmSessions(context);
    this.claims = new OlmClaims(context);
    this.handshakes = new OlmHandshakes({
      context,
      ownKeys,
      devices,
      sessions: this.sessions,
      claims: this.claims,
      greet: (tx, device) => this.#greet(tx, device),
    });
    this.#inbox = new OlmInbox(context, { ownKeys, sessions: this.sessions });
    this.housekeeping = new OlmHousekeeping({
      context,
      ownKeys,
      devices,
      sessions: this.sessions,
      inbox: this.#inbox,
      claims: this.claims,
      unknownDevices: this.#unknownDevices,
    });
    this.#senderKeys = new SenderDeviceKeys(() => context.vodozemac);
    this.#wedges = new RateLimit(context.clock, WEDGES);
    this.#lookUps = new OlmLookUps(context, devices);
  }

  /** Reads the state that is kept in memory. */
  async load(tx: Transaction): Promise<void> {
    const loaded = [this.sessions, this.claims, this.#unknownDevices, this.#misunderstood];
    await Promise.all(loaded.map((part) => part.load(tx)));
  }

  /**
   * Encrypts a message for a device.
   *
   * @returns The content of the `m.room.encrypted` event, which must be durable before it is sent;
   *   undefined without a session.
   */
  async encrypt(
    tx: Transaction,
    device: CryptoDevice,
    type: string,
    content: JsonObject,
  ): Promise<JsonObject | undefined> {
    const { own, uniqueId } = this.#context;
    const deviceKeys = this.#ownKeys.deviceKeys();
    const plaintext = writeOlmPayload({ type, content }, { own, device, deviceKeys });
    const message = await this.sessions.encrypt(tx, device, plaintext);
    return message && writeOlmMessage({ own, curve25519: device.curve25519, message, id: uniqueId() });
  }

  /** Decrypts a message to this device, once. */
  async decrypt(tx: Transaction, event: ToDeviceEvent): Promise<OlmDecryption> {
    const { own } = this.#context;
    const received = readOlmMessage(event, own);
    if (typeof received === "string") return dropped(received);
    const { peer, message } = received;
    const opened = await this.#inbox.open(tx, peer, message);
    if (opened.kind === "dropped") return opened;
    const device = await this.#devices.byIdentityKey(tx, peer.userId, peer.curve25519);
    if (opened.kind === "failed") {
      if (device !== undefined) await this.#unwedge(tx, device);
      else this.#lookUp(tx, peer);
      return { ...opened, device };
    }
    const { plaintext, isNewSession } = opened;
    if (isNewSession && device !== undefined) await this.claims.established(tx, device);
    if (isNewSession && device === undefined) await this.housekeeping.met(tx, peer);
    const read = readOlmPayload(plaintext, { peer, device, own, senderKeys: this.#senderKeys });
    if (typeof read === "string") return dropped(read);
    const { payload, senderEd25519, deviceKeys } = read;
    const from = { device, deviceKeys, type: payload.type, sender: peer.userId };
    const reason = await senderRefusal(tx, this.#devices, from);
    if (reason !== undefined) return dropped(reason);
    if (device === undefined) this.#lookUps.lookUpFollowed(tx, peer.userId);
    if (device !== undefined && payload.type === "m.dummy") await this.#receiveDummy(tx, device);
    const { userId: sender, curve25519: senderKey } = peer;
    return { kind: "decrypted", payload, sender, senderKey, senderEd25519, device, deviceKeys, isNewSession };
  }

  /** Asks for new sessions with devices that could not be understood, and are known by now. */
  async devicesChanged(tx: Transaction, users: readonly UserID[]): Promise<void> {
    for (const peer of this.#misunderstood.all()) {
      if (!users.includes(peer.userId)) continue;
      const device = await this.#devices.byIdentityKey(tx, peer.userId, peer.curve25519);
      if (device === undefined) continue;
      this.#misunderstood.forget(tx, peer);
      await this.#unwedge(tx, device);
    }
  }

  /** Sends an empty message over a new session, so that the device uses that one. */
  async #greet(tx: Transaction, device: CryptoDevice): Promise<void> {
    const content = await this.encrypt(tx, device, "m.dummy", {});
    if (content === undefined) return;
    const messages = { [device.userId]: { [device.deviceId]: content } };
    const message = { kind: "toDevice", eventType: "m.room.encrypted", messages } as const;
    this.#outbox.add(tx, message, newTxn(this.#context));
  }

  /** Receives an empty message over a new session: the device could not decrypt an earlier one. */
  async #receiveDummy(tx: Transaction, device: CryptoDevice): Promise<void> {
    if (this.#wedges.take(device.curve25519)) await this.sessions.wedged(tx, device);
  }

  /**
   * Remembers a device that could not be understood and is not known, and has its user looked up, at
   * most once an hour, even if what it sends is made up.
   */
  #lookUp(tx: Transaction, peer: OlmPeer): void {
    const now = this.#context.clock.now();
    if (elapsed(now, this.#misunderstood.metAt(peer)) < UNWEDGE_AFTER_MS) return;
    this.#misunderstood.meet(tx, peer, now);
    this.#lookUps.lookUp(tx, peer.userId);
  }

  /**
   * Asks for a new session with a device, at most once an hour, even if the device sends garbage
   * all the time.
   */
  async #unwedge(tx: Transaction, device: CryptoDevice): Promise<void> {
    const now = this.#context.clock.now();
    const { unwedgedAt } = await this.sessions.peer(tx, device);
    if (device.trust === "blacklisted" || elapsed(now, unwedgedAt) < UNWEDGE_AFTER_MS) return;
    await this.sessions.note(tx, device, { unwedgedAt: now });
    await this.claims.want(tx, [device], { wedged: true });
    const { userId, deviceId } = device;
    this.#context.log.info("Can't understand a device: starting a new session with it", { userId, deviceId });
  }
}

function dropped(reason: string): OlmDecryption {
  return { kind: "dropped", reason };
}
