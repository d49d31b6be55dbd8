/**
 * `client.crypto` over the engine: opens it, makes its requests, and makes rooms ready for an
 * event.
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
import type { ComparedIdentity, UserIdentity } from "../../crypto/identity/user_identity.ts";
import { EncryptionError } from "../../errors/encryption_error.ts";
import { ValueError } from "../../errors/value_error.ts";
import type { Logger } from "../../base/log.ts";
import type { DeviceAlarm } from "../../types/api/device_alarm.ts";
import type { Membership } from "../../types/enums.ts";
import { noteEncryption } from "../../types/events/encryption_of.ts";
import type { MatrixEvent, MessageEvent } from "../../types/events/event.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";
import type { CryptoMachine, CryptoStartOptions, EncryptOptions } from "./crypto.ts";
import { Following } from "./following.ts";
import { KeyFiles } from "./key_files.ts";
import { OutgoingRequests, type RequestSender } from "./outgoing_requests.ts";
import { RoomPreparer, type RoomPreparerOptions } from "./room_preparer.ts";

/** What encryption is made of. */
export interface EngineCryptoOptions extends RoomPreparerOptions {
  /** Whose device it is. Resolves once the store is open for it. */
  readonly account: () => Promise<EngineAccount>;
  /** Makes the engine's requests. */
  readonly send: RequestSender;
  /** Delivers events that can be decrypted now. */
  readonly deliver: (events: readonly RecoveredEvent[]) => Promise<void>;
  /** Delivers an alarm about keys. */
  readonly alarm: (alarm: DeviceAlarm) => void;
  /** The wall clock. */
  readonly clock: Clock;
  /** Where failures are logged. */
  readonly log: Logger;
}

/** How often a room is made ready for the same event. */
const MAX_ENCRYPTIONS = 1_000;
/** How often a user's devices are looked up before those that are known are returned. */
const MAX_ROUNDS = 3;

/** Encryption by the engine. */
export class EngineCrypto implements CryptoMachine {
  readonly #options: EngineCryptoOptions;
  readonly #requests: OutgoingRequests;
  readonly #rooms: RoomPreparer;
  readonly #keyFiles: KeyFiles;
  readonly #following: Following;
  readonly #tried = new WeakSet<MatrixEvent>();
  #opening: Promise<OwnIdentity> | undefined;
  #isOpen = false;
  #checked: Promise<void> | undefined;

  /** @param options What it is made of. */
  constructor(options: EngineCryptoOptions) {
    this.#options = options;
    const { actor, send, alarm, clock, log } = options;
    this.#following = new Following(clock);
    const deliver = ({ recovered, alarms }: AnswerOutput): void => {
      this.#deliver(recovered);
      alarms.forEach(alarm);
    };
    this.#requests = new OutgoingRequests({ actor, send, deliver, log });
    this.#rooms = new RoomPreparer(options, this.#requests);
    this.#keyFiles = new KeyFiles({
      actor,
      open: () => this.#open(),
      deliver: (events) => this.#deliver(events),
    });
  }

  async start({ following }: CryptoStartOptions = {}): Promise<void> {
    this.resume();
    await this.#open();
    if (following !== undefined) this.#following.begin(following);
    await (this.#checked ??= this.#publish());
    this.#refuseConflict();
  }

  get isFollowing(): boolean {
    return this.#following.isOn;
  }

  async receiveSync(input: CryptoInput): Promise<CryptoOutput> {
    await this.#open();
    this.#refuseConflict();
    const output = await this.#options.actor.ask("receiveSync", input);
    this.#following.synced();
    for (const [index, event] of input.encrypted.entries()) {
      const result = output.decrypted[index];
      if (result !== undefined && !("event" in result)) this.#tried.add(event);
    }
    if (output.mayRequest) this.#requests.wake();
    return output;
  }

  isWaiting(event: MatrixEvent): boolean {
    return this.#tried.has(event);
  }

  async decrypt(event: MessageEvent): Promise<Decryption> {
    await this.#open();
    const result = await this.#options.actor.ask("decrypt", event);
    if ("event" in result) noteEncryption(result.event, result);
    return result;
  }

  async encrypt(roomId: RoomID, eventType: string, content: object, options: EncryptOptions = {}) {
    await this.start(); // others can't answer, or trust, a device whose keys are not published
    const { actor } = this.#options;
    // As it will be on the wire: what JSON leaves out must not be encrypted.
    const plain: unknown = JSON.parse(JSON.stringify(content));
    if (!isJsonObject(plain)) {
      throw new EncryptionError(`Cannot encrypt ${eventType}: its content must be an object`);
    }
    const input = { roomId, eventType, content: plain, txnId: options.txnId, since: this.#following.since };
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
    await this.#options.actor.ask("roomEventSent", event);
  }

  async shareGroupSession(roomId: RoomID): Promise<ShareReport> {
    await this.start();
    return await this.#prepare(roomId, this.#following.since);
  }

  async discardGroupSession(roomId: RoomID): Promise<void> {
    await this.#open();
    await this.#options.actor.ask("discardGroupSession", roomId);
  }

  async identity(): Promise<OwnIdentity> {
    return await this.#open();
  }

  async getDevices(userId: UserID): Promise<Device[]> {
    await this.#open();
    const { actor } = this.#options;
    const input = { users: [userId], since: this.#following.since };
    for (let round = 0; round < MAX_ROUNDS && await actor.ask("areDevicesStale", input); round++) {
      const { ended, failure } = await this.#requests.round("keysQuery");
      if (failure !== undefined) throw failure;
      if (ended === 0) break;
    }
    return await actor.ask("devicesOf", [userId]);
  }

  async setDeviceTrust(device: ComparedDevice, trust: LocalTrust | undefined): Promise<void> {
    await this.#open();
    const { userId, deviceId, ed25519 } = device;
    const say = () => this.#options.actor.ask("setDeviceTrust", { userId, deviceId, ed25519, trust });
    // A known device is not looked up: it can be blocked while the server does not answer.
    const recovered = await say().catch(async (error) => {
      if (!(error instanceof ValueError)) throw error;
      await this.getDevices(userId);
      return await say();
    });
    this.#deliver(recovered);
    this.#requests.wake();
  }

  async getIdentity(userId: UserID): Promise<UserIdentity | undefined> {
    await this.getDevices(userId); // they come together
    return await this.#options.actor.ask("identityOf", userId);
  }

  async acknowledgeIdentity({ userId, master }: ComparedIdentity): Promise<void> {
    await this.#open();
    this.#deliver(await this.#options.actor.ask("acknowledgeIdentity", { userId, master }));
    this.#requests.wake();
  }

  readonly exportKeys: CryptoMachine["exportKeys"] = (options) => this.#keyFiles.export(options);

  readonly importKeys: CryptoMachine["importKeys"] = async (file, options) => {
    const report = await this.#keyFiles.import(file, options);
    this.#requests.wake(); // what came need not be asked for any more
    return report;
  };

  /** Never rejects: the server has made the change, and a sync will show it. */
  async memberChanged(roomId: RoomID, userId: UserID, membership: Membership): Promise<void> {
    try {
      await this.#open();
      await this.#options.actor.ask("memberChanged", { roomId, userId, membership });
    } catch (error) {
      this.#options.log.warn("Could not note a change of members", { roomId, error: String(error) });
    }
  }

  async settle(events: readonly RecoveredEvent[]): Promise<void> {
    await this.#options.actor.ask("settle", events.map(({ ref }) => ref));
  }

  async idle(): Promise<void> {
    if (this.#opening !== undefined) await this.#requests.idle();
    this.#refuseConflict();
  }

  /** Aborts the requests under way, and makes no more. The next process makes them. */
  async stop(): Promise<void> {
    await this.#requests.stop();
  }

  /** Resolves when no request is under way, and everything is stored. */
  async quiet(): Promise<void> {
    if (!this.#isOpen) return;
    await this.#requests.quiet();
    await this.#options.actor.ask("noteSent", undefined);
  }

  /** Aborts the requests under way, and makes none until {@link EngineCrypto.resume}. */
  async pause(): Promise<void> {
    await this.#requests.pause();
  }

  /** Makes requests again. */
  resume(): void {
    this.#requests.resume();
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
    const account = await this.#options.account();
    if (account.deviceId === "") {
      throw new EncryptionError(
        `Cannot encrypt as ${account.userId}: the access token belongs to no device; log in`,
      );
    }
    const identity = await this.#options.actor.ask("open", account);
    this.#isOpen = true;
    return identity;
  }

  /** Compares the device with what the server has, and publishes its keys; later, if it is down. */
  async #publish(): Promise<void> {
    await this.#requests.round("keysQuery");
    await this.#requests.round("keysUpload");
  }

  /** Makes a room ready. If that shows that the device can't go on, that is the error. */
  async #prepare(roomId: RoomID, since: number | undefined): Promise<ShareReport> {
    try {
      return await this.#rooms.prepare(roomId, since);
    } catch (error) {
      throw this.#requests.conflict ?? error;
    }
  }

  #refuseConflict(): void {
    if (this.#requests.conflict !== undefined) throw this.#requests.conflict;
  }

  /** Does not wait for handlers: they may wait for the request that brought these events. */
  #deliver(events: readonly RecoveredEvent[]): void {
    if (events.length === 0) return;
    this.#options.deliver(events).catch((error) => {
      this.#options.log.warn("Could not deliver events that can be read now", { error: String(error) });
    });
  }
}
