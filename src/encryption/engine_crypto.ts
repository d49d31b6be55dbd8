/**
 * `client.crypto` over the engine: opens it, makes its requests, and makes rooms ready for an
 * event. Over 300 lines because it is all of `client.crypto`, of which most methods are a line.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import type { Clock } from "../base/clock.ts";
import type { AnswerOutput, Decryption, RecoveredEvent } from "../crypto/megolm/decrypted.ts";
import type {
  CryptoInput,
  CryptoOutput,
  OwnIdentity,
  SentRoomEvent,
} from "../crypto/engine/engine_protocol.ts";
import type { ShareReport } from "../crypto/sharing/sharing_protocol.ts";
import { RecentMap } from "../base/recent_map.ts";
import { EncryptionError } from "../errors/encryption_error.ts";
import type { Logger } from "../base/log.ts";
import type { DeviceAlarm } from "../types/api/device_alarm.ts";
import type { Membership } from "../types/enums.ts";
import { noteEncryption } from "../types/events/encryption_of.ts";
import type { MatrixEvent, MessageEvent } from "../types/events/event.ts";
import type { EventID, RoomID, UserID } from "../types/ids.ts";
import { isJsonObject } from "../types/json.ts";
import type { CryptoStartOptions } from "../actors/crypto/sync_crypto.ts";
import type { CryptoMachine, EncryptOptions } from "./crypto.ts";
import type { DehydrationMachine } from "./dehydration/dehydration.ts";
import { DeviceWarnings } from "./identity/device_warnings.ts";
import { Following, sinceNow } from "../actors/crypto/following.ts";
import type { EnsureVerifiedOptions } from "./identity/identity_crypto.ts";
import type { HistoryCrypto, HistoryHooks } from "./history/history_crypto.ts";
import { IdentityPort, type IdentityWork, Verification } from "./identity/identity_port.ts";
import type { KeyBackupHooks } from "./backup/key_backup.ts";
import { KeyFiles } from "./key_files.ts";
import { OutgoingRequests, type RequestSender } from "../actors/crypto/outgoing_requests.ts";
import { UserTrust } from "./identity/user_trust.ts";
import { type RoomSender, VerificationHub } from "./verification/verification_hub.ts";
import { EngineOpener, type EngineOpenerOptions } from "../actors/crypto/engine_opener.ts";
import { REQUEST_TYPE, VERIFICATION_PREFIX } from "../crypto/megolm/verification_event.ts";
import { RoomPreparer, type RoomPreparerOptions } from "../actors/crypto/room_preparer.ts";

/** What encryption is made of. */
export interface EngineCryptoOptions extends RoomPreparerOptions, EngineOpenerOptions {
  /** Makes the engine's requests. */
  readonly send: RequestSender;
  /** Sends an event to a room, encrypted as the room is. */
  readonly sendToRoom: RoomSender;
  /** Makes the backup of room keys. */
  readonly backup: (parts: KeyBackupHooks) => CryptoMachine["backup"];
  /** Makes and reads dehydrated devices. */
  readonly dehydration: (parts: KeyBackupHooks) => DehydrationMachine;
  /** Shares history with a user. */
  readonly shareHistory: (
    parts: HistoryHooks,
    ...of: Parameters<HistoryCrypto["shareHistory"]>
  ) => ReturnType<
    HistoryCrypto["shareHistory"]
  >;
  /** Whether that is done before each invitation. */
  readonly sharesHistory: boolean;
  /** Delivers events that can be decrypted now. */
  readonly deliver: (events: readonly RecoveredEvent[]) => Promise<void>;
  /** Delivers an alarm about keys. */
  readonly alarm: (alarm: DeviceAlarm) => void;
  /** Has the device signed by its user's identity, or replaces that. */
  readonly identity: IdentityWork;
  /** What that may use, also when it starts; undefined: nothing, and it does not. */
  readonly secrets: EnsureVerifiedOptions | undefined;
  /** Whether the keys are lost with the process, though the access token goes on. */
  readonly keysAreLost: boolean;
  /** Whether syncs show what happens in rooms. */
  readonly showsRooms: boolean;
  /** The wall clock. */
  readonly clock: Clock;
  /** Where failures are logged. */
  readonly log: Logger;
}

/** How many events that could be read after all are remembered. */
const MAX_RECOVERED = 1_000;
/** How often a room is made ready for the same event. */
const MAX_ENCRYPTIONS = 1_000;

/** Encryption by the engine. */
export class EngineCrypto implements CryptoMachine {
  readonly backup: CryptoMachine["backup"];
  /** Dehydrated devices. */
  readonly dehydration: DehydrationMachine;
  readonly verificationRequests: CryptoMachine["verificationRequests"];
  readonly #options: EngineCryptoOptions;
  readonly #requests: OutgoingRequests;
  readonly #rooms: RoomPreparer;
  readonly #users: UserTrust;
  readonly #verification: Verification;
  readonly #keyFiles: KeyFiles;
  readonly #following: Following;
  readonly #tried = new WeakSet<MatrixEvent>();
  /** The latest events that could be read after all. */
  readonly #recovered = new RecentMap<EventID, EventID>(MAX_RECOVERED);
  readonly #opener: EngineOpener;
  readonly #open = (): Promise<OwnIdentity> => this.#opener.opening ?? this.#opener.open();
  readonly #verifications: VerificationHub;
  #checked: Promise<unknown> | undefined;
  readonly #warnings: DeviceWarnings;
  #renewing: Promise<void> | undefined;

  /** @param options What it is made of. */
  constructor(options: EngineCryptoOptions) {
    this.#options = options;
    const { actor, send, sendToRoom, alarm, clock, log } = options;
    this.#opener = new EngineOpener(options);
    this.#warnings = new DeviceWarnings(log);
    this.#following = new Following(clock);
    const deliver = ({ recovered, alarms }: AnswerOutput): void => {
      this.#deliver(recovered);
      alarms.forEach(alarm);
    };
    this.#requests = new OutgoingRequests({ actor, send, deliver, log });
    this.#rooms = new RoomPreparer(options, this.#requests);
    const parts: KeyBackupHooks = {
      actor,
      open: this.#open,
      deliver: (events) => this.#deliver(events),
      wake: () => this.#requests.wake(),
      idle: () => this.#requests.idle(),
    };
    this.#keyFiles = new KeyFiles(parts);
    this.backup = options.backup(parts);
    this.dehydration = options.dehydration(parts);
    this.shareHistory = async (...of) => {
      await this.#begin();
      const round: HistoryHooks["round"] = (kind) => this.#requests.round(kind);
      return await options.shareHistory({ ...parts, round }, ...of);
    };
    const using = { ...parts, requests: this.#requests, following: this.#following };
    this.#verification = new Verification(new IdentityPort(using), options.identity, {
      open: this.#open,
      assert: () => this.#refuseConflict(),
    });
    const users = this.#users = new UserTrust(using);
    const { requestSecrets } = this;
    this.#verifications = new VerificationHub({ ...using, users, sendToRoom, requestSecrets, clock, log });
    this.verificationRequests = this.#verifications.incoming;
    this.requestVerification = this.#verifications.request;
  }

  async start({ following }: CryptoStartOptions = {}): Promise<void> {
    const failure = await this.#begin(following);
    if (!await this.#options.actor.isDoubtful()) return;
    this.#checked = undefined;
    throw failure ?? new EncryptionError("Cannot sync: the own device could not be looked up; try again");
  }

  get isFollowing(): boolean {
    return this.#following.isOn;
  }

  async receiveSync(input: CryptoInput): Promise<CryptoOutput> {
    await this.#open();
    this.#refuseConflict();
    const output = await this.#options.actor.receiveSync(input);
    this.#noteRecovered(output.recovered);
    if (this.#options.showsRooms) this.#following.synced();
    let verifies = [...output.toDevice, ...output.recovered].some(({ event }) => isVerification(event));
    for (const [index, event] of input.encrypted.entries()) {
      const result = output.decrypted[index];
      if (result === undefined) continue;
      if (!("event" in result)) {
        this.#tried.add(event);
        verifies ||= result.verifying !== undefined;
      } else verifies ||= isVerification(result.event);
    }
    const clear = input.verifying ?? [];
    if (verifies || clear.length > 0) this.#verifications.receive({ ...output, clear });
    if (output.mayRequest) this.#requests.wake();
    return output;
  }

  isWaiting(event: MatrixEvent): boolean {
    return this.#tried.has(event);
  }

  wasRecovered({ event_id }: Pick<MessageEvent, "event_id">): boolean {
    return this.#recovered.get(event_id) !== undefined;
  }

  async isRoomEncrypted(roomId: RoomID): Promise<boolean> {
    await this.#open();
    return await this.#options.actor.isRoomEncrypted(roomId);
  }

  async decrypt(event: MessageEvent): Promise<Decryption> {
    await this.#open();
    const { actor } = this.#options;
    let result = await actor.decrypt(event);
    if (!("event" in result) && await this.backup.restoreFor(event)) {
      result = await actor.decrypt(event);
    }
    if ("event" in result) noteEncryption(result.event, result);
    return result;
  }

  async encrypt(roomId: RoomID, eventType: string, content: object, options: EncryptOptions = {}) {
    await this.#begin(); // others can't answer, or trust, a device whose keys are not published
    const { actor, clock } = this.#options;
    // As it will be on the wire: what JSON leaves out must not be encrypted.
    const plain: unknown = JSON.parse(JSON.stringify(content));
    if (!isJsonObject(plain)) {
      throw new EncryptionError(`Cannot encrypt ${eventType}: its content must be an object`);
    }
    const input = { roomId, eventType, content: plain, txnId: options.txnId, since: this.#following.since };
    for (let round = 0; round < MAX_ENCRYPTIONS; round++) {
      options.signal?.throwIfAborted();
      this.#refuseConflict();
      input.since = sinceNow(input.since, clock);
      const encrypted = await actor.encrypt(input);
      if (encrypted !== undefined) return encrypted.content;
      const prepared = this.#prepare(roomId, input.since); // for others, too: it goes on without this one
      await (options.signal === undefined ? prepared : abortable(prepared, options.signal));
    }
    throw new EncryptionError(
      `Cannot encrypt ${eventType} for ${roomId}: its members change faster than they get keys`,
    );
  }

  async sent(event: SentRoomEvent): Promise<void> {
    await this.#options.actor.roomEventSent(event);
  }

  async shareGroupSession(roomId: RoomID): Promise<ShareReport> {
    await this.#begin();
    return await this.#prepare(roomId, this.#following.since);
  }

  async discardGroupSession(roomId: RoomID): Promise<void> {
    await this.#open();
    await this.#options.actor.discardGroupSession(roomId);
  }

  async identity(): Promise<OwnIdentity> {
    await this.#open();
    return await this.#options.actor.ownDevice();
  }

  readonly ensureVerified: CryptoMachine["ensureVerified"] = (options = this.#options.secrets ?? {}) =>
    this.#verification.verify(options);
  readonly resetIdentity: CryptoMachine["resetIdentity"] = (options) => this.#verification.reset(options);
  readonly requestSecrets: CryptoMachine["requestSecrets"] = () => this.#verification.request();
  readonly doctor: CryptoMachine["doctor"] = (options = this.#options.secrets) =>
    this.#verification.examine(options ?? {});
  readonly getDevices: CryptoMachine["getDevices"] = (userId) => this.#users.getDevices(userId);
  readonly setDeviceTrust: CryptoMachine["setDeviceTrust"] = (...of) => this.#users.setDeviceTrust(...of);
  readonly getIdentity: CryptoMachine["getIdentity"] = (userId) => this.#users.getIdentity(userId);
  readonly acknowledgeIdentity: CryptoMachine["acknowledgeIdentity"] = (identity) =>
    this.#users.decide("acknowledgeIdentity", identity);
  readonly verifyUser: CryptoMachine["verifyUser"] = (identity) => this.#users.verify(identity);
  readonly verifyDevice: CryptoMachine["verifyDevice"] = (device) => this.#users.verifyDevice(device);
  readonly withdrawVerification: CryptoMachine["withdrawVerification"] = (identity) =>
    this.#users.decide("withdrawVerification", identity);
  readonly requestVerification: CryptoMachine["requestVerification"];
  readonly shareHistory: CryptoMachine["shareHistory"];
  readonly exportKeys: CryptoMachine["exportKeys"] = (options) => this.#keyFiles.export(options);
  readonly importKeys: CryptoMachine["importKeys"] = (file, options) => this.#keyFiles.import(file, options);

  /** Never rejects: the server has made the change, and a sync will show it. */
  async memberChanged(roomId: RoomID, userId: UserID, membership: Membership): Promise<void> {
    try {
      await this.#open();
      await this.#options.actor.memberChanged({ roomId, userId, membership });
    } catch (error) {
      this.#options.log.warn("Could not note a change of members", { roomId, error: String(error) });
    }
  }

  /** Never rejects: the user is invited, whatever becomes of the history. */
  async inviting(roomId: RoomID, userId: UserID): Promise<void> {
    const { sharesHistory, log } = this.#options;
    if (!sharesHistory) return;
    try {
      await this.shareHistory(roomId, userId);
    } catch (error) {
      log.warn("Could not share the history of a room", { roomId, userId, error: String(error) });
    }
  }

  async settle(events: readonly RecoveredEvent[]): Promise<void> {
    await this.#options.actor.settle(events.map(({ ref }) => ref));
  }

  async idle(): Promise<void> {
    if (this.#opener.opening !== undefined) {
      do await this.#requests.idle(); while (await this.#verifications.idle());
    }
    this.#refuseConflict();
    if (this.#opener.isOpen) await this.#options.actor.noteSent();
  }

  /** Aborts the requests under way, and makes no more. The next process makes them. */
  async stop(): Promise<void> {
    this.#verifications.stop();
    await this.#requests.stop();
    await this.#renewing;
  }

  /** Sees to the dehydrated device, if that is due. Never rejects. */
  async renew(): Promise<void> {
    const { secrets, log } = this.#options;
    if (secrets?.dehydratedDevice !== true || !this.dehydration.isDue) return;
    await (this.#renewing ??= this.#verification.renew(secrets)
      .catch((error) => log.warn("Could not see to the dehydrated device", { error: String(error) }))
      .finally(() => this.#renewing = undefined));
  }

  /**
   * Resolves when no request is under way, nor a step of a verification, and everything is stored with
   * the next commit.
   */
  async quiet(): Promise<void> {
    if (!this.#opener.isOpen) return;
    do await this.#requests.quiet(); while (await this.#verifications.idle());
    await this.#options.actor.noteSent();
  }

  /** Aborts the requests under way, and makes none until {@link EngineCrypto.resume}. */
  readonly pause = (): Promise<void> => this.#requests.pause();

  /** Makes requests again. */
  readonly resume = (): void => this.#requests.resume();

  /** @returns Why the device could not be compared with what the server has, if so. */
  async #begin(following?: AbortSignal): Promise<unknown> {
    this.resume();
    await this.#open();
    if (following !== undefined) this.#following.begin(following);
    const failure = await (this.#checked ??= this.#publish().catch((error) => {
      this.#checked = undefined; // the next one tries again
      throw error;
    }));
    this.#refuseConflict();
    return failure;
  }

  /** The same, and publishes its keys; later, if the server is down. */
  async #publish(): Promise<unknown> {
    this.#verifications.begin();
    const { secrets } = this.#options;
    const preparing = secrets && this.#verification.prepare(secrets); // while the server is asked
    const { ended, failure } = await this.#requests.round("keysQuery");
    await preparing;
    if (secrets !== undefined && this.#requests.conflict === undefined) {
      await this.#verification.verify(secrets, { isAsked: ended > 0 && failure === undefined });
    }
    await this.#requests.round("keysUpload");
    if (failure === undefined) await this.#warn();
    return failure;
  }

  /** Says what threatens this device. */
  async #warn(): Promise<void> {
    const { actor, keysAreLost, secrets } = this.#options;
    if (this.#requests.conflict !== undefined) return;
    if (secrets === undefined) this.#warnings.unsigned(await actor.health());
    if (keysAreLost) this.#warnings.volatile();
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

  #noteRecovered(events: readonly RecoveredEvent[]): void {
    for (const { ref: { eventId } } of events) this.#recovered.set(eventId, eventId);
  }

  /** Does not wait for handlers: they may wait for the request that brought these events. */
  #deliver(events: readonly RecoveredEvent[]): void {
    if (events.length === 0) return;
    this.#noteRecovered(events);
    if (events.some(({ event }) => isVerification(event))) this.#verifications.receive({ recovered: events });
    this.#options.deliver(events).catch((error) => {
      this.#options.log.warn("Could not deliver events that can be read now", { error: String(error) });
    });
  }
}

/** Whether an event may belong to a verification: most do not, and go on as they are. */
function isVerification({ type, content }: Pick<MessageEvent, "type" | "content">): boolean {
  return type.startsWith(VERIFICATION_PREFIX) || content.msgtype === REQUEST_TYPE;
}
