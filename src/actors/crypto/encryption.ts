/**
 * End-to-end encryption as a client uses it: rooms are made ready for an event, step by step, as the engine asks for it.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { ComparedDevice, Device, LocalTrust } from "../../crypto/devices/device.ts";
import type {
  AnswerOutput,
  CryptoInput,
  CryptoOutput,
  Decryption,
  EngineAccount,
  OwnIdentity,
  RecoveredEvent,
  SentRoomEvent,
  ShareReport,
} from "../../crypto/engine/engine_protocol.ts";
import type { ComparedIdentity, UserIdentity } from "../../crypto/devices/user_record.ts";
import { elapsed } from "../../base/elapsed.ts";
import { EncryptionError } from "../../errors/crypto_error.ts";
import { ValueError } from "../../errors/value_error.ts";
import type { Logger } from "../../base/log.ts";
import type { DeviceAlarm } from "../../types/api/device_alarm.ts";
import type { Membership } from "../../types/enums.ts";
import { noteEncryption } from "../../types/events/encryption_of.ts";
import type { MatrixEvent, MessageEvent } from "../../types/events/event.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";
import type { Crypto, CryptoStartOptions, EncryptOptions } from "./crypto.ts";
import { CryptoCourier, type SendEngineRequest } from "./crypto_courier.ts";
import { RoomPreparer, type RoomPreparerOptions } from "./room_preparer.ts";

/** What encryption is made of. */
export interface EncryptionParts extends RoomPreparerOptions {
  /** Whose device it is; the store is open for it then. */
  readonly account: () => Promise<EngineAccount>;
  /** Makes the engine's requests. */
  readonly send: SendEngineRequest;
  /** Brings events that can be read now to handlers. */
  readonly deliver: (events: readonly RecoveredEvent[]) => Promise<void>;
  /** Tells handlers of keys that are not what they should be. */
  readonly alarm: (alarm: DeviceAlarm) => void;
  /** The wall clock. */
  readonly clock: Clock;
  /** Where it is told what goes on. */
  readonly log: Logger;
}

/** While a client syncs, a response that came this long ago, in milliseconds, is followed by another: the server answers within 30 seconds. */
const FOLLOWING = 120_000;
/** For how long what a single sync has told, or the server was asked for, is taken for what is so, in milliseconds. */
const FRESH = 10_000;

/** How often a room that is not ready any more is made ready for the same event. */
const MAX_ENCRYPTIONS = 1_000;
/** How often a user's devices are looked up before what is known of them has to do. */
const MAX_ROUNDS = 3;

/** Makes what a client calls. */
export class Encryption implements Crypto {
  readonly #parts: EncryptionParts;
  readonly #courier: CryptoCourier;
  readonly #rooms: RoomPreparer;
  readonly #tried = new WeakSet<MatrixEvent>();
  #lastSync = -Infinity;
  /** Ends when no sync follows any more; undefined: none does. */
  #following: AbortSignal | undefined;
  #opening: Promise<OwnIdentity> | undefined;
  #checked: Promise<void> | undefined;

  /** @param parts What it is made of. */
  constructor(parts: EncryptionParts) {
    this.#parts = parts;
    const { actor, send, log } = parts;
    const deliver = ({ recovered, alarms }: AnswerOutput): void => {
      this.#deliver(recovered);
      for (const alarm of alarms) parts.alarm(alarm);
    };
    this.#courier = new CryptoCourier({ actor, send, deliver, log });
    this.#rooms = new RoomPreparer(parts, this.#courier);
  }

  async start({ following }: CryptoStartOptions = {}): Promise<void> {
    this.resume();
    await this.#open();
    if (following !== undefined) {
      this.#following = following;
      this.#lastSync = -Infinity; // what has changed since then comes with the first one
    }
    await (this.#checked ??= this.#check());
    this.#refuseConflict();
  }

  get isFollowing(): boolean {
    const longest = this.#following?.aborted === false ? FOLLOWING : FRESH;
    return elapsed(this.#parts.clock.now(), this.#lastSync) < longest;
  }

  /** When members and devices must have been asked for, in milliseconds since the epoch; undefined: syncs tell of them. */
  get #since(): number | undefined {
    return this.isFollowing ? undefined : this.#parts.clock.now() - FRESH + 1;
  }

  async receiveSync(input: CryptoInput): Promise<CryptoOutput> {
    await this.#open();
    this.#refuseConflict();
    const output = await this.#parts.actor.ask("receiveSync", input);
    this.#lastSync = this.#parts.clock.now();
    for (const [index, event] of input.encrypted.entries()) {
      const result = output.decrypted[index];
      if (result !== undefined && !("event" in result)) this.#tried.add(event);
    }
    this.#courier.wake();
    return output;
  }

  isWaiting(event: MatrixEvent): boolean {
    return this.#tried.has(event);
  }

  async decrypt(event: MessageEvent): Promise<Decryption> {
    await this.#open();
    const result = await this.#parts.actor.ask("decrypt", event);
    if ("event" in result) noteEncryption(result.event, result);
    return result;
  }

  async encrypt(roomId: RoomID, eventType: string, content: object, options: EncryptOptions = {}) {
    await this.start(); // nobody can answer, or trust, a device whose keys are not published
    const { actor } = this.#parts;
    // The content goes through JSON, as it will on the wire: what has no form there must not have one here.
    const plain: unknown = JSON.parse(JSON.stringify(content));
    if (!isJsonObject(plain)) {
      throw new EncryptionError(`Cannot encrypt ${eventType}: its content must be an object`);
    }
    const input = { roomId, eventType, content: plain, txnId: options.txnId, since: this.#since };
    for (let round = 0; round < MAX_ENCRYPTIONS; round++) {
      options.signal?.throwIfAborted();
      this.#refuseConflict();
      const encrypted = await actor.ask("encrypt", input);
      if (encrypted !== undefined) return encrypted.content;
      await this.#prepare(roomId, input.since);
    }
    throw new EncryptionError(
      `Cannot encrypt ${eventType} for ${roomId}: its members change faster than they get keys`,
    );
  }

  async sent(event: SentRoomEvent): Promise<void> {
    await this.#parts.actor.ask("roomEventSent", event);
  }

  async shareGroupSession(roomId: RoomID): Promise<ShareReport> {
    await this.start();
    return await this.#prepare(roomId, this.#since);
  }

  async discardGroupSession(roomId: RoomID): Promise<void> {
    await this.#open();
    await this.#parts.actor.ask("discardGroupSession", roomId);
  }

  async identity(): Promise<OwnIdentity> {
    return await this.#open();
  }

  async getDevices(userId: UserID): Promise<Device[]> {
    await this.#open();
    const { actor } = this.#parts;
    const input = { users: [userId], since: this.#since };
    for (let round = 0; round < MAX_ROUNDS && await actor.ask("areDevicesStale", input); round++) {
      const { carried, failure } = await this.#courier.round("keysQuery");
      if (failure !== undefined) throw failure;
      if (carried === 0) break;
    }
    return await actor.ask("devicesOf", [userId]);
  }

  async setDeviceTrust(device: ComparedDevice, trust: LocalTrust | undefined): Promise<void> {
    await this.#open();
    const { userId, deviceId, ed25519 } = device;
    const say = () => this.#parts.actor.ask("setDeviceTrust", { userId, deviceId, ed25519, trust });
    // What is known needs no server, which might not answer when a device is to be blocked.
    const recovered = await say().catch(async (error) => {
      if (!(error instanceof ValueError)) throw error;
      await this.getDevices(userId);
      return await say();
    });
    this.#deliver(recovered);
    this.#courier.wake();
  }

  async getIdentity(userId: UserID): Promise<UserIdentity | undefined> {
    await this.getDevices(userId); // they come together
    return await this.#parts.actor.ask("identityOf", userId);
  }

  async acknowledgeIdentity({ userId, master }: ComparedIdentity): Promise<void> {
    await this.#open();
    this.#deliver(await this.#parts.actor.ask("acknowledgeIdentity", { userId, master }));
    this.#courier.wake();
  }

  /** What fails is left to the sync: the server has done what it was asked for. */
  async memberChanged(roomId: RoomID, userId: UserID, membership: Membership): Promise<void> {
    try {
      await this.#open();
      await this.#parts.actor.ask("memberChanged", { roomId, userId, membership });
    } catch (error) {
      this.#parts.log.warn("Could not note a change of members", { roomId, error: String(error) });
    }
  }

  async settle(events: readonly RecoveredEvent[]): Promise<void> {
    await this.#parts.actor.ask("settle", events.map(({ parked }) => parked));
  }

  async idle(): Promise<void> {
    if (this.#opening !== undefined) await this.#courier.idle();
    this.#refuseConflict();
  }

  async stop(): Promise<void> {
    await this.#courier.stop();
  }

  /** Resolves when no request is on its way, and there is nothing to write down. */
  async quiet(): Promise<void> {
    if (this.#opening === undefined) return;
    await this.#courier.quiet();
    await this.#parts.actor.ask("noteSent", undefined);
  }

  /** Ends what is on its way, and makes no requests until {@link Encryption.resume} or {@link Encryption.start}. */
  async pause(): Promise<void> {
    await this.#courier.pause();
  }

  /** Makes requests again. */
  resume(): void {
    this.#courier.resume();
  }

  async #open(): Promise<OwnIdentity> {
    try {
      return await (this.#opening ??= this.#openFor());
    } catch (error) {
      this.#opening = undefined; // the server may say next time whose token it is
      throw error;
    }
  }

  async #openFor(): Promise<OwnIdentity> {
    const account = await this.#parts.account();
    if (account.deviceId === "") {
      throw new EncryptionError(
        `Cannot encrypt as ${account.userId}: the access token belongs to no device; log in`,
      );
    }
    return await this.#parts.actor.ask("open", account);
  }

  /** Looks at what the server has of this device, and publishes its keys. A server that can't be reached is asked later. */
  async #check(): Promise<void> {
    await this.#courier.round("keysQuery");
    await this.#courier.round("keysUpload");
  }

  /** Makes a room ready; should it show on the way that the device can't go on, that is what is told. */
  async #prepare(roomId: RoomID, since: number | undefined): Promise<ShareReport> {
    try {
      return await this.#rooms.prepare(roomId, since);
    } catch (error) {
      throw this.#courier.conflict ?? error;
    }
  }

  #refuseConflict(): void {
    if (this.#courier.conflict !== undefined) throw this.#courier.conflict;
  }

  /** Handlers may take long, and may wait for the very request whose answer brought these events. */
  #deliver(events: readonly RecoveredEvent[]): void {
    if (events.length === 0) return;
    this.#parts.deliver(events).catch((error) => {
      this.#parts.log.warn("Could not deliver events that can be read now", { error: String(error) });
    });
  }
}
