/**
 * The engine of end-to-end encryption: data in, decrypted events and requests to the server out.
 *
 * Its only input and output is its {@link Vault}. Every method is one step: its changes are
 * committed together before it returns, and a step that fails changes nothing. Steps must not
 * overlap: an actor calls them one after the other. Over 300 lines because each step is a method here.
 *
 * @module
 */

import { elapsed } from "../../base/clock.ts";
import { pause } from "../../base/runs.ts";
import { DeviceConflictError } from "../../errors/encryption_error.ts";
import { MissingPermissionError } from "../../errors/matrix_error.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import type { DeviceAlarm } from "../../types/api/device_keys.ts";
import type { JsonObject } from "../../types/json.ts";
import { cryptoContext } from "../context/context.ts";
import type { AnswerOutput, Decryption, RecoveredEvent, UndecryptableEventRef } from "../megolm/mod.ts";
import type { CryptoDevice } from "../devices/mod.ts";
import {
  type CryptoInput,
  type EngineOptions,
  type EngineOutput,
  type EngineParts,
  engineParts,
  type EngineRequest,
  type MemberChange,
  type OwnDeviceKeys,
  ownKeysOf,
  type PruneReport,
  type SentRoomEvent,
} from "./engine_parts.ts";
import type { FailureOutput, RequestFailure } from "../requests/requests.ts";
import type {
  Encrypted,
  EncryptInput,
  PrepareInput,
  RoomDescription,
  RoomReadiness,
  StaleInput,
} from "../sharing/mod.ts";
import { type EngineSteps, engineSteps } from "./steps.ts";
import { OwnKeys } from "../account/account.ts";
import { RecentMap } from "../../base/recent_map.ts";
import { EngineRequests } from "./engine_requests.ts";
import { recoverFromOldSession } from "./rollback.ts";
import {
  receiveDescription,
  receiveDespiteFaults,
  receiveMemberChange,
  receiveSync,
  type SyncStep,
} from "./receive_sync.ts";
import { type CommitOptions, type RecordCache, Transaction } from "../records/mod.ts";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { Logger } from "../../base/log.ts";

export type {
  CryptoInput,
  CryptoOutput,
  EngineRequest,
  OwnDeviceKeys,
  PruneReport,
  SentRoomEvent,
} from "./engine_parts.ts";
export type { EngineSteps, OfferReply, OwnHealth, OwnIdentityState, SigningReply } from "./steps.ts";
export { openerOf, type StorageOpener } from "../secrets/secrets.ts";
export type { VerificationAct, VerificationReply } from "./verification_steps.ts";

/** How many records are cached between steps: eight of each room for a bot in 10,000 rooms. */
const CACHED_RECORDS = 80_000;
/** How many events may have arrived before that is stored. */
const MAX_UNNOTED = 1_000;

/** A reply that waits until all that led to it is durable, while the next step may begin. */
export interface Underway<Reply> {
  /** Resolves with the reply. */
  readonly reply: Promise<Reply>;
}

/** What is known of a step before it is made. */
interface StepOptions extends CommitOptions {
  /** Whether it ends before it is durable. Default: no. */
  readonly shared?: boolean;
  /**
   * Whether it says so if it may lead to a request (`leadsToRequest`). Default:
   * no, it counts as one that may.
   */
  readonly marks?: boolean;
}

/** The engine of one device. */
export class Engine {
  /** The steps about identities, keys of sessions, dehydrated devices, shared history and verifications. */
  readonly steps: EngineSteps = engineSteps((work) => this.#step(work));
  readonly #options: EngineOptions;
  readonly #cache: RecordCache = new RecentMap(CACHED_RECORDS);
  /** Events that need not be sent any more, which is not stored yet. */
  #sent: SentRoomEvent[] = [];
  /** Whether what a step has changed may not be durable yet. */
  #owed = false;
  /** Settles with the commit of the last step that has ended before it was durable. */
  #durable: Promise<void> = Promise.resolve();
  /** When the requests were taken, in ms since the epoch; undefined: a step may have led to others. */
  #takenAt: number | undefined;
  /** How long from then on there are no others, in milliseconds. */
  #quietFor = 0;
  readonly #vodozemac: LivingVodozemac;
  #parts: EngineParts | undefined;
  #engineRequests: EngineRequests | undefined;

  private constructor(options: EngineOptions, vodozemac: LivingVodozemac) {
    this.#options = options;
    this.#vodozemac = vodozemac;
  }

  /** Opens the engine of a device: with the keys in the vault, or new ones if it is empty. */
  static async open(options: EngineOptions): Promise<Engine> {
    const vodozemac = await LivingVodozemac.load(options.log, () => engine.#clear());
    const engine = new Engine(options, vodozemac);
    await vodozemac.run(() => engine.#open());
    return engine;
  }

  /** The own device's public keys. */
  identity(): OwnDeviceKeys {
    return ownKeysOf(this.#opened.ownKeys);
  }

  /** See {@link EngineRequests.isDoubtful}. */
  readonly isDoubtful = (): Promise<boolean> => Promise.resolve(this.#requests.isDoubtful);

  /** See {@link EngineRequests.isDue}. */
  readonly isDue = (id: string): Promise<boolean> => Promise.resolve(this.#requests.isDue(id));

  /** Receives a sync response. Its changes wait for the commit of the sync token. */
  async receiveSync(input: CryptoInput): Promise<EngineOutput> {
    const { clock, log } = this.#options;
    const step: SyncStep = {
      take: (intake) =>
        this.#step((tx, parts) => receiveSync(tx, parts, intake), { deferred: true, marks: true }),
      works: async (intake) => {
        const undo = Symbol("it works");
        const trial = this.#step((...of) => receiveSync(...of, intake).then(() => Promise.reject(undo)));
        return await trial.catch((error) => error === undo);
      },
    };
    const output = await receiveDespiteFaults(input, { step, log });
    return { ...output, mayRequest: elapsed(clock.now(), this.#takenAt) >= this.#quietFor };
  }

  /** Decrypts an event that did not come with a sync. */
  async decrypt(event: MessageEvent): Promise<Decryption> {
    const [decryption] = await this.#step((tx, { inbound }) => inbound.decryption.decryptAll(tx, [event]));
    return decryption as Decryption; // one for each event
  }

  /** The requests that are due and not under way. Everything that led to them is durable. */
  async requests(): Promise<EngineRequest[]> {
    const { backupRequests: backup, history } = this.#opened;
    const files = history.isDue ? await this.#step((tx) => history.take(tx)) : []; // it may lead to others
    const requests = [
      ...files,
      ...this.#requests.take(),
      ...backup.isDue ? await this.#step((tx) => backup.take(tx)) : [],
    ];
    if (requests.length > 0 && this.#owed) await this.#options.vault.flush();
    this.#owed &&= requests.length === 0;
    this.#takenAt = this.#options.clock.now();
    this.#quietFor = this.#requests.nextIn(this.#takenAt);
    return requests;
  }

  /** Receives the answer to a request: a large one in several steps, with a pause between them. */
  async answer({ id, response }: { id: string; response: JsonObject }): Promise<AnswerOutput> {
    const recovered: RecoveredEvent[] = [];
    const alarms: DeviceAlarm[] = [];
    for (;;) {
      const outcome = await this.#step((tx) => this.#requests.answer(tx, id, response));
      if (outcome.conflict !== undefined) throw new DeviceConflictError(outcome.conflict);
      for (const event of outcome.recovered) recovered.push(event);
      for (const alarm of outcome.alarms) alarms.push(alarm);
      if (outcome.more !== true) return { recovered, alarms };
      await pause();
    }
  }

  /** Notes that a request failed. */
  async fail({ id, failure }: { id: string; failure: RequestFailure }): Promise<FailureOutput> {
    const { conflict, settled = false } = await this.#step((tx) => this.#requests.fail(tx, id, failure));
    if (conflict !== undefined) throw new DeviceConflictError(conflict);
    return { settled };
  }

  /** Returns what a room needs before its next event, and makes one step towards it. */
  async prepare(input: PrepareInput): Promise<RoomReadiness> {
    return await this.#step(async (tx, parts) => {
      await recoverFromOldSession(tx, parts, input.roomId);
      return this.#requests.ownNeeds() ?? await parts.outbound.prepare(tx, input);
    });
  }

  /** Receives the description of a room. */
  async describeRoom(description: RoomDescription): Promise<void> {
    await this.#step((tx, parts) => receiveDescription(tx, parts, description));
  }

  /** Notes a membership that this client has changed; a sync will show it too. */
  async memberChanged(change: MemberChange): Promise<void> {
    await this.#step((tx, parts) => receiveMemberChange(tx, parts, change));
  }

  /**
   * Encrypts an event; undefined if the room has to be prepared first. The step ends before it is
   * durable, so that those that come until then share a commit.
   */
  async encrypt(input: EncryptInput): Promise<Underway<Encrypted | undefined>> {
    const encrypted = await this.#step(async (tx, { outbound }) => {
      await this.#forgetSent(tx); // the event takes the place of one that has arrived
      return await outbound.encrypt(tx, input);
    }, { shared: true });
    return { reply: this.#durable.then(() => encrypted) };
  }

  /**
   * Discards an encrypted event. That it has arrived is stored with the next step: if the process
   * ends before, it is sent again, with the same transaction ID. One that never will is stored now.
   */
  async roomEventSent(event: SentRoomEvent): Promise<void> {
    this.#sent.push(event);
    if (event.hasArrived && this.#sent.length < MAX_UNNOTED) return;
    await this.#step((tx) => this.#forgetSent(tx), { marks: true });
  }

  /** Discards events that waited for their keys and have been handled. */
  async settle(events: readonly UndecryptableEventRef[]): Promise<void> {
    await this.#step(async (tx, { undecryptable }) => await undecryptable.settle(tx, events), {
      marks: true,
    });
  }

  /** Discards a room's group session: the next event begins a new one. */
  async discardGroupSession(roomId: RoomID): Promise<void> {
    await this.#step((tx, { outbound }) => outbound.discard(tx, roomId));
  }

  /** The devices of users, as far as they are known. */
  async devicesOf(users: readonly UserID[]): Promise<CryptoDevice[]> {
    const found = await this.#step((tx, { devices }) => devices.devicesOf(tx, users));
    return [...found.values()].flat();
  }

  /** Returns whether users' devices have to be looked up. They are tracked from now on. */
  async areDevicesStale(input: StaleInput): Promise<boolean> {
    return await this.#step((tx, { devices }) => Promise.resolve(devices.areStale(tx, input)));
  }

  /** Returns whether anything here says that a room is encrypted. */
  async isRoomEncrypted(roomId: RoomID): Promise<boolean> {
    return await this.#step((_, { rooms }) => Promise.resolve(rooms.isEncrypted(roomId)));
  }

  /** Removes some of what need not be kept any more; to be called again until it is done. */
  async prune(): Promise<PruneReport> {
    return await this.#step((tx, { pruner }) => pruner.step(tx));
  }

  /**
   * Has the next commit store which events need not be sent any more, if that has not been stored: the
   * one with which the device is handed back or released, at the latest.
   */
  async noteSent(): Promise<void> {
    if (this.#sent.length === 0) return;
    await this.#step((tx) => this.#forgetSent(tx), { deferred: true, marks: true });
  }

  /** The same, and frees the objects of vodozemac. */
  async close(): Promise<void> {
    await this.noteSent();
    this.#clear();
  }

  get #opened(): EngineParts {
    if (this.#parts === undefined) throw new TypeError("Cannot use the engine: it is not open");
    return this.#parts;
  }

  get #requests(): EngineRequests {
    return this.#engineRequests ??= new EngineRequests(this.#opened);
  }

  async #open(): Promise<void> {
    const { account, clock, log, policy } = this.#options;
    const vodozemac = () => this.#vodozemac.instance;
    this.#parts = await this.#transact(async (tx) => {
      const ownKeys = await OwnKeys.open(tx, vodozemac, account, clock, log);
      const context = cryptoContext(vodozemac, { own: ownKeys.own, clock, log, policy });
      return await engineParts(tx, context, ownKeys);
    });
  }

  #step<Result>(
    work: (tx: Transaction, parts: EngineParts) => Promise<Result>,
    options?: StepOptions,
  ): Promise<Result> {
    return this.#vodozemac.run(() => this.#transact(work, options));
  }

  async #transact<Result>(
    work: (tx: Transaction, parts: EngineParts) => Promise<Result>,
    { marks = false, shared = false, ...commit }: StepOptions = {},
  ): Promise<Result> {
    const tx = new Transaction(this.#options.vault, this.#cache);
    try {
      const result = await work(tx, this.#parts as EngineParts); // only `#open()`, which makes them, has none
      if (tx.changes > 0) await this.#forgetSent(tx);
      if (shared) this.#durable = tx.begin() ?? this.#durable;
      else await tx.commit(commit);
      if (tx.changes > 0) this.#owed = shared || commit.deferred === true;
      if (tx.leadsToRequest || !marks) this.#takenAt = undefined;
      return result;
    } catch (error) {
      tx.abort();
      throw error;
    }
  }

  async #forgetSent(tx: Transaction): Promise<void> {
    const sent = this.#sent.splice(0);
    if (sent.length > 0) tx.onAbort(() => this.#sent = sent.concat(this.#sent));
    for (const { roomId, txnId } of sent) await this.#opened.outbound.roomEventSent(tx, roomId, txnId);
  }

  #clear(): void {
    const { olm, inbound, outbound, ownKeys, verifications } = this.#parts ?? {};
    for (const part of [olm?.sessions, inbound, outbound, ownKeys, verifications]) part?.clear();
  }
}

/** An instance of vodozemac that is replaced after it has trapped. */
class LivingVodozemac {
  readonly #log: Logger;
  readonly #forget: () => void;
  #instance: Vodozemac;

  private constructor(instance: Vodozemac, log: Logger, forget: () => void) {
    [this.#instance, this.#log, this.#forget] = [instance, log, forget];
  }

  /**
   * Loads vodozemac.
   *
   * @param log Logs that an instance has failed.
   * @param forget Frees all objects of a failed instance; they are restored from their records.
   */
  static async load(log: Logger, forget: () => void): Promise<LivingVodozemac> {
    try {
      return new LivingVodozemac(await Vodozemac.load(), log, forget);
    } catch (error) {
      if (!(error instanceof WebAssembly.CompileError)) throw error;
      throw new MissingPermissionError(
        "Cannot encrypt: this page may not compile WebAssembly; add 'wasm-unsafe-eval' to script-src of its " +
          "Content-Security-Policy",
        { cause: error },
      );
    }
  }

  /** The instance, to be read at each use. */
  get instance(): Vodozemac {
    return this.#instance;
  }

  /**
   * Runs some work. If vodozemac traps, its memory is unusable: the work runs again with another instance.
   */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#instance.dead) await this.#revive();
    try {
      return await work();
    } catch (error) {
      if (!this.#instance.dead) throw error;
      this.#log.error("The cryptographic library has failed, and is restarted", {
        error: String(error),
      });
      await this.#revive();
      return await work();
    }
  }

  async #revive(): Promise<void> {
    this.#instance = await Vodozemac.load();
    this.#forget();
  }
}
