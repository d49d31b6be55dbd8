/**
 * `client.crypto`: each call of it begins here. Over 300 lines because most of its methods are a line each.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import {
  type EncryptedClient,
  EngineRunner,
  pruneCrypto,
  requestSender,
  roomDescriber,
  sinceNow,
  spawnCrypto,
} from "../actors/crypto/crypto.ts";
import type { Lifecycle } from "../actors/kernel/mod.ts";
import { coreAPI } from "../api/api.ts";
import type { CryptoInput, CryptoOutput, OwnDeviceKeys, SentRoomEvent } from "../crypto/engine/engine.ts";
import type { Decryption, RecoveredEvent } from "../crypto/megolm/mod.ts";
import type { ShareReport } from "../crypto/sharing/mod.ts";
import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import {
  DOCTOR_OPTIONS,
  type EncryptionOptions,
  policyOf,
  RESET_OPTIONS,
  verificationOptions,
  VERIFIED_OPTIONS,
} from "./encryption_options.ts";
import { EncryptionError } from "../errors/encryption_error.ts";
import { permanent } from "../errors/matrix_error.ts";
import type { Membership } from "../types/enums.ts";
import { noteEncryption } from "../types/events/encryption_info.ts";
import type { MatrixEvent, MessageEvent } from "../types/events/event.ts";
import type { RoomID, UserID } from "../types/ids.ts";
import { objectJson } from "../types/json.ts";
import { KeyBackups } from "./backup/backup.ts";
import type { CryptoMachine, EncryptOptions } from "./crypto.ts";
import { HintedCrypto } from "./crypto_hints.ts";
import { DehydratedDevices } from "./dehydration.ts";
import {
  AccountIdentity,
  DeviceWarnings,
  EarlyReads,
  type EnsureVerifiedOptions,
  UserTrust,
} from "./identity/identity.ts";
import { KeyFiles } from "./key_files.ts";
import { VerificationHub } from "./verification/verification.ts";

export { answerOwners } from "./answer_owner.ts";
export {
  ENCRYPTION_OPTIONS,
  type EncryptionOptions,
  type OwnerVerificationOptions,
  verificationOptions,
} from "./encryption_options.ts";
export type { Crypto, CryptoMachine, EncryptOptions } from "./crypto.ts";
export type { CryptoDoctorOptions, CryptoFinding, CryptoFindingCode } from "./crypto_findings.ts";
export type { DehydrationOutcome } from "./dehydration.ts";
export type { HistoryCrypto, HistoryShareReport } from "./history.ts";
export type {
  ExportKeysOptions,
  ImportKeysOptions,
  KeyExportProgress,
  KeyImportCounts,
} from "./key_files.ts";
export type { KeyImportProgress, KeyImportReport } from "./key_files.ts";
import type { SecretsAPI, SecretStorage } from "./secrets/secrets.ts";

/** How often a room is made ready for the same event. */
const MAX_ENCRYPTIONS = 1_000;
const ENCRYPT: OptionNames<EncryptOptions> = { txnId: true, signal: true };

/** End-to-end encryption of a client, over the engine of its device. */
export class Encryption extends HintedCrypto implements CryptoMachine, Lifecycle {
  readonly backup: KeyBackups;
  readonly verificationRequests: CryptoMachine["verificationRequests"];
  readonly requestVerification: CryptoMachine["requestVerification"];
  readonly #engine: EngineRunner;
  readonly #client: EncryptedClient;
  /** What the device is verified with when it starts; undefined: it is not. */
  readonly #secrets: EnsureVerifiedOptions | undefined;
  readonly #sharesHistory: boolean;
  readonly #dehydration: DehydratedDevices;
  readonly #identity: AccountIdentity;
  readonly #users: UserTrust;
  readonly #keyFiles: KeyFiles;
  readonly #verifications: VerificationHub;
  readonly #warnings: DeviceWarnings;
  /** Events that could not be decrypted when they came. */
  readonly #tried = new WeakSet<MatrixEvent>();
  #checked: Promise<unknown> | undefined;
  #renewing: Promise<void> | undefined;

  /**
   * @param engine The engine of the device.
   * @param client The client.
   * @param options What was chosen.
   */
  constructor(engine: EngineRunner, client: EncryptedClient, options: EncryptionOptions = {}) {
    super();
    [this.#engine, this.#client] = [engine, client];
    this.#secrets = verificationOptions(options);
    this.#sharesHistory = options.shareHistory === true;
    const { api, deliverer } = client;
    const early = new EarlyReads(api);
    const backup = this.backup = new KeyBackups(engine, early.api);
    const dehydration = this.#dehydration = new DehydratedDevices(engine, api);
    this.#identity = new AccountIdentity(engine, client, { backup, dehydration, early });
    [this.#users, this.#keyFiles] = [new UserTrust(engine), new KeyFiles(engine)];
    this.#verifications = new VerificationHub(engine, api, this.#users, this.#identity, deliverer);
    this.verificationRequests = this.#verifications.incoming;
    this.requestVerification = this.#verifications.request;
    this.#warnings = new DeviceWarnings(engine.log);
  }

  /** Makes the encryption of a client: with an actor for its engine, which begins to load. */
  static of(client: EncryptedClient, options: EncryptionOptions): Encryption {
    const { session, api, store, ready, stateStore, dispatcher, log } = client;
    const { clock } = session.http;
    const engine = new EngineRunner({
      actor: spawnCrypto(store, policyOf(options), clock, log),
      session,
      ready,
      dispatcher,
      send: requestSender(api, clock),
      describe: roomDescriber(coreAPI(session), stateStore),
      onNewRecipient: options.onNewRecipient,
      log,
    });
    return new Encryption(engine, client, options);
  }

  async start(following?: AbortSignal): Promise<void> {
    const failure = await this.#begin(following);
    if (!await this.#engine.actor.isDoubtful()) return;
    this.#checked = undefined;
    throw failure ?? new EncryptionError("Cannot sync: the own device could not be looked up; try again");
  }

  get isFollowing(): boolean {
    return this.#engine.following.isOn;
  }

  async receiveSync(input: CryptoInput): Promise<CryptoOutput> {
    await this.#engine.ready();
    const output = await this.#engine.actor.receiveSync(input);
    this.#engine.noteRecovered(output.recovered);
    if (this.#client.showsRooms) this.#engine.following.synced();
    for (const [index, event] of input.encrypted.entries()) {
      const result = output.decrypted[index];
      if (result !== undefined && !("event" in result)) this.#tried.add(event);
    }
    this.#verifications.receive({ ...output, clear: input.verifying });
    if (output.mayRequest) this.#engine.requests.wake();
    return output;
  }

  isWaiting(event: MatrixEvent): boolean {
    return this.#tried.has(event);
  }

  wasRecovered({ event_id }: Pick<MessageEvent, "event_id">): boolean {
    return this.#engine.wasRecovered(event_id);
  }

  async isRoomEncrypted(roomId: RoomID): Promise<boolean> {
    await this.#engine.open();
    return await this.#engine.actor.isRoomEncrypted(roomId);
  }

  async decrypt(event: MessageEvent): Promise<Decryption> {
    await this.#engine.open();
    const { actor } = this.#engine;
    let result = await actor.decrypt(event);
    if (!("event" in result) && await this.backup.restoreFor(event)) {
      result = await actor.decrypt(event);
    }
    if ("event" in result) noteEncryption(result.event, result);
    return result;
  }

  async encrypt(roomId: RoomID, eventType: string, content: object, options: EncryptOptions = {}) {
    checkOptions(options, ENCRYPT, "encrypt");
    const json = objectJson(content); // as it is now, and will be on the wire
    if (json === undefined) {
      const mend = "its content must be an object, without cycles and big integers";
      throw permanent(new EncryptionError(`Cannot encrypt ${eventType}: ${mend}`));
    }
    await this.#begin(); // others can't answer, or trust, a device whose keys are not published
    const { actor, clock, following } = this.#engine;
    const input = { roomId, eventType, content: json, txnId: options.txnId, since: following.since };
    for (let round = 0; round < MAX_ENCRYPTIONS; round++) {
      options.signal?.throwIfAborted();
      this.#engine.refuseConflict();
      input.since = sinceNow(input.since, clock);
      const encrypted = await actor.encrypt(input);
      if (encrypted !== undefined) return encrypted.content;
      // For others, too: it goes on without this one.
      const prepared = this.#engine.prepareRoom(roomId, input.since);
      await (options.signal === undefined ? prepared : abortable(prepared, options.signal));
    }
    throw new EncryptionError(
      `Cannot encrypt ${eventType} for ${roomId}: its members change faster than they get keys`,
    );
  }

  async sent(event: SentRoomEvent): Promise<void> {
    await this.#engine.actor.roomEventSent(event);
  }

  async shareGroupSession(roomId: RoomID): Promise<ShareReport> {
    await this.#begin();
    return await this.#engine.prepareRoom(roomId, this.#engine.following.since);
  }

  async discardGroupSession(roomId: RoomID): Promise<void> {
    await this.#engine.open();
    await this.#engine.actor.discardGroupSession(roomId);
  }

  async getOwnDeviceKeys(): Promise<OwnDeviceKeys> {
    await this.#engine.open();
    return await this.#engine.actor.ownDevice();
  }

  readonly ensureVerified: CryptoMachine["ensureVerified"] = async (options = this.#secrets ?? {}) => {
    checkOptions(options, VERIFIED_OPTIONS, "verify the device");
    return await this.#identity.verify(options);
  };
  readonly resetIdentity: CryptoMachine["resetIdentity"] = async (options) => {
    checkOptions(options, RESET_OPTIONS, "reset the identity");
    return await this.#identity.reset(options);
  };
  readonly requestSecrets: CryptoMachine["requestSecrets"] = () => this.#identity.requestSecrets();
  readonly doctor: CryptoMachine["doctor"] = async (options = this.#secrets ?? {}) => {
    checkOptions(options, DOCTOR_OPTIONS, "look at the encryption");
    return await this.#identity.examine(options);
  };
  readonly getDevices: CryptoMachine["getDevices"] = (userId) => this.#users.getDevices(userId);
  readonly setDeviceTrust: CryptoMachine["setDeviceTrust"] = (...of) => this.#users.setDeviceTrust(...of);
  readonly getIdentity: CryptoMachine["getIdentity"] = (userId) => this.#users.getIdentity(userId);
  readonly acknowledgeIdentity: CryptoMachine["acknowledgeIdentity"] = (identity) =>
    this.#users.decide("acknowledgeIdentity", identity);
  readonly verifyUser: CryptoMachine["verifyUser"] = (identity) => this.#users.verify(identity);
  readonly verifyDevice: CryptoMachine["verifyDevice"] = (device) => this.#users.verifyDevice(device);
  readonly withdrawVerification: CryptoMachine["withdrawVerification"] = (identity) =>
    this.#users.decide("withdrawVerification", identity);
  readonly exportKeys: CryptoMachine["exportKeys"] = (options) => this.#keyFiles.export(options);
  readonly importKeys: CryptoMachine["importKeys"] = (file, options) => this.#keyFiles.import(file, options);

  readonly shareHistory: CryptoMachine["shareHistory"] = async (roomId, userId) => {
    await this.#begin();
    const { shareHistory } = await import("./history.ts");
    return await shareHistory(this.#engine, this.#client, { roomId, userId });
  };

  /** Never rejects: the server has made the change, and a sync will show it. */
  async memberChanged(roomId: RoomID, userId: UserID, membership: Membership): Promise<void> {
    try {
      await this.#engine.open();
      await this.#engine.actor.memberChanged({ roomId, userId, membership });
    } catch (error) {
      this.#engine.log.warn("Could not note a change of members", { roomId, error: String(error) });
    }
  }

  /** Never rejects: the user is invited even if the history can't be shared. */
  async inviting(roomId: RoomID, userId: UserID): Promise<void> {
    if (!this.#sharesHistory) return;
    try {
      await this.shareHistory(roomId, userId);
    } catch (error) {
      this.#engine.log.warn("Could not share the history of a room", {
        roomId,
        userId,
        error: String(error),
      });
    }
  }

  async settle(events: readonly RecoveredEvent[]): Promise<void> {
    await this.#engine.actor.settle(events.map(({ ref }) => ref));
  }

  async idle(): Promise<void> {
    const { actor, requests, isOpening } = this.#engine;
    if (isOpening) {
      do await requests.idle(); while (await this.#verifications.idle());
    }
    this.#engine.refuseConflict();
    if (this.#engine.isOpen) await actor.noteSent();
  }

  /**
   * Resolves when no request is under way, nor a step of a verification, and everything is stored with
   * the next commit.
   */
  async quiet(): Promise<void> {
    const { actor, requests, isOpen } = this.#engine;
    if (!isOpen) return;
    do await requests.quiet(); while (await this.#verifications.idle());
    await actor.noteSent();
  }

  /** Aborts the requests under way, and makes none until {@link Encryption.resume}. */
  readonly pause = (): Promise<void> => this.#engine.requests.pause();

  /** Makes requests again. */
  readonly resume = (): void => this.#engine.requests.resume();

  /** Replaces the dehydrated device, if it is old. Never rejects. */
  async renew(): Promise<void> {
    const secrets = this.#secrets;
    if (secrets?.dehydratedDevice !== true || !this.#dehydration.isDue) return;
    await (this.#renewing ??= this.#identity.renew(secrets)
      .catch((error) => {
        this.#engine.log.warn("Could not renew the dehydrated device", { error: String(error) });
      })
      .finally(() => this.#renewing = undefined));
  }

  /** Removes what need not be kept; returns how many records of each kind that was. */
  readonly prune = async (): Promise<Readonly<Record<string, number>>> => {
    await this.#engine.open();
    return (await pruneCrypto(this.#engine.actor)).removed;
  };

  get name(): string {
    return this.#engine.actor.name;
  }

  get done(): Promise<void> {
    return this.#engine.actor.done;
  }

  /** Handlers that are still running when the client is closed can send until here. */
  async stop(): Promise<void> {
    this.#verifications.stop();
    await this.#engine.stop();
    await this.#renewing;
    await this.#engine.actor.stop();
  }

  abandon(): void {
    this.#engine.actor.abandon();
  }

  /** @returns Why the device could not be compared with what the server has, if so. */
  async #begin(following?: AbortSignal): Promise<unknown> {
    this.resume();
    await this.#engine.open();
    if (following !== undefined) this.#engine.following.begin(following);
    const failure = await (this.#checked ??= this.#publish().catch((error) => {
      this.#checked = undefined; // the next one tries again
      throw error;
    }));
    this.#engine.refuseConflict();
    return failure;
  }

  /** The same, and publishes its keys; later, if the server is down. */
  async #publish(): Promise<unknown> {
    const { requests } = this.#engine;
    this.#verifications.begin();
    const secrets = this.#secrets;
    const preparing = secrets && this.#identity.prepare(secrets); // while the server is asked
    const { ended, failure } = await requests.round("keysQuery");
    await preparing;
    if (secrets !== undefined && requests.conflict === undefined) {
      await this.#identity.verify(secrets, { isAsked: ended > 0 && failure === undefined });
    }
    await requests.round("keysUpload");
    if (failure === undefined) await this.#warn();
    return failure;
  }

  /** Says what threatens this device. */
  async #warn(): Promise<void> {
    const { actor, requests } = this.#engine;
    if (requests.conflict !== undefined) return;
    if (this.#secrets === undefined) this.#warnings.unsigned(await actor.health());
    if (this.#client.hasToken && !this.#client.isDurable) this.#warnings.volatile();
  }
}

/** Makes `client.secretStorage`. What it is made of is loaded with the first call. */
export function lazySecretStorage(api: SecretsAPI): SecretStorage {
  const loaded = async () => (await import("./secrets/secrets.ts")).secretOperations(api);
  return {
    info: async (options) => await (await loaded()).info(options),
    create: async (options) => await (await loaded()).create(options),
    reset: async (options) => await (await loaded()).reset(options),
    open: async (by, options) => await (await loaded()).open(by, options),
    changeKey: async (by, options) => await (await loaded()).changeKey(by, options),
  };
}
