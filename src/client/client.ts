/**
 * The client: actors wired together, and a facade in front of them.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { type ClientOptions, STATE_STORE } from "./client_options.ts";
import type { CustomRequestOptions, FillMemberEventCallback, HTTPAPI, Method } from "../api/http/mod.ts";
import {
  answerOwners,
  type Crypto,
  type CryptoMachine,
  lazySecretStorage,
} from "../encryption/encryption.ts";
import { DecryptionDispatcher } from "./decryption_dispatcher.ts";
import type { EncryptingAPI } from "./encrypting_api.ts";
import { type QuarantineAPI, quarantineAPI } from "./quarantine_api.ts";
import type { PruneSummary } from "./housekeeping.ts";
import { StateStore } from "../actors/store/mod.ts";
import { SyncStore } from "./sync_store.ts";
import type { Dispatcher, DispatcherType, SyncerAPI } from "./syncer_api.ts";
import type { ClientAPI } from "../api/api.ts";
import { discover, type DiscoverOptions } from "../api/server/server.ts";
import { parseUserId, type UserIDParts } from "../types/identifiers.ts";
import { ClientBasics } from "./client_basics.ts";
import { ClientLife } from "./client_life.ts";
import { applicationOperations, clientOperations } from "./client_operations.ts";
import { LazyServing } from "./lazy_serving.ts";
import type { WakeAPI } from "./wake_options.ts";
import { type SessionsAPI, type TasksAPI, tasksAPI } from "./sessions_api.ts";
import type { SecretStorage } from "../encryption/secrets/secrets.ts";
import type { Logger } from "../base/log.ts";
import type { PresenceState } from "../types/enums.ts";
import type { DeviceID, UserID } from "../types/ids.ts";

export { type ClientLeaseOptions, type ClientOptions, FEED, STATE_STORE } from "./client_options.ts";
export { type DecryptingClient, DecryptionDispatcher } from "./decryption_dispatcher.ts";
export type { EncryptingAPI } from "./encrypting_api.ts";
export type { EventFor, HandlerDecorator, HandlersAPI, OptionsFor } from "./handlers_api.ts";
export type { PruneSummary } from "./housekeeping.ts";
export type { QuarantineAPI } from "./quarantine_api.ts";
export type { ListSessionsOptions, SessionsAPI, StoredSession, TasksAPI } from "./sessions_api.ts";
export type { SyncStore } from "./sync_store.ts";
export type {
  Dispatcher,
  DispatcherType,
  DispatchManualOptions,
  InternalData,
  InternalEventOptions,
  SyncerAPI,
} from "./syncer_api.ts";
export type { RegisterWakeOptions, WakeAPI, WakeOptions, WakeRegistration } from "./wake_options.ts";

/**
 * A user's client: all operations of the homeserver, syncing, handlers, room state.
 *
 * Clients share nothing: a process can have as many as it likes.
 *
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * await homeserver.createUser("alice", { password: "wonderland" });
 * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch });
 * await client.login({ identifier: "@alice:localhost", password: "wonderland" });
 * const roomId = await client.createRoom({ name: "Green room" });
 * await client.sendText(roomId, "Hello, world!");
 * ```
 */
export class Client {
  /** The transport. */
  readonly api: HTTPAPI;
  /** Logs what goes on. */
  readonly log: Logger;
  /** Logs what goes on with encryption. */
  readonly cryptoLog: Logger;
  /** Room state as it was committed with the latest sync. */
  readonly stateStore: StateStore;
  /** The position in the sync stream. */
  readonly syncStore: SyncStore;
  /** Types of event that are never encrypted; it can be changed. */
  readonly encryptionBlacklist: Set<string>;
  /** The dispatchers that have been added, by their type. */
  readonly dispatchers: Map<DispatcherType<Client>, Dispatcher> = new Map();
  /** Events that are left out, since the process ended again and again while they were handled. */
  readonly quarantine: QuarantineAPI;
  /** Sessions of handlers, read and changed from outside of them. */
  readonly sessions: SessionsAPI;
  /** Secrets of the user on the server, which only the user's key opens; needs no `encryption`. */
  readonly secretStorage: SecretStorage = lazySecretStorage(this);
  readonly #basics: ClientBasics;
  readonly #life: ClientLife;
  readonly #serving: LazyServing;

  /**
   * Makes a client; nothing is sent.
   *
   * @param options The homeserver, or the user to find it by, at the least.
   * @throws {ValueError} If there is neither, or an option can't be used.
   */
  constructor(options: ClientOptions) {
    const basics = this.#basics = new ClientBasics(options);
    const life = this.#life = new ClientLife(basics);
    this.api = basics.http;
    this.log = basics.log;
    this.cryptoLog = basics.cryptoLog;
    this.encryptionBlacklist = basics.blacklist;
    this.stateStore = options[STATE_STORE] ?? new StateStore(life);
    this.syncStore = new SyncStore(life);
    this.quarantine = quarantineAPI(life);
    const { sessions, runTask } = tasksAPI(life, this.log);
    this.sessions = sessions;
    const api = clientOperations(basics, life, this.stateStore);
    const { registerWake } = this.#serving = new LazyServing(basics, life, api);
    life.begin(api);
    Object.assign(this, applicationOperations(api, basics, life), { registerWake, runTask });
    if (basics.crypto !== undefined) this.addDispatcher(DecryptionDispatcher);
    answerOwners(this, basics.chosen?.verification);
  }

  /**
   * Finds a domain's homeserver.
   *
   * @param domain The server name, as in a user ID, or the user ID; a port is left out.
   * @param options How to ask.
   * @returns The homeserver's address, for `baseUrl`; undefined if the domain does not say (404).
   * @throws {WellKnownError} If the domain can't be asked, or what it says can't be used.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#server-discovery | Server
   *   discovery}
   */
  static async discover(domain: string, options?: DiscoverOptions): Promise<string | undefined> {
    return await discover(domain, options);
  }

  /**
   * Takes a user ID apart.
   *
   * @param mxid The user ID.
   * @returns The local part and the server name.
   * @throws {ValueError} If it is no user ID.
   */
  static parseUserId(mxid: string): UserIDParts {
    return parseUserId(mxid);
  }

  /** The same as {@linkcode Client.parseUserId}. */
  static parseMxid(mxid: string): UserIDParts {
    return parseUserId(mxid);
  }

  /** The user's presence while the client syncs. Default: `online`. */
  get presence(): PresenceState {
    return this.#basics.presence;
  }

  /** Sets the user's presence, from the next request of the sync on. */
  set presence(presence: PresenceState) {
    this.#basics.presence = presence;
  }

  /** What `start()` returned last; undefined before. */
  get syncingTask(): Promise<void> | undefined {
    return this.#life.syncingTask;
  }

  /** The acting user: from the options, a login, or the server. Empty until it is known. */
  get mxid(): UserID | "" {
    return this.#basics.session.mxid;
  }

  /**
   * Changes the acting user.
   *
   * @param mxid The user ID.
   * @throws {ValueError} If it is no user ID.
   */
  setMxid(mxid: UserID): void {
    parseUserId(mxid);
    this.#basics.session.mxid = mxid;
  }

  /** The device that the access token belongs to; undefined until it is known. */
  get deviceId(): DeviceID | undefined {
    return this.#basics.session.deviceId;
  }

  /** Says which device the access token belongs to. */
  set deviceId(deviceId: DeviceID | undefined) {
    this.#basics.session.deviceId = deviceId;
  }

  /** End-to-end encryption; undefined if the client has none. */
  get crypto(): Crypto | undefined {
    return this.#basics.crypto;
  }

  /**
   * Sets end-to-end encryption of another make, or removes it, with the dispatcher that decrypts.
   *
   * @internal
   */
  set crypto(crypto: CryptoMachine | undefined) {
    this.#basics.crypto = crypto;
    if (crypto === undefined) this.removeDispatcher(DecryptionDispatcher);
    else this.addDispatcher(DecryptionDispatcher);
  }

  /** Completes member events that are sent by hand; it can be set later. */
  get fillMemberEventCallback(): FillMemberEventCallback | undefined {
    return this.#basics.session.fillMemberEventCallback;
  }

  /** Sets what completes member events. */
  set fillMemberEventCallback(callback: FillMemberEventCallback | undefined) {
    this.#basics.session.fillMemberEventCallback = callback;
  }

  /**
   * Resolves when the client has been closed. Rejects with an {@linkcode ActorError}, which names
   * the part and the cause, when it can't go on and has stopped: a dead token, or a store that
   * failed.
   */
  get done(): Promise<void> {
    return this.#life.done;
  }

  /**
   * Resolves when the handlers of the first response have settled, of the latest start or
   * `syncOnce()`; before the first start, of that one. Rejects with a {@linkcode ClientEndedError}
   * if the client is stopped or closed before, and with what `start()` rejects with. Unread, it
   * causes no unhandled rejection.
   */
  get ready(): Promise<void> {
    return this.#life.first.handled;
  }

  /**
   * Requests any endpoint, with authorisation, retries, bounds and errors as operations have them.
   *
   * @param method The HTTP method.
   * @param path The path below the homeserver's address; `{name}` is the parameter of that name in
   *   `options.path`.
   * @param options The body, the parameters, and the options of every request.
   * @returns The parsed JSON of the answer, unchecked.
   */
  async request<Result = unknown>(
    method: Method,
    path: string,
    options?: CustomRequestOptions,
  ): Promise<Result> {
    return await this.api.request<Result>(method, path, options);
  }

  /**
   * Answers HTTP requests, where no process stays: give it to `Deno.serve()`, Hono, Fresh, or
   * whatever serves functions from a request to a response, below any path. It needs no `this`, and
   * never rejects.
   *
   * - `POST …/_matrix/push/v1/notify`: the homeserver tells of an event ({@linkcode
   *   WakeAPI.registerWake}); only with the option `wake`. The answer comes when the bot has made a
   *   pass, as `syncOnce()` makes it, in which handlers have settled. If that takes longer than
   *   `wake.timeLimit`, or fails, it is 503, and the homeserver asks again. Whoever has not got the push
   *   key that the homeserver has wakes nobody.
   * - `GET …/health`: 200 with the `status` `ok`, or `failing` if the last pass could not reach the store or
   *   the homeserver; 503 with `ended` if the client has ended and another has to take its place.
   *
   * Whoever reads it, reads it in a place where no process stays: from then on the client does not
   * keep its device between two passes, unless it is started.
   *
   * @example
   * ```ts
   * import { Client, MemoryStore } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * const bot = new Client({
   *   baseUrl: homeserver.baseUrl,
   *   fetch: homeserver.fetch,
   *   token: accessToken,
   *   store: new MemoryStore(), // or one that all instances share
   *   wake: { secret: "at least sixteen random characters" },
   * });
   * const response = await bot.fetch(new Request("https://bot.example.org/health"));
   * console.assert(response.status === 200);
   * await bot.close();
   * ```
   */
  get fetch(): (request: Request) => Promise<Response> {
    this.#life.letGo();
    return this.#serving.fetch;
  }

  /** Makes a dispatcher of a class, and registers it. Does nothing if there is one of the class. */
  addDispatcher(type: DispatcherType<Client>): void {
    if (this.dispatchers.has(type)) return;
    const dispatcher = new type(this);
    this.dispatchers.set(type, dispatcher);
    dispatcher.register();
  }

  /** Removes the dispatcher of a class. Does nothing if there is none. */
  removeDispatcher(type: DispatcherType<Client>): void {
    const dispatcher = this.dispatchers.get(type);
    this.dispatchers.delete(type);
    dispatcher?.unregister();
  }

  /**
   * Removes what is not needed any more: the state of rooms that were left a week ago, and outdated
   * records of encryption. Nothing that can be read is lost. A client that syncs prunes once a day.
   *
   * @returns What was removed.
   */
  async prune(): Promise<PruneSummary> {
    return await this.#life.core.housekeeping.prune();
  }

  /**
   * Closes the client: stops syncing, waits for handlers and for what is being stored, and releases
   * the device. The store is not used after that. A handler that calls it is not waited for.
   *
   * @returns Resolves when everything has stopped, or had its time to.
   */
  async close(): Promise<void> {
    await this.#life.close();
  }

  /** The same as {@linkcode Client.close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The operations, which the constructor puts in. */
export interface Client extends ClientAPI, EncryptingAPI, SyncerAPI, WakeAPI, Pick<TasksAPI, "runTask"> {}
