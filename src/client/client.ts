/**
 * The client: actors wired together, and a facade in front of them.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { type ClientOptions, STATE_STORE, type WakeAPI } from "./client_options.ts";
import type { CustomRequestOptions, FillMemberEventCallback, HTTPAPI, Method } from "../api/http/mod.ts";
import { answerOwners, type Crypto, lazySecretStorage } from "../encryption/encryption.ts";
import { DecryptionDispatcher } from "./decryption_dispatcher.ts";
import type { EncryptingAPI } from "./encrypting_api.ts";
import { type QuarantineAPI, quarantineAPI } from "./handlers_api.ts";
import type { PruneSummary } from "./client_core.ts";
import { StateStore } from "../actors/store/mod.ts";
import {
  type Dispatcher,
  type DispatcherType,
  type DispatchManualOptions,
  type InternalData,
  type InternalEventOptions,
  type SyncerAPI,
  SyncStore,
} from "./syncer_api.ts";
import type { ClientAPI, RawAPI } from "../api/api.ts";
import { discover, type DiscoverOptions } from "../api/server/server.ts";
import { parseUserId, toRoomId, type UserIDParts } from "../types/identifiers.ts";
import { ClientBasics } from "./client_basics.ts";
import { ClientLife } from "./client_life.ts";
import { CLIENT_HINTS, type ClientOptionHints, type COMPILED_CLIENT_HINTS } from "./client_hints.ts";
import { ClientRoom } from "./client_room.ts";
import {
  ApplicationOperations,
  clientOperations,
  lazyPushRules,
  operationsOf,
  shareOperations,
} from "./client_operations.ts";
import { type QueueAPI, SendQueues } from "./queue/queue.ts";
import { LazyServing } from "./lazy_serving.ts";
import { type SessionsAPI, type TasksAPI, tasksAPI } from "./sessions_api.ts";
import type { SecretStorage } from "../encryption/secrets/secrets.ts";
import type { PushRuleEvaluation } from "../types/push_rules.ts";
import { hintAt, type Hints } from "../errors/hints.ts";
import type { Logger } from "../base/log.ts";
import type { PresenceState } from "../types/enums.ts";
import type { DeviceID, UserID } from "../types/ids.ts";

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
  /** Sends the HTTP requests of all operations. */
  readonly api: HTTPAPI;
  /** The client's logger. */
  readonly log: Logger;
  /** The logger of what has to do with encryption. */
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
  /** Evaluates the account's push rules: whether an event notifies the user. */
  readonly pushRules: PushRuleEvaluation = lazyPushRules(this);
  readonly #basics: ClientBasics;
  readonly #life: ClientLife;
  readonly #serving: LazyServing;

  /**
   * Makes a client; nothing is sent.
   *
   * @param options The homeserver, or the user to find it by, at the least.
   * @throws {ValueError} If there is neither, or an option can't be used.
   */
  constructor(options: ClientOptions & ClientOptionHints) {
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
    shareOperations(Client.prototype, new ApplicationOperations(api, basics, life).of(this));
    const { clock, log, session } = basics;
    const isDurable = options.store !== undefined;
    const queues = new SendQueues({
      api,
      session,
      kept: sessions,
      runTask,
      isDurable,
      done: life.done,
      clock,
      log,
    });
    life.passes.queues = queues;
    Object.assign(this, { registerWake, runTask, queue: queues.queue });
    if (basics.crypto !== undefined) this.addDispatcher(DecryptionDispatcher);
    answerOwners(this, basics.chosen?.verification);
  }

  /**
   * Endpoints of cross-signing, key backups and dehydrated devices, as the server has them.
   * `crypto` calls them, and knows what it may believe: by hand they can lose keys.
   */
  get raw(): RawAPI {
    return operationsOf(this).raw;
  }

  /** Sets them for this client, as tests do. */
  set raw(raw: RawAPI) {
    Object.defineProperty(this, "raw", { value: raw, configurable: true, writable: true });
  }

  /**
   * Finds a domain's homeserver.
   *
   * @param domain The server name, as in a user ID, or the user ID; a port is left out.
   * @param options How the requests are made.
   * @returns The homeserver's address, for `baseUrl`; undefined if the domain does not say (404).
   * @throws {WellKnownError} If the domain can't be asked, or what it says can't be used.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#server-discovery | Server discovery}
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   *
   * export async function clientFor(domain: string): Promise<Client> {
   *   return new Client({ baseUrl: await Client.discover(domain) ?? `https://${domain}` });
   * }
   * ```
   */
  static async discover(domain: string, options?: DiscoverOptions): Promise<string | undefined> {
    return await discover(domain, options);
  }

  /**
   * Splits a user ID into its localpart and its server name.
   *
   * @param mxid The user ID.
   * @returns The local part and the server name.
   * @throws {ValueError} If it is no user ID.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   *
   * console.assert(Client.parseUserId("@alice:example.org")[0] === "alice");
   * ```
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
   * Sets the user ID that the client acts as.
   *
   * @param mxid The user ID.
   * @throws {ValueError} If it is no user ID.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   *
   * new Client({ baseUrl: "https://matrix.example.org" }).setMxid("@alice:example.org");
   * ```
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
   * the part and the cause, when it can't go on and has stopped: a dead token, or a store that failed.
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
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function profileOf(client: Client, userId: string): Promise<unknown> {
   *   return await client.request("GET", "/_matrix/client/v3/profile/{userId}", { path: { userId } });
   * }
   * ```
   */
  async request<Result = unknown>(
    method: Method,
    path: string,
    options?: CustomRequestOptions,
  ): Promise<Result> {
    return await this.api.request<Result>(method, path, options);
  }

  /**
   * Answers HTTP requests, where no process stays: give it to `Deno.serve()`, Hono, Fresh, or any
   * other server that calls a function with a request for a response, below any path. It needs no
   * `this`, and never rejects.
   *
   * - `POST …/_matrix/push/v1/notify`: the homeserver tells of an event ({@linkcode
   *   WakeAPI.registerWake}); only with the option `wake`. The answer comes when the bot has made a
   *   pass, as `syncOnce()` makes it, in which handlers have settled. If that takes longer than
   *   `wake.passTimeout`, or fails, it is 503, and the homeserver asks again. A request without
   *   the homeserver's push key does nothing.
   * - `GET …/health`: 200 with the `status` `ok`, or `failing` if the last pass could not reach the store or
   *   the homeserver; 503 with `ended` if the client has ended and another has to take its place.
   *
   * Read it only where no process stays: from then on the client does not keep its device between two
   * passes, unless it is started.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export const serve = (client: Client): void => void Deno.serve(client.fetch); // it has the option wake
   * ```
   */
  get fetch(): (request: Request) => Promise<Response> {
    this.#life.letGo();
    return this.#serving.fetch;
  }

  /**
   * Returns a room, whose methods are the client's operations without the room ID. Nothing is sent, and the
   * client need not be in the room.
   *
   * @param roomId The ID of the room.
   * @throws {ValueError} If it is no room ID.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function announce(client: Client, roomId: string): Promise<void> {
   *   const room = client.room(roomId);
   *   const eventId = await room.sendText("The stage door is open");
   *   await room.react(eventId, "🎭");
   *   await room.invite("@alice:example.org");
   * }
   * ```
   */
  room(roomId: string): ClientRoom {
    return new ClientRoom(this, toRoomId(roomId));
  }

  /**
   * Makes a dispatcher of a class, and registers it. Does nothing if there is one of the class.
   *
   * @example
   * ```ts
   * import { Client, DecryptionDispatcher } from "@greenroom/matrix";
   *
   * const client = new Client({ baseUrl: "https://matrix.example.org" });
   * client.addDispatcher(DecryptionDispatcher); // a client with encryption has it
   * ```
   */
  addDispatcher(type: DispatcherType<Client>): void {
    if (this.dispatchers.has(type)) return;
    const dispatcher = new type(this);
    this.dispatchers.set(type, dispatcher);
    dispatcher.register();
  }

  /**
   * Removes the dispatcher of a class. Does nothing if there is none.
   *
   * @example
   * ```ts
   * import { Client, DecryptionDispatcher } from "@greenroom/matrix";
   *
   * const client = new Client({ baseUrl: "https://matrix.example.org", encryption: true });
   * client.removeDispatcher(DecryptionDispatcher); // handlers get what they dispatch encrypted as it is
   * ```
   */
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
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function prunedState(client: Client): Promise<number> {
   *   return (await client.prune()).removed.state ?? 0;
   * }
   * ```
   */
  async prune(): Promise<PruneSummary> {
    return await this.#life.core.housekeeping.prune();
  }

  /**
   * Closes the client: stops syncing, waits for handlers and for what is being stored, and releases
   * the device. The store is not used after that. A handler that calls it is not waited for.
   *
   * @returns Resolves when everything has stopped, or had its time to.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   *
   * const client = new Client({ baseUrl: "https://matrix.example.org" });
   * await client.close(); // or `await using client = …`
   * ```
   */
  async close(): Promise<void> {
    await this.#life.close();
  }

  /** The same as {@linkcode Client.close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

hintAt(Client.prototype, "a client", CLIENT_HINTS);
hintAt(Client, "Client", { login: "new Client({ baseUrl }), then client.login({ identifier, password })" });

/** @internal Names of other libraries, for the compiler. */
export interface ClientHints extends Hints<typeof CLIENT_HINTS & typeof COMPILED_CLIENT_HINTS> {}

/** What other libraries call it is refused with the name that it has here. */
export interface Client extends ClientHints {}

// The rest is generated by `deno task members`: documentation tools do not follow `extends`.

import type {
  Handler,
  HandlerContext,
  HandlerOptions,
  SessionHandlerOptions,
} from "../actors/dispatcher/dispatcher.ts";
import type { StartOptions, SyncOnceOptions, SyncPass } from "../actors/syncer/syncer.ts";
import type {
  AccountDataOptions,
  Authentication,
  AuthenticationOptions,
  BindThirdPartyIDOptions,
  ChangePasswordOptions,
  ClaimKeysOptions,
  DeactivateAccountOptions,
  Device,
  DevicesToQuery,
  GetNotificationsOptions,
  InvitePermissions,
  KeysToClaim,
  LoginOptions,
  LogoutOptions,
  NewSession,
  NotificationsResponse,
  OpenIDToken,
  Pusher,
  PusherSetup,
  QueryKeysOptions,
  RegisterOptions,
  RequestEmailTokenOptions,
  RequestPhoneTokenOptions,
  SetPresenceOptions,
  SetProfileOptions,
  SetPushRuleOptions,
  SetRoomTagOptions,
  ThirdPartyAddress,
  ThirdPartyID,
  ThirdPartyValidation,
  UnbindResult,
  UnbindThirdPartyIDOptions,
  UploadKeysOptions,
} from "../api/account/account.ts";
import type { ContentAs, MediaData, RequestOptions, SendableContent } from "../api/http/mod.ts";
import type {
  DownloadMediaOptions,
  DownloadMediaStreamOptions,
  DownloadThumbnailOptions,
  GetUrlPreviewOptions,
  MediaDownload,
  UploadMediaOptions,
} from "../api/media/media.ts";
import type {
  CreateDelayedEventOptions,
  DelayedEvent,
  EditOptions,
  GetMessagesOptions,
  GetRelationsOptions,
  GetThreadsOptions,
  IterateMessagesOptions,
  RedactOptions,
  ReportOptions,
  RoomEventsResults,
  SearchMessagesOptions,
  SendFileOptions,
  SendImageOptions,
  SendOptions,
  SendReceiptOptions,
  SendStickerOptions,
  SendTextOptions,
  SendToDeviceOptions,
  SendTypedTextOptions,
  SetFullyReadMarkerOptions,
  SetThreadSubscriptionOptions,
  SetTypingOptions,
  ThreadSubscription,
  ToDeviceMessages,
} from "../api/messages/mod.ts";
import type {
  AddRoomAliasOptions,
  CreateRoomOptions,
  GetEventContextOptions,
  GetMembersOptions,
  GetRoomDirectoryOptions,
  GetRoomSummaryOptions,
  GetSpaceHierarchyOptions,
  GetStateEventOptions,
  JoinRoomByIdOptions,
  JoinRoomOptions,
  KnockRoomOptions,
  MembershipOptions,
  RemoveRoomAliasOptions,
  SearchUsersOptions,
  SendMemberEventOptions,
  SendStateEventOptions,
  StateEventAnswer,
  UpgradeRoomOptions,
} from "../api/rooms/rooms.ts";
import type {
  Capabilities,
  GetSupportOptions,
  PolicyServerInfo,
  ServerSupport,
  SyncOptions,
  ThirdPartyLocation,
  ThirdPartyLookupOptions,
  ThirdPartyProtocol,
  ThirdPartyUser,
  TurnServer,
} from "../api/server/server.ts";
import type { ShareReport } from "../crypto/sharing/mod.ts";
import type { KeysClaimResponse, KeysQueryResponse } from "../types/api/device_keys.ts";
import type {
  AuthenticationData,
  LoginFlow,
  LoginResponse,
  LoginTokenResponse,
  ServerFeature,
  VersionsResponse,
  WhoamiResponse,
} from "../types/api/login.ts";
import type {
  PresenceInfo,
  Profile,
  PublicRoomsChunk,
  PublicRoomsResponse,
  RoomAliasResponse,
  RoomSummary,
  SpaceHierarchyResponse,
  SpaceHierarchyRoom,
  UserSearchResponse,
} from "../types/api/public_rooms.ts";
import type {
  PushAction,
  PushRule,
  PushRuleset,
  RoomTagInfo,
  TagContent,
} from "../types/content/account_data_content.ts";
import type { RoomEncryptedContent } from "../types/content/encryption_content.ts";
import type {
  CreateMediaResponse,
  EncryptedFile,
  ImageInfo,
  MediaConfig,
  UrlPreview,
} from "../types/content/file_info.ts";
import type { RoomMessageContent } from "../types/content/message_content.ts";
import type { RoomMemberContent } from "../types/content/room_state_content.ts";
import type {
  Membership,
  PaginationDirection,
  PushRuleKind,
  PushRuleScope,
  RoomDirectoryVisibility,
  StateEventFormat,
} from "../types/enums.ts";
import type { ClientEvent, ClientStateEvent, MatrixEvent, SyncStream } from "../types/events/event.ts";
import type { EventOf, HandledType } from "../types/events/event_of.ts";
import type { EventType } from "../types/events/event_type.ts";
import type {
  EventContextResponse,
  JoinedMember,
  MessagesResponse,
  RelationsResponse,
  ThreadsResponse,
  TimestampToEventResponse,
} from "../types/events/room_records.ts";
import type { Filter, SyncResponse } from "../types/events/sync_response.ts";
import type { ContentURI, EventID, FilterID, RoomAlias, RoomID, SyncToken } from "../types/ids.ts";
import type { JsonObject } from "../types/json.ts";
import type { RegisterWakeOptions, WakeRegistration } from "./client_options.ts";
import type { EventFor, HandlerDecorator, OptionsFor } from "./handlers_api.ts";
import type { QueueOptions, SendQueue } from "./queue/queue.ts";

/** The homeserver's operations, syncing, and handlers of events. */
export interface Client
  extends ClientAPI, EncryptingAPI, SyncerAPI, WakeAPI, QueueAPI, Pick<TasksAPI, "runTask"> {
  /**
   * Syncs, and delivers events to handlers, until {@linkcode SyncerAPI.stop} is called: what follows
   * `await client.start()` runs after that. To go on once it syncs, do not await it, but
   * `await client.ready`. A sync that is running is stopped first.
   *
   * A sync that fails is tried again, after 5 seconds and then twice as long each time up to 320
   * seconds, or when the server says; the waits start again after a success. Only an error that no
   * wait mends ends it: a dead token, a store that fails, a permission that Deno does not have, or
   * an address without a homeserver. That last one is detected only at the first contact: a
   * redirect, or an answer to `/versions` that is not Matrix, or not found (404). Once a homeserver
   * has answered this client, such an answer counts as a proxy's while the server is away; at any
   * time, so does a failure (5xx), a refusal (403, 429), or no answer.
   *
   * If the homeserver refuses the place to go on from, as after its database was restored, or where
   * another server has its name, the sync begins at the start after a few tries, without what was
   * handled: `SYNC_ERRORED` says so with a {@linkcode StoreError}. A room in which the server shows
   * no event that was handled before has a `GAP`, and its timeline counts as history.
   *
   * When it resolves, handlers have settled and the requests of encryption have ended: the client
   * does not use the store until its next call, and another process can have the device. That takes
   * no longer than `closeTimeout`; handlers that still run then are logged, and may use the store
   * later. A call that needs the device takes it again, for some seconds; the next start, for good.
   *
   * @param options What to sync and how.
   * @returns Resolves when the sync has been stopped, by `stop()`, `close()`, its signal or a
   *   logout; rejects with the reason if it could not go on, such as an
   *   {@linkcode UnknownTokenError}, whose `isSoftLogout` says whether the device is still there, a
   *   {@linkcode MissingPermissionError}, or a {@linkcode HomeserverAddressError}. Handlers of
   *   `SYNC_STOPPED` receive the same reason.
   * @throws {ClientEndedError} If the client was closed, or has failed, before.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#syncing | Syncing}
   *
   * @example A bot that answers
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   *
   * const received: string[] = [];
   * client.on("m.room.message", async (event) => {
   *   received.push(event.content.body);
   *   await client.stop();
   * });
   * const roomId = await client.createRoom();
   * await client.sendText(roomId, "hello");
   * await client.start();
   * console.assert(received[0] === "hello");
   * ```
   */
  start(options?: StartOptions): Promise<void>;

  /**
   * Stops syncing. Running handlers go on, and responses that are being committed are still
   * delivered, which may be a few. Called from a handler, it does not wait for that handler. When
   * all of that has ended, `start()` resolves, and nothing of the client keeps the process alive. A
   * store that you have opened stays open: close it after the client.
   *
   * @returns Resolves when the sync has ended; if the client was closed or has failed, when all of
   * it has stopped.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export function stopAtSignal(client: Client): void {
   *   Deno.addSignalListener("SIGTERM", () => void client.stop());
   * }
   * ```
   */
  stop(): Promise<void>;

  /**
   * Makes a pass, for programs that run from time to time, or where no process stays: takes the
   * device, receives what is new, waits for handlers and for the requests of encryption, and hands
   * the device back, so that another process can take it at once.
   *
   * A call while a pass is under way has that one ask the server once more, and waits for it; so
   * has one of another process with the same `store`, which waits for the device as long as its
   * `passTimeout` allows.
   *
   * @param options What to sync and how, and how long it may take; the server does not wait for
   *   something to happen unless `timeout` is set.
   * @returns What was done, and what is left.
   * @throws {ValueError} If the client is syncing already.
   * @throws {ClientEndedError} If the client was closed, or has been given another access token after
   *   handlers had been cut off when the one before died: a new client calls them again.
   * @throws {HomeserverAddressError} If there is no homeserver: see {@linkcode SyncerAPI.start}.
   * @throws {MissingPermissionError} If Deno was not given a permission.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export function everyMinute(client: Client): void {
   *   Deno.cron("receive what is new", "* * * * *", async () => {
   *     await client.syncOnce();
   *   });
   * }
   * ```
   */
  syncOnce(options?: SyncOnceOptions): Promise<SyncPass>;

  /**
   * Has sliding sync show a room at once, as long as others are still to come. Without it the rooms
   * with the latest messages come first. The classic sync shows all rooms at once anyway.
   *
   * @param roomId A room that the user is in.
   * @throws {ValueError} If it is not the ID of a room.
   *
   * @example
   * ```ts ignore
   * import { Client, type ClientOptions } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export function follower(options: ClientOptions, office: RoomID): Client {
   *   const client = new Client({ ...options, sync: "sliding" });
   *   client.follow(office); // its first messages need not wait for those of a thousand others
   *   return client;
   * }
   * ```
   */
  follow(roomId: RoomID): void;

  /**
   * Delivers an event to all of its handlers, as if it had come with a sync.
   *
   * `encryptionOf()` works only for an event that this client has decrypted: one that a handler
   * received, that `crypto.decrypt()` returned, or a copy of one by `{ ...event }`. Any other event
   * counts as unencrypted.
   *
   * @param event The event.
   * @param source Its source: flags of `SyncStream`.
   * @returns A promise for each handler that still runs; none rejects.
   *
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import { type MatrixEvent, SyncStream } from "@greenroom/matrix/types";
   *
   * export async function replay(client: Client, event: MatrixEvent): Promise<void> {
   *   await Promise.all(client.dispatchEvent(event, SyncStream.TIMELINE));
   * }
   * ```
   */
  dispatchEvent(event: MatrixEvent, source: SyncStream): Promise<void>[];

  /**
   * Delivers an internal event to its handlers.
   *
   * @param eventType The type.
   * @param data What handlers are called with.
   * @param options A type of your own in its place.
   * @returns A promise for each handler that still runs; none rejects.
   *
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export function announce(client: Client): void {
   *   client.dispatchInternalEvent("com.example.curtain", { act: 2 });
   * }
   * ```
   */
  dispatchInternalEvent<const Type extends string>(
    eventType: Type,
    data: InternalData<Type>,
    options?: InternalEventOptions,
  ): Promise<void>[];

  /**
   * The same as {@linkcode SyncerAPI.dispatchInternalEvent}, awaited.
   *
   * @param eventType The type.
   * @param data What handlers are called with.
   * @param options A type of your own in its place.
   * @returns Resolves when all handlers have settled.
   *
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   *
   * const client = new Client({ baseUrl: "https://matrix.example.org" });
   * client.on("com.example.curtain", () => console.log("The curtain rises"));
   * await client.runInternalEvent("com.example.curtain", { act: 2 });
   * ```
   */
  runInternalEvent<const Type extends string>(
    eventType: Type,
    data: InternalData<Type>,
    options?: InternalEventOptions,
  ): Promise<void>;

  /**
   * Delivers any data to the handlers of a type of event.
   *
   * @param eventType The type.
   * @param data What handlers are called with.
   * @param options Which handlers receive it, and which promises to return.
   * @returns A promise for each handler with `waitSync` that still runs, or for all; none
   *   rejects.
   *
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { EventOf } from "@greenroom/matrix/types";
   *
   * export async function deliver(client: Client, event: EventOf<"m.room.message">): Promise<void> {
   *   await Promise.all(client.dispatchManualEvent("m.room.message", event, { forceSynchronous: true }));
   * }
   * ```
   */
  dispatchManualEvent<const T extends EventType>(
    eventType: T,
    data: EventOf<T>,
    options?: DispatchManualOptions,
  ): Promise<void>[];

  /**
   * Handles a sync response that the application received itself: stores its state and token, and
   * delivers its events to handlers.
   *
   * @param data The response.
   * @returns A promise for the handlers, when they have been started; it does not reject.
   * @throws {ValueError} If it has no `next_batch`.
   *
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { SyncResponse } from "@greenroom/matrix/types";
   *
   * export async function replay(client: Client, recorded: SyncResponse): Promise<void> {
   *   await Promise.all(await client.handleSync(recorded));
   * }
   * ```
   */
  handleSync(data: SyncResponse): Promise<Promise<void>[]>;

  /**
   * Adds a handler of all events, Greenroom's own excepted.
   *
   * @param handler Called with each event. One that throws, or whose promise rejects, is reported
   *   with a `HANDLER_ERROR` event; the sync goes on. One whose promise rejects when the client
   *   can't go on (its token died, it is being closed) is called again with the next start. It has
   *   settled when the client's operations that it has begun have ended, too, awaited or not; what
   *   fails in it and is not awaited is reported, and does not end the process.
   * @param options How the handler is called, and its name.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export function count(client: Client, counts: Map<string, number>): void {
   *   client.addEventHandler(({ type }) => void counts.set(type, (counts.get(type) ?? 0) + 1));
   * }
   * ```
   */
  addEventHandler(handler: Handler<MatrixEvent>, options?: HandlerOptions): void;

  /**
   * Adds a handler of a type of event with a session, which lasts from one event to the next.
   *
   * @param eventType The type.
   * @param handler Called with each event of the type, and with its session, which it may change:
   *   see {@linkcode defineSession}.
   * @param options How it is called, and the session.
   * @throws {ValueError} If the type is no event type.
   */
  addEventHandler<
    const T extends EventType,
    State extends object,
    Redacted extends boolean = false,
  >(
    eventType: T & HandledType<T>,
    handler: Handler<EventFor<T, Redacted>, State>,
    options: OptionsFor<SessionHandlerOptions<State>, Redacted>,
  ): void;

  /**
   * Adds a handler of a type of event.
   *
   * Handlers are started in the order of a room's events and run side by side; `sequential` ones
   * take a room's events one at a time. A handler that is added again for the same type gets the
   * new options.
   *
   * The content has the type it says: content of the specification's types has been checked, that
   * of your own by their schema. An optional field of the wrong type is removed; an event with any
   * other mistake does not reach the handler. `MALFORMED` events report both. Redacted events come
   * only with the option `redacted`. To get everything as it was sent, add a handler of all events,
   * or of a definition without a schema.
   *
   * @param eventType A name of the specification or of Greenroom's own (`InternalEventType`), any
   *   other name, a type with its class from `eventType()`, or one of your own from
   *   `defineEvent()`, whose schema then checks the content.
   * @param handler Called with each event of the type.
   * @param options How the handler is called, and its name.
   * @throws {ValueError} If the type is no event type.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export function greet(client: Client): void {
   *   client.addEventHandler("m.room.message", async ({ room_id, content }) => {
   *     if (content.body === "!hello") await client.sendText(room_id, "Hello!");
   *   });
   * }
   * ```
   */
  addEventHandler<const T extends EventType, Redacted extends boolean = false>(
    eventType: T & HandledType<T>,
    handler: Handler<EventFor<T, Redacted>>,
    options?: OptionsFor<HandlerOptions, Redacted>,
  ): void;

  /**
   * Removes a handler of all events. Does nothing if it is not there.
   *
   * @param handler The same function that was added.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { MatrixEvent } from "@greenroom/matrix/types";
   *
   * export function onFirst(client: Client, handle: (event: MatrixEvent) => void): void {
   *   client.addEventHandler(function first(event) {
   *     client.removeEventHandler(first);
   *     handle(event);
   *   });
   * }
   * ```
   */
  removeEventHandler(handler: Handler<MatrixEvent>): void;

  /**
   * Removes a handler of a type of event. Does nothing if it is not there.
   *
   * @param eventType The type it was added for.
   * @param handler The same function that was added.
   */
  removeEventHandler<const T extends EventType>(eventType: T, handler: Handler<EventOf<T>, never>): void;

  /**
   * Adds a handler of all events.
   *
   * @param handler Called with each event.
   * @returns The handler.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export function collect(client: Client, types: Set<string>): void {
   *   client.on(({ type }) => void types.add(type));
   * }
   * ```
   */
  on<H extends Handler<MatrixEvent>>(handler: H): H;

  /**
   * Returns a function that adds handlers of a type of event, and decorates methods.
   *
   * @param eventType The type.
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   *
   * const client = new Client({ baseUrl: "https://matrix.example.org" });
   * class Greeter {
   *   @client.on("JOIN")
   *   greet(event: { room_id: string }): void {
   *     console.log("someone joined", event.room_id);
   *   }
   * }
   * new Greeter();
   * ```
   */
  on<const T extends EventType>(eventType: T & HandledType<T>): HandlerDecorator<T>;

  /**
   * Adds a handler of a type of event with a session, which lasts from one event to the next.
   *
   * @param eventType The type.
   * @param handler Called with each event of the type, and with its session, which it may change:
   *   see {@linkcode defineSession}.
   * @param options How it is called, and the session.
   * @returns The handler.
   */
  on<
    const T extends EventType,
    State extends object,
    Redacted extends boolean = false,
  >(
    eventType: T & HandledType<T>,
    handler: Handler<EventFor<T, Redacted>, State>,
    options: OptionsFor<SessionHandlerOptions<State>, Redacted>,
  ): Handler<EventFor<T, Redacted>, State>;

  /**
   * Adds a handler of a type of event.
   *
   * @param eventType The type.
   * @param handler Called with each event of the type.
   * @param options How the handler is called, and its name.
   * @returns The handler.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export function echo(client: Client): void {
   *   client.on("m.room.message", async ({ room_id, content, sender }) => {
   *     if (sender !== client.mxid) await client.sendNotice(room_id, content.body);
   *   }, { name: "echo" });
   * }
   * ```
   */
  on<
    const T extends EventType,
    H extends Handler<EventFor<T, Redacted>>,
    Redacted extends boolean = false,
  >(
    eventType: T & HandledType<T>,
    handler: H,
    options?: OptionsFor<HandlerOptions, Redacted>,
  ): H;

  /**
   * Lists the members of a room, of the past too.
   *
   * @param roomId The room.
   * @param options Which members, at which point, and request options.
   * @returns The latest member event of each user.
   * @throws {ForbiddenError} If the caller is not, and was not, in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidmembers | GET /rooms/{roomId}/members}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await homeserver.createUser("bob");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom({ invitees: ["@bob:localhost"] });
   * const [invited] = await client.getMembers(roomId, { membership: "invite" });
   * console.assert(invited?.state_key === "@bob:localhost");
   * ```
   */
  getMembers(
    roomId: RoomID,
    options?: GetMembersOptions,
  ): Promise<ClientStateEvent<"m.room.member", RoomMemberContent>[]>;

  /**
   * Lists who is in a room. Quicker than `getMembers()`.
   *
   * @param roomId The room; the caller must be in it, an application service with one of its users.
   * @param options Request options.
   * @returns Display name and avatar of each joined user.
   * @throws {ForbiddenError} If the caller is not in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidjoined_members | GET /rooms/{roomId}/joined_members}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function countMembers(client: Client, roomId: RoomID): Promise<number> {
   *   return Object.keys(await client.getJoinedMembers(roomId)).length;
   * }
   * ```
   */
  getJoinedMembers(roomId: RoomID, options?: RequestOptions): Promise<Record<UserID, JoinedMember>>;

  /**
   * Lists the state of a room.
   *
   * @param roomId The room.
   * @param options Request options.
   * @returns The latest event of each type and state key, with contents as they were sent; as they
   *   were when the user left, if so.
   * @throws {ForbiddenError} If the caller is not, and was not, in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidstate | GET /rooms/{roomId}/state}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function stateTypes(client: Client, roomId: RoomID): Promise<Set<string>> {
   *   return new Set((await client.getState(roomId)).map(({ type }) => type));
   * }
   * ```
   */
  getState(roomId: RoomID, options?: RequestOptions): Promise<ClientStateEvent[]>;

  /**
   * Gets a state event of a room, by its type and state key.
   *
   * @param roomId The room.
   * @param eventType The type.
   * @param options The state key, what to answer with, and request options.
   * @returns The content, without what may be absent and is not what its type says; the whole event
   *   if `format` asks for it. State may have been cleared: then nothing is in it. As it was when
   *   the user left, if so.
   * @throws {MalformedContentError} If the content is not what its type says. As it was sent it is
   *   answered for a definition without a schema.
   * @throws {NotFoundError} If the room has no such state.
   * @throws {ForbiddenError} If the caller is not, and was not, in the room.
   * @throws {ServiceResponseError} If the whole event was asked for and the server is too old to
   *   give it.
   * @throws {ValueError} If the type is empty or not of state, or the state key can't be part of a
   *   path (`.` and `..`).
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidstateeventtypestatekey | GET /rooms/{roomId}/state/{eventType}/{stateKey}}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom({ name: "Backstage" });
   * const { name } = await client.getStateEvent(roomId, "m.room.name");
   * console.assert(name === "Backstage");
   * ```
   */
  getStateEvent<const T extends EventType, Format extends StateEventFormat = "content">(
    roomId: RoomID,
    eventType: T,
    options?: GetStateEventOptions<Format>,
  ): Promise<StateEventAnswer<T, Format>>;

  /**
   * Sends a state event, which replaces that of the same type and state key.
   * To set the same once more, as a handler does that runs again after a crash, changes nothing.
   *
   * A room that is sent `m.room.encryption` is encrypted from then on: what is sent to it meanwhile
   * waits for the answer, and only if the server refuses is the room as it was before.
   *
   * @param roomId The room.
   * @param eventType The type. If the application defined it, the content is checked first.
   * @param content The content. Empty content is how state is taken away.
   * @param options The state key and request options.
   * @returns The ID of the event.
   * @throws {ForbiddenError} If the caller lacks the power.
   * @throws {ValueError} If the type is empty or not of state, the content is refused, or the state
   * key can't be part of a path (`.` and `..`).
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3roomsroomidstateeventtypestatekey | PUT /rooms/{roomId}/state/{eventType}/{stateKey}}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const eventId = await client.sendStateEvent(roomId, "m.room.topic", { topic: "Rehearsals" });
   * console.assert(eventId.startsWith("$"));
   * ```
   */
  sendStateEvent<const T extends EventType>(
    roomId: RoomID,
    eventType: T,
    content: SendableContent<T, "state"> | Record<string, never>,
    options?: SendStateEventOptions,
  ): Promise<EventID>;

  /**
   * Sends a message event: any event of a room that is not state.
   *
   * The send is repeated, as the retry policy says, under one transaction ID: what arrives twice counts once.
   * A redaction is never encrypted. It is sent as it is if the homeserver takes it so in rooms of all
   * versions (v1.18, or `com.beeper.msc4169`), and else as by {@link MessagesAPI.redact}.
   *
   * @param roomId The room.
   * @param eventType The type. If the application defined it, the content is checked first.
   * @param content The content.
   * @param options Transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ForbiddenError} If the caller is not in the room, or lacks the power.
   * @throws {TooLargeError} If the event would exceed 64 KiB.
   * @throws {AcceptedError} If the homeserver accepts the event and does
   *   not say its ID: do not send it again.
   * @throws {ValueError} If the type is empty or not of messages, the content is refused, or a `query` asks
   *   for a delay.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid | PUT /rooms/{roomId}/send/{eventType}/{txnId}}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const eventId = await client.sendMessageEvent(roomId, "com.example.curtain", { open: true });
   * const event = await client.getEvent(roomId, eventId);
   * console.assert(event.content.open === true);
   * ```
   */
  sendMessageEvent<const T extends EventType>(
    roomId: RoomID,
    eventType: T,
    content: SendableContent<T, "message">,
    options?: SendOptions,
  ): Promise<EventID>;

  /**
   * Sends a message event: any event of a room that is not state.
   *
   * The send is repeated, as the retry policy says, under one transaction ID: what arrives twice counts once.
   * A redaction is never encrypted. It is sent as it is if the homeserver takes it so in rooms of all
   * versions (v1.18, or `com.beeper.msc4169`), and else as by {@link MessagesAPI.redact}.
   *
   * @param roomId The room.
   * @param eventType The type. If the application defined it, the content is checked first.
   * @param content The content.
   * @param options Transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ForbiddenError} If the caller is not in the room, or lacks the power.
   * @throws {TooLargeError} If the event would exceed 64 KiB.
   * @throws {AcceptedError} If the homeserver accepts the event and does
   *   not say its ID: do not send it again.
   * @throws {ValueError} If the type is empty or not of messages, the content is refused, or a `query` asks
   *   for a delay.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid | PUT /rooms/{roomId}/send/{eventType}/{txnId}}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const eventId = await client.sendMessageEvent(roomId, "com.example.curtain", { open: true });
   * const event = await client.getEvent(roomId, eventId);
   * console.assert(event.content.open === true);
   * ```
   */
  sendMessageEvent<const T extends EventType>(
    roomId: RoomID,
    eventType: T,
    content: SendableContent<T, "message">,
    options?: SendOptions,
  ): Promise<EventID>;

  /**
   * Completes the content of a member event that is about to be sent: the endpoints made for
   * joining and inviting put display name and avatar in, a member event sent by hand has none
   * unless they are put in here.
   *
   * This asks the client's `fillMemberEventCallback`, and nothing else. With a store, the profile
   * of the present member event is used if that returns nothing, and the user's global profile if
   * there is no such event.
   *
   * @param roomId The room the event goes to.
   * @param userId The user it is about.
   * @param content The content so far.
   * @param options Request options, for what has to be looked up.
   * @returns The content to send; nothing if it is to be sent as it is.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function join(client: Client, roomId: RoomID, userId: UserID): Promise<void> {
   *   const content = { membership: "join" } as const;
   *   const filled = await client.fillMemberEvent(roomId, userId, content) ?? content;
   *   await client.sendStateEvent(roomId, "m.room.member", filled, { stateKey: userId });
   * }
   * ```
   */
  fillMemberEvent(
    roomId: RoomID,
    userId: UserID,
    content: RoomMemberContent,
    options?: RequestOptions,
  ): Promise<RoomMemberContent | undefined>;

  /**
   * Gets account data, of all rooms or of one.
   *
   * @param type The type.
   * @param options The room, and request options.
   * @returns The data, without what may be absent and is not what its type says.
   * @throws {NotFoundError} If there is none.
   * @throws {MalformedContentError} If it is not what its type says. As it was kept it is answered
   *   for a definition without a schema.
   * @throws {ValueError} If the type is empty, or of events of another class.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3useruseridaccount_datatype | GET /user/{userId}/account_data/{type}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function ignoredUsers(client: Client): Promise<string[]> {
   *   const { ignored_users } = await client.getAccountData("m.ignored_user_list");
   *   return Object.keys(ignored_users);
   * }
   * ```
   */
  getAccountData<const T extends EventType>(
    type: T,
    options?: AccountDataOptions,
  ): Promise<ContentAs<T, "account_data">>;

  /**
   * Sets account data, which replaces that of the same type.
   *
   * @param type The type. If the application defined it, the data is checked first.
   * @param data The data.
   * @param options The room, and request options.
   * @throws {MatrixRequestError} Of the types that the server keeps itself: `m.fully_read`,
   *   `m.push_rules`.
   * @throws {ValueError} If the type is empty, or of events of another class, or the data is
   *   refused.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3useruseridaccount_datatype | PUT /user/{userId}/account_data/{type}}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * await client.setAccountData("com.example.settings", { volume: 11 });
   * const { volume } = await client.getAccountData("com.example.settings");
   * console.assert(volume === 11);
   * ```
   */
  setAccountData<const T extends EventType>(
    type: T,
    data: SendableContent<T, "account_data">,
    options?: AccountDataOptions,
  ): Promise<void>;

  /**
   * Deletes private data: there is nothing under the type from then on. Does nothing if there is none.
   * Servers that can't delete it keep it without content, as deleting clients do.
   *
   * @param type The type.
   * @param options The room, and request options.
   * @throws {MatrixRequestError} Of the types that the server keeps itself: `m.fully_read`,
   *   `m.push_rules`.
   * @throws {ValueError} If the type is empty, or of events of another class.
   * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3391 | MSC3391}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function forgetSettings(client: Client): Promise<void> {
   *   await client.deleteAccountData("com.example.settings");
   * }
   * ```
   */
  deleteAccountData(type: EventType, options?: AccountDataOptions): Promise<void>;

  /**
   * Lists the private data of the account: all of it in one request, an initial sync with nothing else.
   *
   * @param options Request options.
   * @returns The data by type, as it was kept.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3sync | GET /sync}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * await client.setAccountData("com.example.settings", { volume: 11 });
   * const all = await client.listAccountData();
   * console.assert(all.get("com.example.settings")?.volume === 11);
   * ```
   */
  listAccountData(options?: RequestOptions): Promise<ReadonlyMap<string, JsonObject>>;

  /**
   * Lists the tags that the user put on a room.
   *
   * @param roomId The room.
   * @param options Request options.
   * @returns The tags by name, in `tags`, as the room's `m.tag` has them; none if the room has no
   *   tags.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3useruseridroomsroomidtags | GET /user/{userId}/rooms/{roomId}/tags}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function isFavourite(client: Client, roomId: RoomID): Promise<boolean> {
   *   return "m.favourite" in ((await client.getRoomTags(roomId)).tags ?? {});
   * }
   * ```
   */
  getRoomTags(roomId: RoomID, options?: RequestOptions): Promise<TagContent>;

  /**
   * Gets a tag that the user put on a room.
   *
   * @param roomId The room.
   * @param tag The tag, such as `m.favourite`.
   * @param options Request options.
   * @returns What is known of the room under the tag; undefined if the room does not have it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3useruseridroomsroomidtags | GET /user/{userId}/rooms/{roomId}/tags}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function isFavourite(client: Client, roomId: RoomID): Promise<boolean> {
   *   return await client.getRoomTag(roomId, "m.favourite") !== undefined;
   * }
   * ```
   */
  getRoomTag(roomId: RoomID, tag: string, options?: RequestOptions): Promise<RoomTagInfo | undefined>;

  /**
   * Puts a tag on a room.
   *
   * @param roomId The room.
   * @param tag The tag: `m.favourite`, `m.lowpriority`, or the user's own behind `u.`.
   * @param options Where the room stands among those of the tag, and request options.
   * @throws {ValueError} If the tag is empty, or can't be part of a path (`.` and `..`).
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3useruseridroomsroomidtagstag | PUT /user/{userId}/rooms/{roomId}/tags/{tag}}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.setRoomTag(roomId, "m.favourite", { info: { order: 0.25 } });
   * console.assert((await client.getRoomTag(roomId, "m.favourite"))?.order === 0.25);
   * ```
   */
  setRoomTag(roomId: RoomID, tag: string, options?: SetRoomTagOptions): Promise<void>;

  /**
   * Takes a tag off a room.
   *
   * @param roomId The room.
   * @param tag The tag.
   * @param options Request options.
   * @throws {ValueError} If the tag is empty, or can't be part of a path (`.` and `..`).
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#delete_matrixclientv3useruseridroomsroomidtagstag | DELETE /user/{userId}/rooms/{roomId}/tags/{tag}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function unfavourite(client: Client, roomId: RoomID): Promise<void> {
   *   await client.removeRoomTag(roomId, "m.favourite");
   * }
   * ```
   */
  removeRoomTag(roomId: RoomID, tag: string, options?: RequestOptions): Promise<void>;

  /**
   * Gives a room an alias on the user's own server.
   *
   * @param roomId The room.
   * @param aliasLocalpart The local part of the alias: `stage` for `#stage:example.org`.
   * @param options Whether to take it from another room, and request options.
   * @throws {MatrixRequestError} With status 409 if a room has the alias already, without `override`.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3directoryroomroomalias | PUT /directory/room/{roomAlias}}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.addRoomAlias(roomId, "stage", { override: true });
   * console.assert((await client.getRoomAlias("#stage:localhost")).room_id === roomId);
   * ```
   */
  addRoomAlias(roomId: RoomID, aliasLocalpart: string, options?: AddRoomAliasOptions): Promise<void>;

  /**
   * Removes an alias of the user's own server.
   *
   * @param aliasLocalpart The local part of the alias.
   * @param options Whether it is an error if there is no such alias, and request options.
   * @throws {NotFoundError} If there is no such alias, and `raise404` is set.
   * @throws {ForbiddenError} If the user did not create it and has no other right to remove it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#delete_matrixclientv3directoryroomroomalias | DELETE /directory/room/{roomAlias}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function closeStage(client: Client): Promise<void> {
   *   await client.removeRoomAlias("stage"); // no error if there is no #stage
   * }
   * ```
   */
  removeRoomAlias(aliasLocalpart: string, options?: RemoveRoomAliasOptions): Promise<void>;

  /**
   * Gets the room ID that an alias leads to. The alias's own server is asked, if it is another one.
   *
   * @param roomAlias The alias.
   * @param options Request options.
   * @returns The room, and servers that know it.
   * @throws {NotFoundError} If there is no such alias.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3directoryroomroomalias | GET /directory/room/{roomAlias}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function whereIsStage(client: Client): Promise<RoomID> {
   *   const { room_id } = await client.getRoomAlias("#stage:example.org");
   *   return room_id;
   * }
   * ```
   */
  getRoomAlias(roomAlias: RoomAlias, options?: RequestOptions): Promise<RoomAliasResponse>;

  /**
   * Lists the aliases that a room has on the user's own server.
   *
   * @param roomId The room.
   * @param options Request options.
   * @returns The aliases; they may not be in the room's state.
   * @throws {ForbiddenError} If the user is not in the room, and its history is not public.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidaliases | GET /rooms/{roomId}/aliases}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function firstAlias(client: Client, roomId: RoomID): Promise<string> {
   *   const [alias] = await client.getRoomAliases(roomId);
   *   return alias ?? roomId;
   * }
   * ```
   */
  getRoomAliases(roomId: RoomID, options?: RequestOptions): Promise<RoomAlias[]>;

  /**
   * Reads a page of a room directory.
   *
   * @param options Which rooms and how many, whose directory, which page, and request options.
   * @returns The rooms, the tokens of the pages around, and about how many there are in all.
   * @throws {ValueError} If a third-party network is named and all of them are asked for, or
   *   `limit` is no integer of at least 1.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3publicrooms | POST /publicRooms}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function listAll(client: Client): Promise<void> {
   *   let since: string | undefined;
   *   do {
   *     const page = await client.getRoomDirectory({ since, searchQuery: "theatre" });
   *     for (const { name, num_joined_members } of page.chunk) console.log(name, num_joined_members);
   *     since = page.next_batch;
   *   } while (since !== undefined);
   * }
   * ```
   */
  getRoomDirectory(options?: GetRoomDirectoryOptions): Promise<PublicRoomsResponse>;

  /**
   * Asks whether the room directory lists a room.
   *
   * @param roomId The room.
   * @param options Request options.
   * @returns `public` if it does.
   * @throws {NotFoundError} If the server does not know the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3directorylistroomroomid | GET /directory/list/room/{roomId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function isListed(client: Client, roomId: RoomID): Promise<boolean> {
   *   return await client.getRoomDirectoryVisibility(roomId) === "public";
   * }
   * ```
   */
  getRoomDirectoryVisibility(roomId: RoomID, options?: RequestOptions): Promise<RoomDirectoryVisibility>;

  /**
   * Sets whether the room directory lists a room.
   *
   * @param roomId The room.
   * @param visibility `public` if it is to.
   * @param options Request options.
   * @throws {ForbiddenError} If the server does not let the user.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3directorylistroomroomid | PUT /directory/list/room/{roomId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function hide(client: Client, roomId: RoomID): Promise<void> {
   *   await client.setRoomDirectoryVisibility(roomId, "private");
   * }
   * ```
   */
  setRoomDirectoryVisibility(
    roomId: RoomID,
    visibility: RoomDirectoryVisibility,
    options?: RequestOptions,
  ): Promise<void>;

  /**
   * Searches for users by ID and display name, without regard to case: those of the own server, and
   * those in rooms that it knows, as far as it decides to look. The header `Accept-Language`, set
   * in `headers`, may change how names compare.
   *
   * @param searchQuery What to look for.
   * @param options At most how many users, and request options.
   * @returns The users, the best match first, and whether there are more.
   * @throws {ValueError} If `limit` is no integer of at least 1.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3user_directorysearch | POST /user_directory/search}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function find(client: Client, name: string): Promise<UserID[]> {
   *   const { results } = await client.searchUsers(name, { limit: 5 });
   *   return results.map(({ user_id }) => user_id);
   * }
   * ```
   */
  searchUsers(searchQuery: string, options?: SearchUsersOptions): Promise<UserSearchResponse>;

  /**
   * Joins a room, or takes an invitation to it.
   *
   * Joining a room of other servers may take long and fail for reasons that pass. Lost connections,
   * timeouts and the statuses 429 and 500 to 599 are therefore tried again: after about 5, 10, 20
   * and 40 seconds, or when the server says. Any other refusal is final.
   *
   * @param roomIdOrAlias The room's ID, or an alias of it.
   * @param options Servers to join through, number of tries, and request options.
   * @returns The room's ID.
   * @throws {ForbiddenError} If the user is not invited and the room is not public, or the user is
   * banned: then Synapse gives its subclass `BadStateError`.
   * @throws {NotFoundError} If there is no such alias.
   * @throws {ValueError} If it is neither a room ID nor an alias, or `maxRetries` is negative or no
   *   integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3joinroomidoralias | POST /join/{roomIdOrAlias}}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom({ aliasLocalpart: "stage", preset: "public_chat" });
   * const joined = await client.joinRoom("#stage:localhost", { maxRetries: 0 });
   * console.assert(joined === roomId);
   * ```
   */
  joinRoom(roomIdOrAlias: RoomID | RoomAlias, options?: JoinRoomOptions): Promise<RoomID>;

  /**
   * Asks to be invited to a room.
   *
   * @param roomIdOrAlias The room's ID, or an alias of it.
   * @param options Reason, servers to knock through, and request options.
   * @returns The room's ID.
   * @throws {ForbiddenError} If the room takes no knocks, or the user is banned: then Synapse gives
   *   its subclass `BadStateError`.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3knockroomidoralias | POST /knock/{roomIdOrAlias}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function askToJoin(client: Client): Promise<void> {
   *   await client.knockRoom("#stage:example.org", { reason: "I play the lead" });
   * }
   * ```
   */
  knockRoom(roomIdOrAlias: RoomID | RoomAlias, options?: KnockRoomOptions): Promise<RoomID>;

  /**
   * Joins a room by its ID, or takes an invitation to it.
   *
   * @param roomId The room, known to the homeserver: it is in it, or the user is invited.
   * @param options Reason, extra content, and request options.
   * @returns The room's ID.
   * @throws {ForbiddenError} If the user is not invited and the room is not public, or the user is
   *   banned.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidjoin | POST /rooms/{roomId}/join}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function enter(client: Client, roomId: RoomID): Promise<void> {
   *   await client.joinRoomById(roomId);
   * }
   * ```
   */
  joinRoomById(roomId: RoomID, options?: JoinRoomByIdOptions): Promise<RoomID>;

  /**
   * Leaves a room, rejects an invitation to it, or takes a knock back.
   *
   * The user sees no new events from then on; what was visible before stays so until
   * `forgetRoom()`.
   *
   * @param roomId The room.
   * @param options Reason, extra content, and request options.
   * @throws {ForbiddenError} If the user is not in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidleave | POST /rooms/{roomId}/leave}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function exit(client: Client, roomId: RoomID): Promise<void> {
   *   await client.leaveRoom(roomId, { reason: "The show is over" });
   * }
   * ```
   */
  leaveRoom(roomId: RoomID, options?: MembershipOptions): Promise<void>;

  /**
   * Forgets a room that was left: its history is out of reach from then on.
   *
   * @param roomId The room, which the user must have left.
   * @param options Request options.
   * @throws {MatrixRequestError} If the user is still in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidforget | POST /rooms/{roomId}/forget}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function exitForGood(client: Client, roomId: RoomID): Promise<void> {
   *   await client.leaveRoom(roomId);
   *   await client.forgetRoom(roomId);
   * }
   * ```
   */
  forgetRoom(roomId: RoomID, options?: RequestOptions): Promise<void>;

  /**
   * Invites a user, who takes part only after joining.
   *
   * @param roomId The room; the caller must be in it.
   * @param userId The user to invite.
   * @param options Reason, extra content, and request options.
   * @throws {ForbiddenError} If the caller may not invite, or the user is banned or in the room.
   * @throws {InviteBlockedError} If the user takes no invitations from the caller.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidinvite | POST /rooms/{roomId}/invite}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function invite(client: Client, roomId: RoomID, users: UserID[]): Promise<void> {
   *   for (const user of users) await client.inviteUser(roomId, user, { reason: "Rehearsal" });
   * }
   * ```
   */
  inviteUser(roomId: RoomID, userId: UserID, options?: MembershipOptions): Promise<void>;

  /**
   * Removes a user from a room, or takes an invitation back. The user may come again, if the room's
   * join rules let them.
   *
   * @param roomId The room.
   * @param userId The user to remove.
   * @param options Reason, extra content, and request options.
   * @throws {ForbiddenError} If the caller lacks the power, or the user is not in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidkick | POST /rooms/{roomId}/kick}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function kick(client: Client, roomId: RoomID, user: UserID): Promise<void> {
   *   await client.kickUser(roomId, user, { reason: "Heckling" });
   * }
   * ```
   */
  kickUser(roomId: RoomID, userId: UserID, options?: MembershipOptions): Promise<void>;

  /**
   * Bans a user, who leaves the room if in it, and can neither join nor be invited until
   * `unbanUser()`.
   *
   * @param roomId The room.
   * @param userId The user to ban, in the room or not.
   * @param options Reason, extra content, and request options.
   * @throws {ForbiddenError} If the caller lacks the power.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidban | POST /rooms/{roomId}/ban}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await homeserver.createUser("mallory");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.banUser(roomId, "@mallory:localhost", { reason: "Heckling" });
   * const banned = await client.getMembers(roomId, { membership: "ban" });
   * console.assert(banned[0]?.content.reason === "Heckling");
   * ```
   */
  banUser(roomId: RoomID, userId: UserID, options?: MembershipOptions): Promise<void>;

  /**
   * Lifts a ban: the user may be invited again, or join, if the room's join rules let them.
   *
   * @param roomId The room.
   * @param userId The banned user.
   * @param options Reason, extra content, and request options.
   * @throws {MatrixRequestError} If the caller lacks the power (`ForbiddenError`), or the user is
   *   not banned.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidunban | POST /rooms/{roomId}/unban}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function forgive(client: Client, roomId: RoomID, user: UserID): Promise<void> {
   *   await client.unbanUser(roomId, user);
   *   await client.inviteUser(roomId, user);
   * }
   * ```
   */
  unbanUser(roomId: RoomID, userId: UserID, options?: MembershipOptions): Promise<void>;

  /**
   * Sends a member event, completed by `fillMemberEvent()`: any change of membership, with any
   * content.
   *
   * @param roomId The room.
   * @param userId The user whom the event is about.
   * @param membership What the user is to be to the room.
   * @param options More members of the content, and request options.
   * @returns The ID of the new member event.
   * @throws {ForbiddenError} If the change is not allowed.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mroommember | m.room.member}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function useStageName(client: Client, roomId: RoomID, userId: UserID): Promise<void> {
   *   await client.sendMemberEvent(roomId, userId, "join", { extraContent: { displayname: "Hamlet" } });
   * }
   * ```
   */
  sendMemberEvent(
    roomId: RoomID,
    userId: UserID,
    membership: Membership,
    options?: SendMemberEventOptions,
  ): Promise<EventID>;

  /**
   * Redacts an event: takes everything out of it that the server does not need. It can't be undone.
   *
   * Everyone may redact their own events; others' take the room's power level for redactions. It is
   * never encrypted.
   *
   * @param roomId The room.
   * @param eventId The event to redact.
   * @param options Reason, transaction ID, and request options.
   * @returns The ID of the redaction.
   * @throws {ForbiddenError} If the caller lacks the power.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3roomsroomidredacteventidtxnid | PUT /rooms/{roomId}/redact/{eventId}/{txnId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function removeSpam(client: Client, roomId: RoomID, eventId: EventID): Promise<void> {
   *   await client.redact(roomId, eventId, { reason: "Spam" });
   * }
   * ```
   */
  redact(roomId: RoomID, eventId: EventID, options?: RedactOptions): Promise<EventID>;

  /**
   * Gets an event.
   *
   * @param roomId The room.
   * @param eventId The event.
   * @param options Request options.
   * @returns The event, encrypted if it is.
   * @throws {NotFoundError} If there is no such event, or the caller may not see it.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomideventeventid | GET /rooms/{roomId}/event/{eventId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function senderOf(client: Client, roomId: RoomID, eventId: EventID): Promise<string> {
   *   return (await client.getEvent(roomId, eventId)).sender;
   * }
   * ```
   */
  getEvent(roomId: RoomID, eventId: EventID, options?: RequestOptions): Promise<ClientEvent>;

  /**
   * Reads a page of a room's history.
   *
   * @param roomId The room.
   * @param direction `b` from new to old, `f` from old to new.
   * @param fromToken Where to begin: a room's `prev_batch`, or `start` or `end` of another page;
   * undefined for the newest end (`b`) or the oldest (`f`), which is looked up first on servers
   * before version 1.3.
   * @param options Where to stop, how many and which events, and request options.
   * @returns The events in order of reading, and the tokens of both ends; without `end` there is
   *   nothing more to read.
   * @throws {ForbiddenError} If the caller may not see the history.
   * @throws {ValueError} If `limit` is no integer of at least 1.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidmessages | GET /rooms/{roomId}/messages}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.sendText(roomId, "Five minutes, please");
   * const { chunk } = await client.getMessages(roomId, "b", undefined, { limit: 1 });
   * console.assert(chunk[0]?.content.body === "Five minutes, please");
   * ```
   */
  getMessages(
    roomId: RoomID,
    direction: PaginationDirection,
    fromToken: SyncToken | undefined,
    options?: GetMessagesOptions,
  ): Promise<MessagesResponse>;

  /**
   * Gets a user's presence: whether the user is online.
   *
   * @param userId The user.
   * @param options Request options.
   * @returns Whether the user is there, since when, and what the user says about it.
   * @throws {ForbiddenError} If the users share no room.
   * @throws {ValueError} If it is no user ID.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3presenceuseridstatus | GET /presence/{userId}/status}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function isOnline(client: Client, userId: UserID): Promise<boolean> {
   *   return (await client.getPresence(userId)).presence === "online";
   * }
   * ```
   */
  getPresence(userId: UserID, options?: RequestOptions): Promise<PresenceInfo>;

  /**
   * Sets whether the acting user is online. The time of the user's last activity is set along with
   * it.
   *
   * A sync sets presence too: online by default.
   *
   * @param options Presence, what to say about it, and request options.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3presenceuseridstatus | PUT /presence/{userId}/status}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function goQuiet(client: Client): Promise<void> {
   *   await client.setPresence({ presence: "unavailable" });
   * }
   * ```
   */
  setPresence(options?: SetPresenceOptions): Promise<void>;

  /**
   * Gets a user's profile.
   *
   * @param userId The user.
   * @param options Request options.
   * @returns All of the profile.
   * @throws {NotFoundError} If there is no such user, or no profile.
   * @throws {ForbiddenError} If the server refuses to show it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3profileuserid | GET /profile/{userId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function nameOf(client: Client, userId: UserID): Promise<string> {
   *   return (await client.getProfile(userId)).displayname ?? userId;
   * }
   * ```
   */
  getProfile(userId: UserID, options?: RequestOptions): Promise<Profile>;

  /**
   * Gets a user's display name.
   *
   * @param userId The user.
   * @param options Request options.
   * @returns The name; undefined if there is none, or no such user.
   * @throws {ForbiddenError} If the server refuses to show it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3profileuseridkeyname | GET /profile/{userId}/{keyName}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function greeting(client: Client, userId: UserID): Promise<string> {
   *   return `Hello ${await client.getDisplayname(userId) ?? userId}!`;
   * }
   * ```
   */
  getDisplayname(userId: UserID, options?: RequestOptions): Promise<string | undefined>;

  /**
   * Sets the acting user's display name, in all rooms too.
   *
   * @param displayname The name; empty or undefined to have none.
   * @param options Whether to look first, and request options.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3profileuseridkeyname | PUT /profile/{userId}/{keyName}}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * await client.setDisplayname("Alice of the stage");
   * console.assert(await client.getDisplayname("@alice:localhost") === "Alice of the stage");
   * ```
   */
  setDisplayname(displayname: string | undefined, options?: SetProfileOptions): Promise<void>;

  /**
   * Gets the content URI of a user's avatar.
   *
   * @param userId The user.
   * @param options Request options.
   * @returns Where the image is; undefined if there is none, or no such user.
   * @throws {ForbiddenError} If the server refuses to show it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3profileuseridkeyname | GET /profile/{userId}/{keyName}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function avatarOf(client: Client, userId: UserID): Promise<Uint8Array | undefined> {
   *   const url = await client.getAvatarUrl(userId);
   *   return url === undefined ? undefined : await client.downloadMedia(url);
   * }
   * ```
   */
  getAvatarUrl(userId: UserID, options?: RequestOptions): Promise<ContentURI | undefined>;

  /**
   * Sets the acting user's avatar, in all rooms too.
   *
   * @param avatarUrl Where the image is, as `uploadMedia()` returned it; empty or undefined to have
   *   none.
   * @param options Whether to look first, and request options.
   * @throws {ValueError} If it is no `mxc://` URI.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3profileuseridkeyname | PUT /profile/{userId}/{keyName}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function setAvatar(client: Client, path: string): Promise<void> {
   *   await client.setAvatarUrl(await client.uploadMedia(await Deno.readFile(path)));
   * }
   * ```
   */
  setAvatarUrl(avatarUrl: ContentURI | "" | undefined, options?: SetProfileOptions): Promise<void>;

  /**
   * Gets a field of a user's profile. Since version 1.16 of the specification there are others
   * than name and avatar.
   *
   * @param userId The user.
   * @param keyName The field, such as `m.tz`.
   * @param options Request options.
   * @returns The value, unchecked: its form is the other user's choice. Undefined if there is none,
   *   or no such user.
   * @throws {ForbiddenError} If the server refuses to show it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3profileuseridkeyname | GET /profile/{userId}/{keyName}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function timeZone(client: Client, userId: UserID): Promise<string> {
   *   const zone = await client.getProfileField(userId, "m.tz");
   *   return typeof zone === "string" ? zone : "UTC";
   * }
   * ```
   */
  getProfileField(userId: UserID, keyName: string, options?: RequestOptions): Promise<unknown>;

  /**
   * Sets a field of the acting user's profile.
   *
   * @param keyName The field, at most 255 bytes: the specification's, or one named after a domain
   *   that you own.
   * @param value The value: anything JSON can say but `null`, which servers may refuse.
   * @param options Request options.
   * @throws {ProfileTooLargeError} If the profile would exceed 64 KiB.
   * @throws {KeyTooLargeError} If the name is too long.
   * @throws {ValueError} If the value is undefined.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3profileuseridkeyname | PUT /profile/{userId}/{keyName}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function moveToBerlin(client: Client): Promise<void> {
   *   await client.setProfileField("m.tz", "Europe/Berlin");
   * }
   * ```
   */
  setProfileField(keyName: string, value: unknown, options?: RequestOptions): Promise<void>;

  /**
   * Takes a field out of the acting user's profile.
   *
   * @param keyName The field.
   * @param options Request options.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#delete_matrixclientv3profileuseridkeyname | DELETE /profile/{userId}/{keyName}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function hideTimeZone(client: Client): Promise<void> {
   *   await client.deleteProfileField("m.tz");
   * }
   * ```
   */
  deleteProfileField(keyName: string, options?: RequestOptions): Promise<void>;

  /**
   * Lists all push rules of the user.
   *
   * @param options Request options.
   * @returns The rules by kind, each in order of priority.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3pushrulesglobal | GET /pushrules/global/}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function disabledRules(client: Client): Promise<string[]> {
   *   const { override = [] } = await client.getPushRules();
   *   return override.filter(({ enabled }) => !enabled).map(({ rule_id }) => rule_id);
   * }
   * ```
   */
  getPushRules(options?: RequestOptions): Promise<PushRuleset>;

  /**
   * Gets a push rule.
   *
   * @param scope `global`.
   * @param kind The kind of rule.
   * @param ruleId The rule.
   * @param options Request options.
   * @returns The rule.
   * @throws {NotFoundError} If there is no such rule.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3pushrulesglobalkindruleid | GET /pushrules/global/{kind}/{ruleId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function pattern(client: Client): Promise<string | undefined> {
   *   const rule = await client.getPushRule("global", "content", "my-cue");
   *   return rule.pattern;
   * }
   * ```
   */
  getPushRule(
    scope: PushRuleScope,
    kind: PushRuleKind,
    ruleId: string,
    options?: RequestOptions,
  ): Promise<PushRule>;

  /**
   * Makes a push rule, or changes one. The server's own rules can't be made or moved; see
   * `setPushRuleActions()`.
   *
   * @param scope `global`.
   * @param kind The kind of rule.
   * @param ruleId The rule: a room ID of kind `room`, a user ID of kind `sender`, else anything
   *   without a dot in front.
   * @param actions What to do when the rule matches; nothing if empty.
   * @param options When it matches, its place among the others, and request options.
   * @throws {MatrixRequestError} If the rule named by `before` or `after` does not exist.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3pushrulesglobalkindruleid | PUT /pushrules/global/{kind}/{ruleId}}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * await client.setPushRule("global", "content", "my-cue", ["notify"], { pattern: "cue" });
   * const { pattern } = await client.getPushRule("global", "content", "my-cue");
   * console.assert(pattern === "cue");
   * ```
   */
  setPushRule(
    scope: PushRuleScope,
    kind: PushRuleKind,
    ruleId: string,
    actions: readonly PushAction[],
    options?: SetPushRuleOptions,
  ): Promise<void>;

  /**
   * Removes a push rule that the user made.
   *
   * @param scope `global`.
   * @param kind The kind of rule.
   * @param ruleId The rule.
   * @param options Request options.
   * @throws {NotFoundError} If there is no such rule.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#delete_matrixclientv3pushrulesglobalkindruleid | DELETE /pushrules/global/{kind}/{ruleId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function forgetCue(client: Client): Promise<void> {
   *   await client.removePushRule("global", "content", "my-cue");
   * }
   * ```
   */
  removePushRule(
    scope: PushRuleScope,
    kind: PushRuleKind,
    ruleId: string,
    options?: RequestOptions,
  ): Promise<void>;

  /**
   * Returns whether a push rule is enabled.
   *
   * @param scope `global`.
   * @param kind The kind of rule.
   * @param ruleId The rule.
   * @param options Request options.
   * @returns True if it is.
   * @throws {NotFoundError} If there is no such rule.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3pushrulesglobalkindruleidenabled | GET /pushrules/global/{kind}/{ruleId}/enabled}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function isMuted(client: Client): Promise<boolean> {
   *   return await client.isPushRuleEnabled("global", "override", ".m.rule.master");
   * }
   * ```
   */
  isPushRuleEnabled(
    scope: PushRuleScope,
    kind: PushRuleKind,
    ruleId: string,
    options?: RequestOptions,
  ): Promise<boolean>;

  /**
   * Puts a push rule, the server's own too, in or out of force.
   *
   * @param scope `global`.
   * @param kind The kind of rule.
   * @param ruleId The rule.
   * @param enabled Whether it is to be in force.
   * @param options Request options.
   * @throws {NotFoundError} If there is no such rule.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3pushrulesglobalkindruleidenabled | PUT /pushrules/global/{kind}/{ruleId}/enabled}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function mute(client: Client): Promise<void> {
   *   await client.setPushRuleEnabled("global", "override", ".m.rule.master", true);
   * }
   * ```
   */
  setPushRuleEnabled(
    scope: PushRuleScope,
    kind: PushRuleKind,
    ruleId: string,
    enabled: boolean,
    options?: RequestOptions,
  ): Promise<void>;

  /**
   * Gets the actions of a push rule.
   *
   * @param scope `global`.
   * @param kind The kind of rule.
   * @param ruleId The rule.
   * @param options Request options.
   * @returns Its actions.
   * @throws {NotFoundError} If there is no such rule.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3pushrulesglobalkindruleidactions | GET /pushrules/global/{kind}/{ruleId}/actions}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function notifies(client: Client, roomId: RoomID): Promise<boolean> {
   *   return (await client.getPushRuleActions("global", "room", roomId)).includes("notify");
   * }
   * ```
   */
  getPushRuleActions(
    scope: PushRuleScope,
    kind: PushRuleKind,
    ruleId: string,
    options?: RequestOptions,
  ): Promise<PushAction[]>;

  /**
   * Sets what a push rule, the server's own too, does when it matches.
   *
   * @param scope `global`.
   * @param kind The kind of rule.
   * @param ruleId The rule.
   * @param actions What to do; nothing if empty.
   * @param options Request options.
   * @throws {NotFoundError} If there is no such rule.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3pushrulesglobalkindruleidactions | PUT /pushrules/global/{kind}/{ruleId}/actions}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function ringForInvitations(client: Client): Promise<void> {
   *   const actions = ["notify", { set_tweak: "sound", value: "ring" }] as const;
   *   await client.setPushRuleActions("global", "override", ".m.rule.invite_for_me", actions);
   * }
   * ```
   */
  setPushRuleActions(
    scope: PushRuleScope,
    kind: PushRuleKind,
    ruleId: string,
    actions: readonly PushAction[],
    options?: RequestOptions,
  ): Promise<void>;

  /**
   * Marks a room as read up to an event.
   *
   * @param roomId The room.
   * @param eventId The event.
   * @param options Kind of receipt, thread, and request options.
   * @throws {ValueError} If a thread is given for the read marker, which has none.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidreceiptreceipttypeeventid | POST /rooms/{roomId}/receipt/{receiptType}/{eventId}}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const eventId = await client.sendText(roomId, "Curtain up");
   * await client.sendReceipt(roomId, eventId, { receiptType: "m.read.private", threadId: "main" });
   * ```
   */
  sendReceipt(roomId: RoomID, eventId: EventID, options?: SendReceiptOptions): Promise<void>;

  /**
   * Sets the user's read marker, and receipts along with it.
   *
   * @param roomId The room.
   * @param fullyRead The event at which the marker is to stand.
   * @param options Receipts to send along, and request options.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidread_markers | POST /rooms/{roomId}/read_markers}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function markRead(client: Client, roomId: RoomID, latest: EventID): Promise<void> {
   *   await client.setFullyReadMarker(roomId, latest, { readReceipt: latest });
   * }
   * ```
   */
  setFullyReadMarker(roomId: RoomID, fullyRead: EventID, options?: SetFullyReadMarkerOptions): Promise<void>;

  /**
   * Sets whether the user is typing in a room, for some time: without a `timeout`, that the user
   * has stopped.
   *
   * @param roomId The room.
   * @param options For how many milliseconds, and request options.
   * @throws {ForbiddenError} If the user is not in the room.
   * @throws {ValueError} If the timeout is no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3roomsroomidtypinguserid | PUT /rooms/{roomId}/typing/{userId}}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.setTyping(roomId, { timeout: 30_000 });
   * await client.setTyping(roomId); // has stopped
   * ```
   */
  setTyping(roomId: RoomID, options?: SetTypingOptions): Promise<void>;

  /**
   * Creates a room and joins it.
   *
   * A creation is not repeated when its answer is lost, for that might leave two rooms,
   * unless `retry` says how often.
   *
   * @param options What the room is to be, and request options.
   * @returns The room's ID: `client.room(roomId)` does things there.
   * @throws {RoomInUseError} If the alias is taken.
   * @throws {UnsupportedRoomVersionError} If the server does not know the room version.
   * @throws {InvalidRoomStateError} If the initial state or the power levels make no valid room.
   * @throws {ServiceResponseError} If the answer names no room.
   * @throws {ValueError} If an invitee is no user ID, the alias's local part is more than that,
   *   or `encrypted` is no boolean.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3createroom | POST /createRoom}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await homeserver.createUser("bob");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom({
   *   name: "Dressing room",
   *   encrypted: true,
   *   invite: ["@bob:localhost"],
   *   initialState: [{ type: "m.room.history_visibility", content: { history_visibility: "invited" } }],
   * });
   * console.assert((await client.getJoinedRooms()).includes(roomId));
   * ```
   */
  createRoom(options?: CreateRoomOptions): Promise<RoomID>;

  /**
   * Lists the rooms that the user has joined.
   *
   * @param options Request options.
   * @returns The IDs of the rooms, in no particular order.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3joined_rooms | GET /joined_rooms}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function announce(client: Client, text: string): Promise<void> {
   *   for (const roomId of await client.getJoinedRooms()) await client.sendText(roomId, text);
   * }
   * ```
   */
  getJoinedRooms(options?: RequestOptions): Promise<RoomID[]>;

  /**
   * Makes an account, and logs in by default. Most servers want an authentication, `m.login.dummy`
   * at the least; `authentication: {}` covers that.
   *
   * @param options What the account is to be, how to authenticate, and request options.
   * @returns The user, and the session unless there is none: keep its tokens secret.
   * @throws {AuthenticationNeededError} If the server wants an authentication that `authentication`
   *   does not cover.
   * @throws {UserInUseError} If the name is taken.
   * @throws {InvalidUsernameError} If the name breaks the grammar.
   * @throws {ForbiddenError} If the server takes no registrations.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3register | POST /register}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch });
   * await client.register({ username: "alice", password: "wonderland", authentication: {} });
   * console.assert(client.mxid === "@alice:localhost");
   * ```
   */
  register(options?: RegisterOptions): Promise<NewSession>;

  /**
   * Asks whether a name can be registered.
   *
   * @param username The local part of a user ID.
   * @param options Request options.
   * @returns Whether it can; false if it is taken, reserved or malformed.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3registeravailable | GET /register/available}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function isFree(client: Client): Promise<boolean> {
   *   return await client.isUsernameAvailable("stage.manager");
   * }
   * ```
   */
  isUsernameAvailable(username: string, options?: RequestOptions): Promise<boolean>;

  /**
   * Returns whether a user could register with a token now (`m.login.registration_token`).
   *
   * @param token The token.
   * @param options Request options.
   * @throws {ForbiddenError} If nobody can register.
   * @throws {ValueError} If the token is empty.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1registermloginregistration_tokenvalidity | GET /register/m.login.registration_token/validity}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function canInvite(client: Client, tokens: string[]): Promise<boolean> {
   *   for (const token of tokens) if (await client.isRegistrationTokenValid(token)) return true;
   *   return false;
   * }
   * ```
   */
  isRegistrationTokenValid(token: string, options?: RequestOptions): Promise<boolean>;

  /**
   * Changes the password of the account.
   *
   * @param newPassword The new password.
   * @param options Whether to log other devices out, how to authenticate, and request options.
   * @throws {WeakPasswordError} If the server finds the password too weak.
   * @throws {AuthenticationNeededError} If the server wants an authentication that `authentication`
   *   does not cover.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3accountpassword | POST /account/password}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function renew(client: Client, old: string, password: string): Promise<void> {
   *   await client.changePassword(password, { authentication: { password: old } });
   * }
   * ```
   */
  changePassword(newPassword: string, options?: ChangePasswordOptions): Promise<void>;

  /**
   * Deactivates the account. Its user ID can never be used again. If the client syncs, that ends
   * as by {@linkcode SessionAPI.logout}.
   *
   * @param options What to erase, how to authenticate, and request options.
   * @returns Whether the account's addresses were removed from the identity server: `success` or
   * `no-support`, also if the server does not say.
   * @throws {AuthenticationNeededError} If the server wants an authentication that `authentication`
   *   does not cover.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3accountdeactivate | POST /account/deactivate}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function leaveMatrix(client: Client, password: string): Promise<void> {
   *   await client.deactivateAccount({ authentication: { password }, erase: true });
   * }
   * ```
   */
  deactivateAccount(options?: DeactivateAccountOptions): Promise<"success" | "no-support">;

  /**
   * Lists the addresses outside Matrix that belong to the account.
   *
   * @param options Request options.
   * @returns The addresses.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3account3pid | GET /account/3pid}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function emails(client: Client): Promise<string[]> {
   *   const ids = await client.getThirdPartyIds();
   *   return ids.filter(({ medium }) => medium === "email").map(({ address }) => address);
   * }
   * ```
   */
  getThirdPartyIds(options?: RequestOptions): Promise<ThirdPartyID[]>;

  /**
   * Uploads keys of this device. Without any, it returns how many one-time keys are left.
   *
   * @param options The keys, and request options.
   * @returns How many unclaimed one-time keys the server has of this device, by algorithm.
   * @throws {MatrixRequestError} If the server has another key of the same ID.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3keysupload | POST /keys/upload}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function keysLeft(client: Client): Promise<number> {
   *   const { signed_curve25519 = 0 } = await client.uploadKeys();
   *   return signed_curve25519;
   * }
   * ```
   */
  uploadKeys(options?: UploadKeysOptions): Promise<{ [algorithm: string]: number }>;

  /**
   * Asks for the keys of devices and users.
   *
   * @param deviceKeys Users, or the devices of users; an empty list of devices means all of the
   *   user's.
   * @param options How long the server may ask other servers, and request options.
   * @returns The keys, and the servers that could not be reached.
   * @throws {ValueError} If a user ID can't be one, or `timeout` is negative or no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3keysquery | POST /keys/query}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await homeserver.createUser("bob");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const { device_keys = {} } = await client.queryKeys(["@bob:localhost"]);
   * console.assert(Object.keys(device_keys["@bob:localhost"] ?? {}).length === 0, "Bob has uploaded no keys");
   * ```
   */
  queryKeys(
    deviceKeys: readonly UserID[] | DevicesToQuery,
    options?: QueryKeysOptions,
  ): Promise<KeysQueryResponse>;

  /**
   * Claims one-time keys; the server gives each of them out once.
   *
   * @param oneTimeKeys The algorithm by user and device, such as `signed_curve25519`.
   * @param options How long the server may ask other servers, and request options.
   * @returns A key of each device that has one, and the servers that could not be reached.
   * @throws {ValueError} If a user ID can't be one, or `timeout` is negative or no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3keysclaim | POST /keys/claim}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { DeviceID, OneTimeKeys, UserID } from "@greenroom/matrix/types";
   *
   * export async function claim(client: Client, userId: UserID, deviceId: DeviceID): Promise<OneTimeKeys> {
   *   const { one_time_keys } = await client.claimKeys({ [userId]: { [deviceId]: "signed_curve25519" } });
   *   return one_time_keys[userId]?.[deviceId] ?? {};
   * }
   * ```
   */
  claimKeys(oneTimeKeys: KeysToClaim, options?: ClaimKeysOptions): Promise<KeysClaimResponse>;

  /**
   * Lists the user's devices.
   *
   * @param options Request options.
   * @returns The devices.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3devices | GET /devices}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function deviceNames(client: Client): Promise<string[]> {
   *   const devices = await client.getDevices();
   *   return devices.map(({ device_id, display_name }) => display_name ?? device_id);
   * }
   * ```
   */
  getDevices(options?: RequestOptions): Promise<Device[]>;

  /**
   * Gets one of the user's devices.
   *
   * @param deviceId The device.
   * @param options Request options.
   * @returns The device.
   * @throws {NotFoundError} If the user has no such device.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3devicesdeviceid | GET /devices/{deviceId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function lastSeen(client: Client): Promise<Date | undefined> {
   *   if (client.deviceId === undefined) return undefined;
   *   const { last_seen_ts } = await client.getDevice(client.deviceId);
   *   return last_seen_ts ? new Date(last_seen_ts) : undefined;
   * }
   * ```
   */
  getDevice(deviceId: DeviceID, options?: RequestOptions): Promise<Device>;

  /**
   * Renames one of the user's devices.
   *
   * @param deviceId The device.
   * @param displayName The new name. Other users can see it.
   * @param options Request options.
   * @throws {NotFoundError} If the user has no such device.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3devicesdeviceid | PUT /devices/{deviceId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function nameDevice(client: Client): Promise<void> {
   *   if (client.deviceId !== undefined) await client.updateDevice(client.deviceId, "Stage bot");
   * }
   * ```
   */
  updateDevice(deviceId: DeviceID, displayName: string, options?: RequestOptions): Promise<void>;

  /**
   * Deletes one of the user's devices: its token and its keys become void.
   *
   * @param deviceId The device.
   * @param options How to authenticate, and request options.
   * @throws {AuthenticationNeededError} If the server wants an authentication that `authentication`
   *   does not cover.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#delete_matrixclientv3devicesdeviceid | DELETE /devices/{deviceId}}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice", { password: "curtain" });
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const other = await client.login({
   *   identifier: "@alice:localhost",
   *   password: "curtain",
   *   deviceId: "OLD",
   *   storeAccessToken: false,
   * });
   * await client.deleteDevice(other.device_id, { authentication: { password: "curtain" } });
   * console.assert((await client.getDevices()).every(({ device_id }) => device_id !== "OLD"));
   * ```
   */
  deleteDevice(deviceId: DeviceID, options?: AuthenticationOptions): Promise<void>;

  /**
   * Deletes several of the user's devices at once.
   *
   * @param deviceIds The devices; those that do not exist are passed over.
   * @param options How to authenticate, and request options.
   * @throws {AuthenticationNeededError} If the server wants an authentication that `authentication`
   *   does not cover.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3delete_devices | POST /delete_devices}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function deleteOthers(client: Client, password: string): Promise<void> {
   *   const ids = (await client.getDevices()).map(({ device_id }) => device_id);
   *   const others = ids.filter((id) => id !== client.deviceId);
   *   await client.deleteDevices(others, { authentication: { password } });
   * }
   * ```
   */
  deleteDevices(deviceIds: readonly DeviceID[], options?: AuthenticationOptions): Promise<void>;

  /**
   * Uploads a filter.
   *
   * @param filterParams The filter.
   * @param options Request options.
   * @returns The filter's ID, for `sync()`.
   * @throws {MatrixRequestError} If the server does not take the filter.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3useruseridfilter | POST /user/{userId}/filter}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const filterId = await client.createFilter({ room: { timeline: { limit: 5 } } });
   * const filter = await client.getFilter(filterId);
   * console.assert(filter.room?.timeline?.limit === 5);
   * ```
   */
  createFilter(filterParams: Filter, options?: RequestOptions): Promise<FilterID>;

  /**
   * Gets a filter.
   *
   * @param filterId The filter's ID.
   * @param options Request options.
   * @returns The filter.
   * @throws {NotFoundError} If the user has no such filter.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3useruseridfilterfilterid | GET /user/{userId}/filter/{filterId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function hasFilter(client: Client, filterId: string): Promise<boolean> {
   *   return (await client.getFilter(filterId)).room !== undefined;
   * }
   * ```
   */
  getFilter(filterId: FilterID, options?: RequestOptions): Promise<Filter>;

  /**
   * Sends one sync request: what has happened since a token.
   * `Syncer` does so in a loop, and is what bots want.
   *
   * The transport never repeats this request, whatever `retry` says.
   *
   * @param options Where to go on, how long to wait, what to receive, and request options.
   * @returns The response as it is.
   * @throws {UnknownTokenError} If the session has ended.
   * @throws {ValueError} If `timeout` is negative or no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3sync | GET /sync}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const { rooms } = await client.sync({ timeout: 0, filterId: { room: { timeline: { limit: 1 } } } });
   * console.assert(rooms?.join?.[roomId]?.timeline?.events?.length === 1);
   * ```
   */
  sync(options?: SyncOptions): Promise<SyncResponse>;

  /**
   * Asks what the homeserver supports.
   *
   * @param options Request options.
   * @returns The versions of the specification, and experimental features.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientversions | GET /versions}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function speaks(client: Client, version: string): Promise<boolean> {
   *   return (await client.versions()).versions.includes(version);
   * }
   * ```
   */
  versions(options?: RequestOptions): Promise<VersionsResponse>;

  /**
   * Returns whether the homeserver supports a version of the specification, or a feature of a proposal. The
   * client remembers the answer of the homeserver; {@linkcode SessionAPI.versions} asks again.
   *
   * @param feature A version, such as `v1.11`: then a later one counts, too. Or the name of a feature, which
   *   counts if the homeserver says that it is on.
   * @param options Request options.
   * @throws {ValueError} If it is neither a version nor the name of a feature;
   *   the message says what to write.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientversions | GET /versions}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function canDelay(client: Client): Promise<boolean> {
   *   return await client.supports("org.matrix.msc4140");
   * }
   * ```
   */
  supports(feature: ServerFeature, options?: RequestOptions): Promise<boolean>;

  /**
   * Gets the user ID and the device ID that the access token belongs to.
   *
   * @param options Request options.
   * @returns The user and the device.
   * @throws {UnknownTokenError} If the token is void.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3accountwhoami | GET /account/whoami}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function isTokenOf(client: Client, userId: string): Promise<boolean> {
   *   return (await client.whoami()).user_id === userId;
   * }
   * ```
   */
  whoami(options?: RequestOptions): Promise<WhoamiResponse>;

  /**
   * Lists the ways to log in that the homeserver offers.
   *
   * @param options Request options.
   * @returns The ways.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3login | GET /login}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function takesPasswords(client: Client): Promise<boolean> {
   *   return (await client.getLoginFlows()).some(({ type }) => type === "m.login.password");
   * }
   * ```
   */
  getLoginFlows(options?: RequestOptions): Promise<LoginFlow[]>;

  /**
   * Logs in. The client then acts as this session, by default.
   *
   * @param options Who, how, as which device, and request options.
   * @returns The server's answer, tokens included: keep it secret.
   * @throws {ForbiddenError} If the password or token is wrong.
   * @throws {UserDeactivatedError} If there is no such user any more.
   * @throws {UnrecognizedError} If the server offers OAuth 2.0 only; the message says so. See
   *   `loginByDeviceCode()` of `@greenroom/matrix/oauth`.
   * @throws {ValueError} If a password login has no password or no user.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3login | POST /login}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * await homeserver.createUser("alice", { password: "curtain" });
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch });
   * await client.login({ identifier: "@alice:localhost", password: "curtain", deviceName: "Stage door" });
   * console.assert((await client.whoami()).user_id === "@alice:localhost");
   * ```
   */
  login(options?: LoginOptions): Promise<LoginResponse>;

  /**
   * Logs out: the token, the device and its keys become void. If the client syncs, that ends
   * before, and `start()` resolves; should the server refuse, it goes on. A session by OAuth 2.0 has its
   * tokens revoked.
   *
   * @param options Whether to forget the token, and request options.
   * @throws {UnknownTokenError} If the token is void already.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3logout | POST /logout}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function leaveStage(client: Client): Promise<void> {
   *   await client.stop();
   *   await client.logout();
   * }
   * ```
   */
  logout(options?: LogoutOptions): Promise<void>;

  /**
   * Logs out everywhere: all tokens, devices and device keys of the user become void. If the client
   * syncs, that ends as by {@linkcode SessionAPI.logout}.
   *
   * @param options Whether to forget the token, and request options.
   * @throws {UnknownTokenError} If the token is void already.
   * @throws {UnrecognizedError} If the server offers OAuth 2.0 only;
   *   the message says where sessions are ended.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3logoutall | POST /logout/all}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function endStolenSessions(client: Client): Promise<void> {
   *   await client.logoutAll();
   * }
   * ```
   */
  logoutAll(options?: LogoutOptions): Promise<void>;

  /**
   * Gets a token with which another device of the user can log in once, by `m.login.token`.
   *
   * @param options How to authenticate, and request options.
   * @returns The token and how long it is good.
   * @throws {AuthenticationNeededError} If the server wants an authentication that `authentication`
   *   does not cover.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv1loginget_token | POST /login/get_token}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function tokenForPhone(client: Client, password: string): Promise<string> {
   *   const { login_token } = await client.getLoginToken({ authentication: { password } });
   *   return login_token;
   * }
   * ```
   */
  getLoginToken(options?: AuthenticationOptions): Promise<LoginTokenResponse>;

  /**
   * Sends an event to devices, to each with its own content.
   *
   * @param eventType The type.
   * @param messages The contents by user and device; the device `*` means all devices
   *   of the user.
   * @param options Transaction ID, and request options.
   * @throws {ValueError} If the type is empty or of another class, or `messages` has something else
   *   than user IDs and objects.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3sendtodeviceeventtypetxnid | PUT /sendToDevice/{eventType}/{txnId}}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await homeserver.createUser("bob");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * await client.sendToDevice("com.example.cue", { "@bob:localhost": { "*": { line: 12 } } });
   * ```
   */
  sendToDevice<const T extends EventType>(
    eventType: T,
    messages: ToDeviceMessages<SendableContent<T, "to_device">>,
    options?: SendToDeviceOptions,
  ): Promise<void>;

  /**
   * Sends an event to one device.
   *
   * @param eventType The type.
   * @param userId The device's user.
   * @param deviceId The device; `*` means all devices of the user.
   * @param message The content.
   * @param options Transaction ID, and request options.
   * @throws {ValueError} If an argument can't be what it should.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3sendtodeviceeventtypetxnid | PUT /sendToDevice/{eventType}/{txnId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { DeviceID, UserID } from "@greenroom/matrix/types";
   *
   * export async function cue(client: Client, userId: UserID, deviceId: DeviceID): Promise<void> {
   *   await client.sendToOneDevice("com.example.cue", userId, deviceId, { line: 12 });
   * }
   * ```
   */
  sendToOneDevice<const T extends EventType>(
    eventType: T,
    userId: UserID,
    deviceId: DeviceID,
    message: SendableContent<T, "to_device">,
    options?: SendToDeviceOptions,
  ): Promise<void>;

  /**
   * Uploads media: an image or another file. Other users can get it only by the URI, and by the rooms that it
   * is sent to.
   *
   * Content is sent in parts as it is read, and never held whole; but a stream of unknown size is,
   * up to 32 MiB: say its `size` if it may be larger. The upload is one try, for a second one would
   * make a second copy.
   *
   * @param data Bytes, a `Blob` or `File`, a stream, or a file such as `Deno.open()` gives.
   * @param options What the content is, progress, and request options.
   * @returns The `mxc://` URL of the content.
   * @throws {TooLargeError} If the server takes no content as large as this; see
   *   `getMediaRepoConfig()`.
   * @throws {ServiceResponseError} If the server does not say where the content is.
   * @throws {ValueError} If the data is not what it should be, has another size than was said, or
   *   `mimeType` can't be one.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixmediav3upload | POST /_matrix/media/v3/upload}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const script = new TextEncoder().encode("Enter a ghost");
   * const url = await client.uploadMedia(script, { mimeType: "text/plain", filename: "script.txt" });
   * const copy = await client.downloadMedia(url);
   * console.assert(new TextDecoder().decode(copy) === "Enter a ghost");
   * ```
   */
  uploadMedia(data: MediaData, options?: UploadMediaOptions): Promise<ContentURI>;

  /**
   * Makes a place for content that is uploaded later, by `uploadMediaTo()`: its URI can be sent at
   * once.
   *
   * @param options Request options.
   * @returns The URI, and when it is given up if nothing is uploaded.
   * @throws {LimitExceededError} If too many places are empty.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixmediav1create | POST /_matrix/media/v1/create}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function sendFirst(client: Client, roomId: RoomID, path: string): Promise<void> {
   *   const { content_uri } = await client.createMedia();
   *   await client.sendImage(roomId, content_uri);
   *   await client.uploadMediaTo(content_uri, await Deno.readFile(path), { mimeType: "image/png" });
   * }
   * ```
   */
  createMedia(options?: RequestOptions): Promise<CreateMediaResponse>;

  /**
   * Uploads content to a place that `createMedia()` made. Unless the data is a stream, it is tried
   * again as any request.
   *
   * @param url The place.
   * @param data Bytes, a `Blob` or `File`, a stream, or a file.
   * @param options What the content is, progress, and request options.
   * @throws {CannotOverwriteMediaError} If there is content already; after a try that failed it may
   *   be this one.
   * @throws {ValueError} As of `uploadMedia()`.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixmediav3uploadservernamemediaid | PUT /_matrix/media/v3/upload/{serverName}/{mediaId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { ContentURI } from "@greenroom/matrix/types";
   *
   * export async function upload(client: Client, path: string): Promise<ContentURI> {
   *   const { content_uri } = await client.createMedia();
   *   await client.uploadMediaTo(content_uri, await Deno.open(path));
   *   return content_uri;
   * }
   * ```
   */
  uploadMediaTo(url: ContentURI, data: MediaData, options?: UploadMediaOptions): Promise<void>;

  /**
   * Downloads media as bytes; if it is encrypted, decrypts it.
   *
   * @param url Where the content is; of an encrypted file what the message says of it: its `file`.
   * @param options The most to take, progress, and request options.
   * @returns The content.
   * @throws {AttachmentError} If it is an encrypted file, and not the one that was sent.
   * @throws {NotFoundError} If there is no such content.
   * @throws {NotYetUploadedError} If nothing has been uploaded yet.
   * @throws {ServiceResponseError} If there is more than `maxSize`.
   * @throws {ValueError} If it is no content URI.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1mediadownloadservernamemediaid | GET /media/download/{serverName}/{mediaId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { ContentURI } from "@greenroom/matrix/types";
   *
   * export async function save(client: Client, url: ContentURI, path: string): Promise<void> {
   *   await Deno.writeFile(path, await client.downloadMedia(url));
   * }
   * ```
   */
  downloadMedia(
    url: ContentURI | EncryptedFile,
    options?: DownloadMediaOptions,
  ): Promise<Uint8Array<ArrayBuffer>>;

  /**
   * Downloads content as a stream, of any size.
   *
   * Only the start of the answer is waited for, and tried again if it fails. The request's signal
   * and time limit hold until the stream ends; time without a reader does not count.
   *
   * An encrypted file is decrypted, and none of it comes before all of it has arrived and was found
   * to be what was sent: until then it is held, in memory or, if it is large, in a temporary file.
   * Of what the server says of it only the size counts.
   *
   * @param url Where the content is; of an encrypted file what the message says of it: its `file`.
   * @param options The most to take and to hold in memory, progress, and request options.
   * @returns The stream, which must be read to its end or cancelled, and what the server says of
   * the content. It fails with an `AttachmentError` if it is an encrypted file that is not the one
   * that was sent, is larger than `maxSize`, or can't be held.
   * @throws {AttachmentError} If what the message says of an encrypted file can't be used.
   * @throws {NotFoundError} If there is no such content.
   * @throws {ValueError} If it is no content URI.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1mediadownloadservernamemediaid | GET /media/download/{serverName}/{mediaId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { ContentURI } from "@greenroom/matrix/types";
   *
   * export async function save(client: Client, url: ContentURI, path: string): Promise<void> {
   *   const { stream } = await client.downloadMediaStream(url, { maxSize: 100_000_000 });
   *   await Deno.writeFile(path, stream);
   * }
   * ```
   */
  downloadMediaStream(
    url: ContentURI | EncryptedFile,
    options?: DownloadMediaStreamOptions,
  ): Promise<MediaDownload>;

  /**
   * Downloads a smaller version of an image. Its size may differ from what is asked for.
   *
   * An encrypted image can't be made smaller by the server; its sender does that, and sends the
   * message's `info.thumbnail_file`. Given that, this downloads and decrypts it as it is.
   *
   * @param url Where the image is; or an encrypted thumbnail, as the message says.
   * @param options The size, and request options.
   * @returns The thumbnail.
   * @throws {AttachmentError} If it is an encrypted file, and not the one that was sent.
   * @throws {MatrixRequestError} If the server can't make a thumbnail of the content.
   * @throws {ValueError} If it is no content URI, or a size is no integer of at least 1.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1mediathumbnailservernamemediaid | GET /media/thumbnail/{serverName}/{mediaId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function avatar(client: Client, userId: UserID): Promise<Uint8Array | undefined> {
   *   const url = await client.getAvatarUrl(userId);
   *   return url && await client.downloadThumbnail(url, { width: 64, resizeMethod: "crop" });
   * }
   * ```
   */
  downloadThumbnail(
    url: ContentURI | EncryptedFile,
    options?: DownloadThumbnailOptions,
  ): Promise<Uint8Array<ArrayBuffer>>;

  /**
   * Gets the limits of the media repository, such as the largest upload.
   *
   * @param options Request options.
   * @returns The limits; those that are missing are not known.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1mediaconfig | GET /media/config}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function largestUpload(client: Client): Promise<number | null | undefined> {
   *   return (await client.getMediaRepoConfig())["m.upload.size"];
   * }
   * ```
   */
  getMediaRepoConfig(options?: RequestOptions): Promise<MediaConfig>;

  /**
   * Gets a preview of a web page, such as its title and its image. The server learns its address, so ask for
   * no page of an encrypted room.
   *
   * @param url The page.
   * @param options How old the preview may be, and request options.
   * @returns The preview.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1mediapreview_url | GET /media/preview_url}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function titleOf(client: Client, url: string): Promise<unknown> {
   *   return (await client.getUrlPreview(url))["og:title"];
   * }
   * ```
   */
  getUrlPreview(url: string, options?: GetUrlPreviewOptions): Promise<UrlPreview>;

  /**
   * Reads a page of the events that relate to an event.
   *
   * @param roomId The room.
   * @param eventId The event that is related to.
   * @param options Which events, where to begin, and request options.
   * @returns The events, and the token of the next page if there is one.
   * @throws {NotFoundError} If there is no such event, or the caller may not see it.
   * @throws {ValueError} If there is an `eventType` and no `relType`, or `limit` is no integer of
   *   at least 1.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1roomsroomidrelationseventid | GET /rooms/{roomId}/relations/{eventId}}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const eventId = await client.sendText(roomId, "Bravo?");
   * await client.react(roomId, eventId, "👏");
   * const { chunk } = await client.getRelations(roomId, eventId, { relType: "m.annotation" });
   * console.assert(chunk.length === 1);
   * ```
   */
  getRelations(roomId: RoomID, eventId: EventID, options?: GetRelationsOptions): Promise<RelationsResponse>;

  /**
   * Reads a page of a room's threads.
   *
   * @param roomId The room.
   * @param options Which threads, where to begin, and request options.
   * @returns The roots of the threads, and the token of the next page if there is one.
   * @throws {ForbiddenError} If the caller may not see the room.
   * @throws {ValueError} If `limit` is no integer of at least 1.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1roomsroomidthreads | GET /rooms/{roomId}/threads}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function newestThread(client: Client, roomId: RoomID): Promise<string | undefined> {
   *   return (await client.getThreads(roomId, { limit: 1 })).chunk[0]?.event_id;
   * }
   * ```
   */
  getThreads(roomId: RoomID, options?: GetThreadsOptions): Promise<ThreadsResponse>;

  /**
   * Reads a page of a space's rooms, those of its spaces included.
   *
   * @param roomId The space.
   * @param options Which rooms, where to begin, and request options.
   * @returns The rooms, each space before the rooms in it, and the token of the next page if there
   *   is one.
   * @throws {ForbiddenError} If the caller may not see the space.
   * @throws {ValueError} If `limit` or `maxDepth` is too small or no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1roomsroomidhierarchy | GET /rooms/{roomId}/hierarchy}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function roomsOf(client: Client, spaceId: RoomID): Promise<RoomID[]> {
   *   const { rooms } = await client.getSpaceHierarchy(spaceId, { maxDepth: 1 });
   *   return rooms.map(({ room_id }) => room_id);
   * }
   * ```
   */
  getSpaceHierarchy(roomId: RoomID, options?: GetSpaceHierarchyOptions): Promise<SpaceHierarchyResponse>;

  /**
   * Upgrades a room: makes a new one of another version, moves what can be moved, and closes the
   * old one.
   *
   * @param roomId The room.
   * @param newVersion The version of the new room.
   * @param options Request options.
   * @returns The new room.
   * @throws {ForbiddenError} If the caller lacks the power.
   * @throws {UnsupportedRoomVersionError} If the server does not know the version.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidupgrade | POST /rooms/{roomId}/upgrade}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function renew(client: Client, roomId: RoomID): Promise<RoomID> {
   *   const newRoomId = await client.upgradeRoom(roomId, "12");
   *   await client.sendText(newRoomId, "Welcome to the new room");
   *   return newRoomId;
   * }
   * ```
   */
  upgradeRoom(roomId: RoomID, newVersion: string, options?: UpgradeRoomOptions): Promise<RoomID>;

  /**
   * Gets an event, and the events before and after it.
   *
   * @param roomId The room.
   * @param eventId The event.
   * @param options How many and which events, and request options.
   * @returns The event, what is around it, and tokens to read on with `getMessages()`.
   * @throws {NotFoundError} If there is no such event, or the caller may not see it.
   * @throws {ValueError} If `limit` is negative or no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidcontexteventid | GET /rooms/{roomId}/context/{eventId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function around(client: Client, roomId: RoomID, eventId: EventID): Promise<string[]> {
   *   const { events_before = [], events_after = [] } = await client.getEventContext(roomId, eventId, { limit: 10 });
   *   return [...events_before.toReversed(), ...events_after].map(({ sender }) => sender);
   * }
   * ```
   */
  getEventContext(
    roomId: RoomID,
    eventId: EventID,
    options?: GetEventContextOptions,
  ): Promise<EventContextResponse>;

  /**
   * Finds the event that is closest to a time.
   *
   * @param roomId The room.
   * @param time The time, in milliseconds since the epoch.
   * @param direction Where to look: `f` at and after the time, `b` at and before it.
   * @param options Request options.
   * @returns The event and its time.
   * @throws {NotFoundError} If there is no event on that side.
   * @throws {ValueError} If the time is negative or no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1roomsroomidtimestamp_to_event | GET /rooms/{roomId}/timestamp_to_event}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function firstSince(client: Client, roomId: RoomID, date: Date): Promise<EventID> {
   *   return (await client.timestampToEvent(roomId, date.getTime(), "f")).event_id;
   * }
   * ```
   */
  timestampToEvent(
    roomId: RoomID,
    time: number,
    direction: PaginationDirection,
    options?: RequestOptions,
  ): Promise<TimestampToEventResponse>;

  /**
   * Gets the summary of a room that the user may join, such as its name and topic. Servers before version
   * 1.15 do not know this operation.
   *
   * @param roomIdOrAlias The room's ID, or an alias of it.
   * @param options Servers to ask, and request options.
   * @returns The summary.
   * @throws {NotFoundError} If there is no such room, or the caller may not know it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1room_summaryroomidoralias | GET /room_summary/{roomIdOrAlias}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function describe(client: Client): Promise<string> {
   *   const { name, num_joined_members } = await client.getRoomSummary("#stage:example.org");
   *   return `${name ?? "A room"}, ${num_joined_members} members`;
   * }
   * ```
   */
  getRoomSummary(roomIdOrAlias: RoomID | RoomAlias, options?: GetRoomSummaryOptions): Promise<RoomSummary>;

  /**
   * Reports an event.
   *
   * @param roomId The room, which the caller must be in.
   * @param eventId The event.
   * @param options Reason, and request options.
   * @throws {NotFoundError} If there is no such event, or the caller is not in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidreporteventid | POST /rooms/{roomId}/report/{eventId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function reportSpam(client: Client, roomId: RoomID, eventId: EventID): Promise<void> {
   *   await client.reportEvent(roomId, eventId, { reason: "Spam" });
   * }
   * ```
   */
  reportEvent(roomId: RoomID, eventId: EventID, options?: ReportOptions): Promise<void>;

  /**
   * Reports a room.
   *
   * @param roomId The room, which the caller need not be in.
   * @param options Reason, and request options.
   * @throws {NotFoundError} If there is no such room; some servers do not say.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidreport | POST /rooms/{roomId}/report}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function reportSpamRoom(client: Client, roomId: RoomID): Promise<void> {
   *   await client.reportRoom(roomId, { reason: "Spam" });
   * }
   * ```
   */
  reportRoom(roomId: RoomID, options?: ReportOptions): Promise<void>;

  /**
   * Reports a user.
   *
   * @param userId The user.
   * @param options Reason, and request options.
   * @throws {NotFoundError} If there is no such user; some servers do not say.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3usersuseridreport | POST /users/{userId}/report}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function reportSpammer(client: Client, userId: UserID): Promise<void> {
   *   await client.reportUser(userId, { reason: "Spam" });
   * }
   * ```
   */
  reportUser(userId: UserID, options?: ReportOptions): Promise<void>;

  /**
   * Searches messages, names and topics of the user's rooms. Encrypted messages can't be found.
   *
   * @param searchTerm The words to search for.
   * @param options Where and how to search, and request options.
   * @returns The results, and the token of the next page if there is one.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3search | POST /search}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.sendText(roomId, "The ghost enters");
   * const { results = [] } = await client.searchMessages("ghost");
   * console.assert(results[0]?.result?.room_id === roomId);
   * ```
   */
  searchMessages(searchTerm: string, options?: SearchMessagesOptions): Promise<RoomEventsResults>;

  /**
   * Gets what the homeserver lets the user do, such as changing the password.
   *
   * @param options Request options.
   * @returns The capabilities; what is missing has the default that its documentation says.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3capabilities | GET /capabilities}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function defaultRoomVersion(client: Client): Promise<string | undefined> {
   *   return (await client.getCapabilities())["m.room_versions"]?.default;
   * }
   * ```
   */
  getCapabilities(options?: RequestOptions): Promise<Capabilities>;

  /**
   * Lists the user's pushers.
   *
   * @param options Request options.
   * @returns The pushers.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3pushers | GET /pushers}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function pushedApps(client: Client): Promise<string[]> {
   *   return (await client.getPushers()).map(({ app_display_name }) => app_display_name);
   * }
   * ```
   */
  getPushers(options?: RequestOptions): Promise<Pusher[]>;

  /**
   * Makes a pusher, or changes the one of the same key and application.
   *
   * @param pusher The pusher.
   * @param options Request options.
   * @throws {MatrixRequestError} If the server does not take the pusher.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3pushersset | POST /pushers/set}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function pushTo(client: Client, url: string, pushkey: string): Promise<void> {
   *   await client.setPusher({
   *     kind: "http",
   *     pushkey,
   *     app_id: "org.example.stage",
   *     app_display_name: "Stage",
   *     device_display_name: "Phone",
   *     lang: "en",
   *     data: { url, format: "event_id_only" },
   *   });
   * }
   * ```
   */
  setPusher(pusher: PusherSetup, options?: RequestOptions): Promise<void>;

  /**
   * Removes a pusher.
   *
   * @param pushkey The pusher's key.
   * @param appId The pusher's application.
   * @param options Request options.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3pushersset | POST /pushers/set}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function removePushers(client: Client): Promise<void> {
   *   for (const { pushkey, app_id } of await client.getPushers()) {
   *     await client.removePusher(pushkey, app_id);
   *   }
   * }
   * ```
   */
  removePusher(pushkey: string, appId: string, options?: RequestOptions): Promise<void>;

  /**
   * Lists the kinds of network that the server has a bridge to.
   *
   * @param options Request options.
   * @returns The kinds by name.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3thirdpartyprotocols | GET /thirdparty/protocols}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function bridges(client: Client): Promise<string[]> {
   *   return Object.keys(await client.getThirdPartyProtocols());
   * }
   * ```
   */
  getThirdPartyProtocols(options?: RequestOptions): Promise<{ [protocol: string]: ThirdPartyProtocol }>;

  /**
   * Gets a kind of network that the server has a bridge to.
   *
   * @param protocol Its name.
   * @param options Request options.
   * @returns The kind of network.
   * @throws {NotFoundError} If the server has no bridge to such a network.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3thirdpartyprotocolprotocol | GET /thirdparty/protocol/{protocol}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function ircNetworks(client: Client): Promise<string[]> {
   *   return (await client.getThirdPartyProtocol("irc")).instances.map(({ desc }) => desc);
   * }
   * ```
   */
  getThirdPartyProtocol(protocol: string, options?: RequestOptions): Promise<ThirdPartyProtocol>;

  /**
   * Finds rooms that stand for places of a network.
   *
   * @param protocol The kind of network.
   * @param options What to look for, and request options.
   * @returns The places.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3thirdpartylocationprotocol | GET /thirdparty/location/{protocol}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function ircChannel(client: Client, channel: string): Promise<string | undefined> {
   *   return (await client.getThirdPartyLocations("irc", { fields: { channel } }))[0]?.alias;
   * }
   * ```
   */
  getThirdPartyLocations(protocol: string, options?: ThirdPartyLookupOptions): Promise<ThirdPartyLocation[]>;

  /**
   * Finds the places that a room stands for.
   *
   * @param alias An alias of the room.
   * @param options Request options.
   * @returns The places.
   * @throws {ValueError} If it is no alias.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3thirdpartylocation | GET /thirdparty/location}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomAlias } from "@greenroom/matrix/types";
   *
   * export async function networksOf(client: Client, alias: RoomAlias): Promise<string[]> {
   *   return (await client.getThirdPartyLocationsOfAlias(alias)).map(({ protocol }) => protocol);
   * }
   * ```
   */
  getThirdPartyLocationsOfAlias(alias: RoomAlias, options?: RequestOptions): Promise<ThirdPartyLocation[]>;

  /**
   * Finds Matrix users who stand for users of a network.
   *
   * @param protocol The kind of network.
   * @param options What to look for, and request options.
   * @returns The users.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3thirdpartyuserprotocol | GET /thirdparty/user/{protocol}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function ircUser(client: Client, nickname: string): Promise<string | undefined> {
   *   return (await client.getThirdPartyUsers("irc", { fields: { nickname } }))[0]?.userid;
   * }
   * ```
   */
  getThirdPartyUsers(protocol: string, options?: ThirdPartyLookupOptions): Promise<ThirdPartyUser[]>;

  /**
   * Finds the users of networks whom a Matrix user stands for.
   *
   * @param userId The Matrix user.
   * @param options Request options.
   * @returns The users.
   * @throws {ValueError} If it is no user ID.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3thirdpartyuser | GET /thirdparty/user}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function isBridged(client: Client, userId: UserID): Promise<boolean> {
   *   return (await client.getThirdPartyUsersOfId(userId)).length > 0;
   * }
   * ```
   */
  getThirdPartyUsersOfId(userId: UserID, options?: RequestOptions): Promise<ThirdPartyUser[]>;

  /**
   * Gets a token that proves to a third party who the user is. It gives no access to the account.
   *
   * @param options Request options.
   * @returns The token, and whom the third party has to ask about it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3useruseridopenidrequest_token | POST /user/{userId}/openid/request_token}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function signIn(client: Client, service: string): Promise<Response> {
   *   const token = await client.getOpenIdToken();
   *   return await fetch(service, { method: "POST", body: JSON.stringify(token) });
   * }
   * ```
   */
  getOpenIdToken(options?: RequestOptions): Promise<OpenIDToken>;

  /**
   * Asks for servers that relay calls.
   *
   * @param options Request options.
   * @returns Where they are, and how to use them: keep it secret. Undefined if the homeserver has
   *   none.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3voipturnserver | GET /voip/turnServer}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function iceServers(client: Client): Promise<object[]> {
   *   const turn = await client.getTurnServer();
   *   if (turn === undefined) return [];
   *   return [{ urls: turn.uris, username: turn.username, credential: turn.password }];
   * }
   * ```
   */
  getTurnServer(options?: RequestOptions): Promise<TurnServer | undefined>;

  /**
   * Reads a room's history.
   *
   * @param roomId The room.
   * @param direction `b` from new to old, `f` from old to new.
   * @param options Those of `getMessages()`, and where to begin.
   * @returns The events one by one.
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * for (const line of ["To be", "or not"]) await client.sendText(roomId, line);
   * const lines: unknown[] = [];
   * for await (const { type, content } of client.iterateMessages(roomId, "f", { limit: 3 })) {
   *   if (type === "m.room.message") lines.push(content.body);
   * }
   * console.assert(lines.join() === "To be,or not");
   * ```
   */
  iterateMessages(
    roomId: RoomID,
    direction: PaginationDirection,
    options?: IterateMessagesOptions,
  ): AsyncGenerator<ClientEvent, void, undefined>;

  /**
   * Reads the events that relate to an event.
   *
   * @param roomId The room.
   * @param eventId The event that is related to.
   * @param options Those of `getRelations()`.
   * @returns The events one by one.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function countReplies(client: Client, roomId: RoomID, root: EventID): Promise<number> {
   *   const replies = client.iterateRelations(roomId, root, { relType: "m.thread" });
   *   return (await Array.fromAsync(replies)).length;
   * }
   * ```
   */
  iterateRelations(
    roomId: RoomID,
    eventId: EventID,
    options?: GetRelationsOptions,
  ): AsyncGenerator<ClientEvent, void, undefined>;

  /**
   * Reads a room's threads.
   *
   * @param roomId The room.
   * @param options Those of `getThreads()`.
   * @returns The roots of the threads one by one.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function threadStarters(client: Client, roomId: RoomID): Promise<Set<string>> {
   *   const senders = new Set<string>();
   *   for await (const root of client.iterateThreads(roomId)) senders.add(root.sender);
   *   return senders;
   * }
   * ```
   */
  iterateThreads(roomId: RoomID, options?: GetThreadsOptions): AsyncGenerator<ClientEvent, void, undefined>;

  /**
   * Reads the rooms of a space.
   *
   * @param roomId The space.
   * @param options Those of `getSpaceHierarchy()`.
   * @returns The rooms one by one.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function joinSpace(client: Client, spaceId: RoomID): Promise<void> {
   *   for await (const { room_id } of client.iterateSpaceRooms(spaceId)) await client.joinRoomById(room_id);
   * }
   * ```
   */
  iterateSpaceRooms(
    roomId: RoomID,
    options?: GetSpaceHierarchyOptions,
  ): AsyncGenerator<SpaceHierarchyRoom, void, undefined>;

  /**
   * Reads the room directory.
   *
   * @param options Those of `getRoomDirectory()`.
   * @returns The rooms one by one.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function findRoom(client: Client, name: string): Promise<string | undefined> {
   *   for await (const room of client.iterateRoomDirectory()) {
   *     if (room.name === name) return room.room_id;
   *   }
   *   return undefined;
   * }
   * ```
   */
  iterateRoomDirectory(options?: GetRoomDirectoryOptions): AsyncGenerator<PublicRoomsChunk, void, undefined>;

  /**
   * Runs a request that may need authentication: as often as there are stages to be done.
   *
   * The operations of Greenroom that need it take it as their option `authentication`; this is for
   * all others.
   *
   * @param request Sends the request, with `auth` in its body if there is any.
   * @param authentication What proves that the user agrees, such as a password.
   * @param options Request options, of which the signal counts.
   * @returns What the request returned in the end.
   * @throws {AuthenticationNeededError} If no way that the server offers can be gone with what was
   * given; its `challenge` has the ways (`flows`) and the session.
   * @throws {MatrixRequestError} If a stage was refused.
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice", { password: "curtain" });
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * await client.withUia(
   *   (auth) =>
   *     client.request("POST", "/_matrix/client/v3/delete_devices", { body: { devices: ["OLD"], auth } }),
   *   { password: "curtain" },
   * );
   * ```
   */
  withUia<Result>(
    request: (auth: AuthenticationData | undefined) => Promise<Result>,
    authentication: Authentication,
    options?: RequestOptions,
  ): Promise<Result>;

  /**
   * Has the homeserver send an event later.
   *
   * @param roomId The room.
   * @param eventType The type.
   * @param content The content.
   * @param options The delay, the state key of state, and request options.
   * @returns The ID of the delay, which is no event's.
   * @throws {ForbiddenError} If the homeserver sends nothing later.
   * @throws {EncryptionError} If the room is encrypted, and the event is no state: a message is
   *   encrypted when it leaves. Use a reminder, or give the content of `client.encrypt()` as
   *   `m.room.encrypted`. Redactions, and what `client.encryptionBlacklist` names (reactions, by
   *   default), are not encrypted, and can be sent later.
   * @throws {UnsupportedFeatureError} If it is a redaction in a room before version 11,
   *   and the homeserver takes none there as an event.
   * @experimental It uses the unstable form of MSC4140: a minor version may change it.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function sayGone(client: Client, roomId: RoomID): Promise<string> {
   *   const content = { msgtype: "m.notice", body: "The bot is gone." } as const;
   *   return await client.createDelayedEvent(roomId, "m.room.message", content, { delay: 60_000 });
   * }
   * ```
   */
  createDelayedEvent<T extends EventType>(
    roomId: RoomID,
    eventType: T,
    content: SendableContent<T, "message"> | ContentAs<T, "state">,
    options: CreateDelayedEventOptions,
  ): Promise<string>;

  /**
   * Lists the events that the homeserver will send for the user.
   *
   * @param options Request options.
   * @experimental It uses the unstable form of MSC4140: a minor version may change it.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function cancelAll(client: Client): Promise<void> {
   *   for (const { delay_id } of await client.listDelayedEvents()) await client.cancelDelayedEvent(delay_id);
   * }
   * ```
   */
  listDelayedEvents(options?: RequestOptions): Promise<DelayedEvent[]>;

  /**
   * Cancels an event that has not been sent.
   *
   * @param delayId The ID of its delay.
   * @param options Request options.
   * @throws {NotFoundError} If it was sent or cancelled.
   * @experimental It uses the unstable form of MSC4140: a minor version may change it.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function isCancelled(client: Client, delayId: string): Promise<boolean> {
   *   return await client.cancelDelayedEvent(delayId).then(() => true, () => false);
   * }
   * ```
   */
  cancelDelayedEvent(delayId: string, options?: RequestOptions): Promise<void>;

  /**
   * Has the time of an event begin again.
   *
   * @param delayId The ID of its delay.
   * @param options Request options.
   * @throws {NotFoundError} If it was sent or cancelled.
   * @experimental It uses the unstable form of MSC4140: a minor version may change it.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function stayAlive(client: Client, delayId: string): Promise<void> {
   *   await client.restartDelayedEvent(delayId); // call it again and again
   * }
   * ```
   */
  restartDelayedEvent(delayId: string, options?: RequestOptions): Promise<void>;

  /**
   * Has an event sent now.
   *
   * @param delayId The ID of its delay.
   * @param options Request options.
   * @throws {NotFoundError} If it was sent or cancelled.
   * @experimental It uses the unstable form of MSC4140: a minor version may change it.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function leaveNow(client: Client, delayId: string): Promise<void> {
   *   await client.sendDelayedEvent(delayId);
   *   await client.close();
   * }
   * ```
   */
  sendDelayedEvent(delayId: string, options?: RequestOptions): Promise<void>;

  /**
   * Lists the rooms that the user and another one are in, as the server knows them: it needs no sync.
   *
   * @param userId The other user.
   * @param options Request options.
   * @throws {UnrecognizedError} If the homeserver can't say.
   *   `client.stateStore.getSharedRooms()` knows the rooms that syncs have shown.
   * @throws {InvalidParamError} If it is the own user.
   * @throws {ServiceResponseError} If the pages of the server have no end.
   * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/2666 | GET /mutual_rooms}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function banEverywhere(client: Client, userId: UserID, reason: string): Promise<void> {
   *   for (const roomId of await client.getMutualRooms(userId)) await client.banUser(roomId, userId, { reason });
   * }
   * ```
   */
  getMutualRooms(userId: UserID, options?: RequestOptions): Promise<RoomID[]>;

  /**
   * Says whether the user follows a thread.
   *
   * @param roomId The room.
   * @param threadId The event that the thread begins with.
   * @param options Request options.
   * @returns How the user came to follow it; undefined if the user does not.
   * @throws {UnrecognizedError} If the homeserver has no subscriptions.
   * @experimental It uses the unstable form of MSC4306: a minor version may change it.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function follows(client: Client, roomId: RoomID, threadId: EventID): Promise<boolean> {
   *   return await client.getThreadSubscription(roomId, threadId) !== undefined;
   * }
   * ```
   */
  getThreadSubscription(
    roomId: RoomID,
    threadId: EventID,
    options?: RequestOptions,
  ): Promise<ThreadSubscription | undefined>;

  /**
   * Follows a thread.
   *
   * @param roomId The room.
   * @param threadId The event that the thread begins with.
   * @param options Whether a client does so by itself, and request options.
   * @throws {NotFoundError} If there is no such thread.
   * @throws {UnrecognizedError} If the homeserver has no subscriptions.
   * @experimental It uses the unstable form of MSC4306: a minor version may change it.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function follow(client: Client, roomId: RoomID, threadId: EventID): Promise<void> {
   *   await client.setThreadSubscription(roomId, threadId);
   * }
   * ```
   */
  setThreadSubscription(
    roomId: RoomID,
    threadId: EventID,
    options?: SetThreadSubscriptionOptions,
  ): Promise<void>;

  /**
   * Follows a thread no more.
   *
   * @param roomId The room.
   * @param threadId The event that the thread begins with.
   * @param options Request options.
   * @throws {UnrecognizedError} If the homeserver has no subscriptions.
   * @experimental It uses the unstable form of MSC4306: a minor version may change it.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function mute(client: Client, roomId: RoomID, threadId: EventID): Promise<void> {
   *   await client.removeThreadSubscription(roomId, threadId);
   * }
   * ```
   */
  removeThreadSubscription(roomId: RoomID, threadId: EventID, options?: RequestOptions): Promise<void>;

  /**
   * Says which invitations the homeserver lets through.
   *
   * @param options Request options.
   * @returns What was set; empty: all get through.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#invite-permission | Invite permission}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function canBeInvited(client: Client): Promise<boolean> {
   *   return (await client.getInvitePermissions()).default_action !== "block";
   * }
   * ```
   */
  getInvitePermissions(options?: RequestOptions): Promise<InvitePermissions>;

  /**
   * Says which invitations the homeserver is to let through from now on. Others who invite the user get an
   * `InviteBlockedError`. Invitations that wait come by syncs as the homeserver has it: by the specification
   * they don't, and Synapse shows them.
   *
   * `default_action` blocks all. The lists of MSC4155 (globs of user IDs, and of server names) tell them
   * apart: the first that fits counts, users before servers, and of each `allowed`, `ignored`,
   * `blocked`. On Synapse, they do not count for a user who has set `default_action` once, though it was
   * taken away since: then all get through.
   *
   * @param permissions What is let through, in place of what was before; `{}`: everything.
   * @param options Request options.
   * @throws {UnsupportedFeatureError} If the homeserver can't block, or has no lists.
   * @throws {ValueError} If there is no such member, or it is of another kind.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#invite-permission | Invite permission}
   * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4155 | MSC4155}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function doNotDisturb(client: Client): Promise<void> {
   *   await client.setInvitePermissions({ default_action: "block" });
   * }
   * ```
   */
  setInvitePermissions(permissions: InvitePermissions, options?: RequestOptions): Promise<void>;

  /**
   * Lists the events that the user was notified of, or would have been, a part at a time.
   *
   * @param options Which, where the part begins, and request options.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3notifications | GET /notifications}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function countMissed(client: Client): Promise<number> {
   *   const { notifications } = await client.getNotifications({ only: "highlight", limit: 100 });
   *   return notifications.filter(({ read }) => !read).length;
   * }
   * ```
   */
  getNotifications(options?: GetNotificationsOptions): Promise<NotificationsResponse>;

  /**
   * Has the homeserver send an email, so that its reader can validate the address.
   *
   * @param email The address.
   * @param options What the attempt is, and request options.
   * @returns The validation, for `addThirdPartyId()` once the address is validated.
   * @throws {ThreepidInUseError} If the address is that of an account.
   * @throws {ThreepidMediumNotSupportedError} If the server takes no email addresses.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3account3pidemailrequesttoken | POST /account/3pid/email/requestToken}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function addEmail(client: Client, email: string, password: string): Promise<void> {
   *   const validation = await client.requestEmailToken(email);
   *   if (!confirm("Follow the link of the email. Done?")) return;
   *   await client.addThirdPartyId(validation, { authentication: { password } });
   * }
   * ```
   */
  requestEmailToken(email: string, options?: RequestEmailTokenOptions): Promise<ThirdPartyValidation>;

  /**
   * Has the homeserver send a text message, so that its reader can validate the phone number.
   *
   * @param phoneNumber The number.
   * @param options Its country, what the attempt is, and request options.
   * @returns The validation, for `addThirdPartyId()` once the number is validated.
   * @throws {ThreepidInUseError} If the number is that of an account.
   * @throws {ThreepidMediumNotSupportedError} If the server takes no phone numbers.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3account3pidmsisdnrequesttoken | POST /account/3pid/msisdn/requestToken}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function validate(client: Client, number: string): Promise<string | undefined> {
   *   return (await client.requestPhoneToken(number, { country: "GB" })).submit_url;
   * }
   * ```
   */
  requestPhoneToken(phoneNumber: string, options: RequestPhoneTokenOptions): Promise<ThirdPartyValidation>;

  /**
   * Adds an address to the account that was validated.
   *
   * @param validation What `requestEmailToken()` or `requestPhoneToken()` has returned.
   * @param options How to authenticate, and request options.
   * @throws {ThreepidAuthFailedError} If the address is not validated.
   * @throws {AuthenticationNeededError} If the server wants an authentication
   *   that `authentication` does not cover.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3account3pidadd | POST /account/3pid/add}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function add(client: Client, sid: string, secret: string, password: string): Promise<void> {
   *   await client.addThirdPartyId({ sid, client_secret: secret }, { authentication: { password } });
   * }
   * ```
   */
  addThirdPartyId(validation: ThirdPartyValidation, options?: AuthenticationOptions): Promise<void>;

  /**
   * Has an identity server say that an address is the user's, so that others find the user by it.
   *
   * @param validation A validation that the identity server has made.
   * @param options The identity server and its token, and request options.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3account3pidbind | POST /account/3pid/bind}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function beFound(client: Client, sid: string, secret: string, token: string): Promise<void> {
   *   const at = { idServer: "identity.example.org", idAccessToken: token };
   *   await client.bindThirdPartyId({ sid, client_secret: secret }, at);
   * }
   * ```
   */
  bindThirdPartyId(validation: ThirdPartyValidation, options: BindThirdPartyIDOptions): Promise<void>;

  /**
   * Has an identity server no longer say whose an address is. The account keeps it.
   *
   * @param address The address.
   * @param options The identity server, and request options.
   * @returns Whether the identity server has done so.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3account3pidunbind | POST /account/3pid/unbind}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function hide(client: Client, address: string): Promise<boolean> {
   *   return await client.unbindThirdPartyId({ medium: "email", address }) === "success";
   * }
   * ```
   */
  unbindThirdPartyId(address: ThirdPartyAddress, options?: UnbindThirdPartyIDOptions): Promise<UnbindResult>;

  /**
   * Removes an address from the account.
   *
   * @param address The address.
   * @param options The identity server, and request options.
   * @returns Whether the identity server no longer says whose it is.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3account3piddelete | POST /account/3pid/delete}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function removeAll(client: Client): Promise<void> {
   *   for (const each of await client.getThirdPartyIds()) await client.removeThirdPartyId(each);
   * }
   * ```
   */
  removeThirdPartyId(address: ThirdPartyAddress, options?: UnbindThirdPartyIDOptions): Promise<UnbindResult>;

  /**
   * Returns whether a user is locked out: the account can't be used until it is unlocked.
   *
   * @param userId The user, of this homeserver.
   * @param options Request options.
   * @throws {ForbiddenError} If the caller is no administrator.
   * @throws {NotFoundError} If there is no such user.
   * @throws {UnsupportedFeatureError} If the homeserver can't say.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1adminlockuserid | GET /admin/lock/{userId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function unlock(client: Client, userId: UserID): Promise<void> {
   *   if (await client.isUserLocked(userId)) await client.setUserLocked(userId, false);
   * }
   * ```
   */
  isUserLocked(userId: UserID, options?: RequestOptions): Promise<boolean>;

  /**
   * Locks a user out, or lets the user in again.
   *
   * @param userId The user, of this homeserver.
   * @param locked Whether the user is locked out from now on.
   * @param options Request options.
   * @throws {ForbiddenError} If the caller is no administrator, or the user is one.
   * @throws {NotFoundError} If there is no such user.
   * @throws {UnsupportedFeatureError} If the homeserver can't do it.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv1adminlockuserid | PUT /admin/lock/{userId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function lockOut(client: Client, spammer: UserID): Promise<void> {
   *   await client.setUserLocked(spammer, true);
   * }
   * ```
   */
  setUserLocked(userId: UserID, locked: boolean, options?: RequestOptions): Promise<void>;

  /**
   * Returns whether a user is suspended: can read and leave, and nothing else.
   *
   * @param userId The user, of this homeserver.
   * @param options Request options.
   * @throws {ForbiddenError} If the caller is no administrator.
   * @throws {NotFoundError} If there is no such user.
   * @throws {UnsupportedFeatureError} If the homeserver can't say.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1adminsuspenduserid | GET /admin/suspend/{userId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function canWrite(client: Client, userId: UserID): Promise<boolean> {
   *   return !await client.isUserSuspended(userId);
   * }
   * ```
   */
  isUserSuspended(userId: UserID, options?: RequestOptions): Promise<boolean>;

  /**
   * Suspends a user, or ends that.
   *
   * @param userId The user, of this homeserver.
   * @param suspended Whether the user is suspended from now on.
   * @param options Request options.
   * @throws {ForbiddenError} If the caller is no administrator, or the user is one.
   * @throws {NotFoundError} If there is no such user.
   * @throws {UnsupportedFeatureError} If the homeserver can't do it.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv1adminsuspenduserid | PUT /admin/suspend/{userId}}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function silence(client: Client, spammer: UserID): Promise<void> {
   *   await client.setUserSuspended(spammer, true);
   * }
   * ```
   */
  setUserSuspended(userId: UserID, suspended: boolean, options?: RequestOptions): Promise<void>;

  /**
   * Gets the contacts of a homeserver's administrators, by its domain. What can't be a user ID, an email
   * address or the address of a page is left out: anybody can write there anything.
   *
   * @param options Which server, and request options.
   * @returns The contacts; undefined if the domain says nothing (404).
   * @throws {ServiceResponseError} If it answers with something else.
   * @throws {ValueError} If the server name can't be one.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#getwell-knownmatrixsupport | GET /.well-known/matrix/support}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function reportTo(client: Client, serverName: string): Promise<string | undefined> {
   *   const { contacts = [] } = await client.getSupport({ serverName }) ?? {};
   *   return contacts.find(({ role }) => role === "m.role.security")?.email_address;
   * }
   * ```
   */
  getSupport(options?: GetSupportOptions): Promise<ServerSupport | undefined>;

  /**
   * Asks a domain for the keys of its policy server, which a room needs to have it vet events.
   *
   * @param serverName The policy server.
   * @param options Request options.
   * @returns The keys; undefined if the domain has no policy server that says them (404).
   * @throws {ServiceResponseError} If it answers with something else.
   * @throws {ValueError} If the server name can't be one.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#getwell-knownmatrixpolicy_server | GET /.well-known/matrix/policy_server}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function vet(client: Client, roomId: RoomID, via: string): Promise<boolean> {
   *   const server = await client.getPolicyServer(via);
   *   if (server === undefined) return false;
   *   await client.sendStateEvent(roomId, "m.room.policy", { via, public_keys: server.public_keys });
   *   return true; // it counts while a user of that server is in the room
   * }
   * ```
   */
  getPolicyServer(serverName: string, options?: RequestOptions): Promise<PolicyServerInfo | undefined>;

  /**
   * Sends a message with any content.
   *
   * @param roomId The room.
   * @param content The content: text, media, a location or anything else with a `msgtype`.
   * @param options Transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mroommessage | m.room.message}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.sendMessage(roomId, {
   *   msgtype: "m.location",
   *   body: "The stage door",
   *   geo_uri: "geo:51.5129,-0.1200",
   * });
   * ```
   */
  sendMessage(roomId: RoomID, content: RoomMessageContent, options?: SendOptions): Promise<EventID>;

  /**
   * Sends text, as {@linkcode SendHelpersAPI.sendText} does.
   *
   * @param roomId The room.
   * @param text The text.
   * @param options Formatting, kind, relation, transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.sendMessage(roomId, "The stage door is open");
   * ```
   */
  sendMessage(roomId: RoomID, text: string, options?: SendTypedTextOptions): Promise<EventID>;

  /**
   * Sends text.
   *
   * @param roomId The room.
   * @param text The plain text; `null` or undefined to make it from `html`.
   * @param options Formatting, kind, relation, transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ValueError} If there is neither text nor HTML.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mtext | m.text}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const eventId = await client.sendText(roomId, null, { html: "<b>Beginners</b>, please" });
   * const { content } = await client.getEvent(roomId, eventId);
   * console.assert(content.body === "Beginners, please");
   * await client.sendText(roomId, "On my way", { replyTo: eventId });
   * ```
   */
  sendText(roomId: RoomID, text: string | null | undefined, options?: SendTypedTextOptions): Promise<EventID>;

  /**
   * Replaces what a message of the user's says. Clients that know no edits show the new text
   * as a message, with a `* ` in front.
   *
   * @param roomId The room.
   * @param eventId The message; of one that was edited before, the first.
   * @param text The plain text that it says from now on; `null` or undefined to make it from `html`.
   * @param options Formatting, kind, transaction ID, encryption, and request options.
   * @returns The ID of the edit.
   * @throws {ValueError} If there is neither text nor HTML.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#event-replacements | Event replacements}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const eventId = await client.sendText(roomId, "Begginers, please");
   * await client.edit(roomId, eventId, "Beginners, please");
   * ```
   */
  edit(
    roomId: RoomID,
    eventId: EventID,
    text: string | null | undefined,
    options?: EditOptions,
  ): Promise<EventID>;

  /**
   * Sends text that other bots do not answer; the right kind for what a bot says.
   *
   * @param roomId The room.
   * @param text The plain text; `null` or undefined to make it from `html`.
   * @param options Formatting, relation, transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ValueError} If there is neither text nor HTML.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mnotice | m.notice}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function report(client: Client, roomId: RoomID): Promise<void> {
   *   await client.sendNotice(roomId, "The build is green");
   * }
   * ```
   */
  sendNotice(roomId: RoomID, text: string | null | undefined, options?: SendTextOptions): Promise<EventID>;

  /**
   * Sends an action of the user, as `/me` writes it.
   *
   * @param roomId The room.
   * @param text What the user does; `null` or undefined to make it from `html`.
   * @param options Formatting, relation, transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ValueError} If there is neither text nor HTML.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#memote | m.emote}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function bow(client: Client, roomId: RoomID): Promise<void> {
   *   await client.sendEmote(roomId, "takes a bow");
   * }
   * ```
   */
  sendEmote(roomId: RoomID, text: string | null | undefined, options?: SendTextOptions): Promise<EventID>;

  /**
   * Sends a sticker.
   *
   * @param roomId The room.
   * @param url The `mxc://` URL of the image.
   * @param info What is known of the image.
   * @param options What it shows, relation, transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ValueError} If `url` is no `mxc://` URI.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#msticker | m.sticker}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { ContentURI, RoomID } from "@greenroom/matrix/types";
   *
   * export async function applaud(client: Client, roomId: RoomID, url: ContentURI): Promise<void> {
   *   await client.sendSticker(roomId, url, { w: 256, h: 256 }, { text: "Applause" });
   * }
   * ```
   */
  sendSticker(
    roomId: RoomID,
    url: ContentURI,
    info: ImageInfo,
    options?: SendStickerOptions,
  ): Promise<EventID>;

  /**
   * Reacts to an event.
   *
   * @param roomId The room.
   * @param eventId The event.
   * @param key The reaction, mostly an emoji.
   * @param options Transaction ID and request options. Reactions are not encrypted by default.
   * @returns The ID of the reaction; redact it to take the reaction back.
   * @throws {DuplicateAnnotationError} If the user has reacted to the event with this key before.
   * @throws {ValueError} If `key` is empty.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mreaction | m.reaction}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const question = await client.sendText(roomId, "Ready?");
   * await client.react(roomId, question, "👍️");
   * ```
   */
  react(roomId: RoomID, eventId: EventID, key: string, options?: SendOptions): Promise<EventID>;

  /**
   * Sends a file: data, or what has been uploaded before.
   *
   * Data is uploaded as `uploadMedia()` does it. If the room is encrypted, it is encrypted first,
   * with a key that only the message contains; the server learns neither its media type nor its
   * name. So is the thumbnail, with a key of its own. Nothing is uploaded before all options were
   * checked, and a stream is used up also if sending fails later.
   *
   * @param roomId The room.
   * @param url The file: data, or where it is, as `uploadMedia()` returned it, or an encrypted
   *   file, as a message has it.
   * @param options What is known of the file, its name, kind and thumbnail, what it answers, transaction
   *   ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {EncryptionError} If the room is encrypted, and the client can't encrypt.
   * @throws {TooLargeError} If the server takes no content as large as this.
   * @throws {ValueError} If `url` is neither data nor an `mxc://` URI, or the data has another size
   *   than `info` says.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mfile | m.file}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * client.on("m.room.message", async ({ content }) => {
   *   if (content.msgtype !== "m.file") return;
   *   const place = content.file ?? content.url; // encrypted, or in clear
   *   if (place !== undefined) await client.downloadMedia(place);
   * });
   * const script = new File(["Enter a ghost"], "script.txt", { type: "text/plain" });
   * await client.sendFile(roomId, script);
   * ```
   */
  sendFile(
    roomId: RoomID,
    url: ContentURI | EncryptedFile | MediaData,
    options?: SendFileOptions,
  ): Promise<EventID>;

  /**
   * Sends an image: data, or what has been uploaded before. Data is treated as by `sendFile()`.
   *
   * @param roomId The room.
   * @param url The image: data, or where it is, as `uploadMedia()` returned it, or an encrypted
   *   file, as a message has it.
   * @param options What is known of the image, its name and thumbnail, what it answers, transaction ID,
   *   encryption, and request options.
   * @returns The ID of the event.
   * @throws {EncryptionError} If the room is encrypted, and the client can't encrypt.
   * @throws {TooLargeError} If the server takes no content as large as this.
   * @throws {ValueError} If `url` is neither data nor an `mxc://` URI, or the data has another size
   *   than `info` says.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mimage | m.image}
   * @example
   * ```ts ignore
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const [set, small] = [new Uint8Array(9_000), new Uint8Array(90)]; // as a camera gives them
   * await client.sendImage(roomId, set, {
   *   fileName: "set.png",
   *   info: { mimetype: "image/png", w: 1200, h: 900 },
   *   thumbnail: { data: small, info: { mimetype: "image/png", w: 120, h: 90 } },
   * });
   * ```
   */
  sendImage(
    roomId: RoomID,
    url: ContentURI | EncryptedFile | MediaData,
    options?: SendImageOptions,
  ): Promise<EventID>;

  /**
   * Encrypts an event for a room, creating and sharing a group session first if need be.
   *
   * @param roomId The room.
   * @param eventType The type of the event.
   * @param content Its content.
   * @returns The content of the `m.room.encrypted` event, to be sent with `sendMessageEvent()`. It
   *   differs each time, so that in a handler the send should have a `key`.
   * @throws {EncryptionError} If the client has no encryption, or it can't be done.
   *   Redactions are never encrypted, nor what is encrypted already.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function sendSecret(client: Client, roomId: RoomID, body: string): Promise<void> {
   *   const content = await client.encrypt(roomId, "m.room.message", { msgtype: "m.text", body });
   *   await client.sendMessageEvent(roomId, "m.room.encrypted", content);
   * }
   * ```
   */
  encrypt(roomId: RoomID, eventType: string, content: object): Promise<RoomEncryptedContent>;

  /**
   * Creates a group session for a room and shares it with its members' devices, so that the first
   * message need not wait.
   *
   * @param roomId The room.
   * @returns Which devices have the key, and which do not get it and why.
   * @throws {EncryptionError} If the client has no encryption, or it can't be done.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function prepare(client: Client, roomId: RoomID): Promise<void> {
   *   if (await client.isRoomEncrypted(roomId)) await client.shareGroupSession(roomId);
   * }
   * ```
   */
  shareGroupSession(roomId: RoomID): Promise<ShareReport>;

  /**
   * Returns whether a room is encrypted: once a room was seen encrypted it counts as encrypted, even if the
   * server says otherwise later. The client asks the server if it does not know, unless syncs would
   * have shown it.
   *
   * @param roomId The room.
   * @param options Request options, for what has to be looked up.
   * @throws {MatrixError} If the server has to be asked, and can't say.
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function sendOnlyEncrypted(client: Client, roomId: RoomID, text: string): Promise<void> {
   *   if (await client.isRoomEncrypted(roomId)) await client.sendText(roomId, text);
   * }
   * ```
   */
  isRoomEncrypted(roomId: RoomID, options?: RequestOptions): Promise<boolean>;

  /**
   * Has the homeserver wake the bot at an address where {@linkcode WakeAPI.fetch} answers: sets an
   * HTTP pusher of the account, renews one that has changed, removes those of former secrets, and
   * sets the push rule. Call it when the bot is deployed, and from time to time: it is one or two
   * requests if everything is as it should be.
   *
   * The homeserver does not wake the bot for these; the next pass handles them, by another wake or
   * by cron: messages to the device (room keys that come late too), typing,
   * receipts, presence, account data, what the own user does with another device, and what Synapse
   * deletes with the events of a forgotten room.
   *
   * @param url The address, https; http only on this machine. A homeserver accepts no other path
   *   than `/_matrix/push/v1/notify`, which is added to an address without one; a query is kept.
   * @param options What wakes the bot.
   * @returns What was done.
   * @throws {ValueError} If the client has no `wake.secret`, or the address can't be used.
   * @see {@link https://spec.matrix.org/v1.19/push-gateway-api/ | Push gateway API}
   * @example
   * ```ts ignore
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function deployed(client: Client): Promise<void> {
   *   await client.registerWake("https://stage-bot.example.org");
   * }
   * ```
   */
  registerWake(url: string | URL, options?: RegisterWakeOptions): Promise<WakeRegistration>;

  /**
   * The queue of a room: what is added to it leaves in that order,
   * without being awaited, one after the other.
   *
   * A send is in the `store` before it leaves, with its transaction ID. So it is sent once, though the
   * process ends at any moment: the next one goes on when it has handled the first sync of a start, begins a
   * pass (`syncOnce()`), or has this called for the room. While the server is away or busy, the queue waits,
   * and tries again after up to a minute. A send that the server refuses for good, or itself fails at 30
   * times, is taken out and logged, and those behind it go on. Homeservers forget transaction IDs after a
   * day or so: a send whose answer was lost may come twice if the next process begins later than that.
   *
   * A room's queue holds 1,000 sends. Without a `store` they end with the client.
   * In a handler, a send that is added again after a crash is the same.
   *
   * @param roomId The room.
   * @param options What is called with the progress of the queue.
   * @throws {ValueError} If the room's ID can't be one.
   * @example
   * ```ts ignore
   * import { Client, MemoryStore } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * const { baseUrl, fetch } = homeserver;
   * const store = new MemoryStore(); // or one that outlives the process
   * await using bot = new Client({ baseUrl, fetch, accessToken, store });
   * const queue = bot.queue(await bot.createRoom());
   * queue.sendText("One");
   * const two = queue.sendText("Two");
   * console.assert((await two.sent).startsWith("$"));
   * ```
   */
  queue(roomId: RoomID, options?: QueueOptions): SendQueue;

  /**
   * Does work with the guarantees of a handler: what it sends has transaction IDs made of its name,
   * so that the server stores it once, however often the work is done; and what it changes with
   * `ctx.updateSession()` is committed together, when it has ended; from then on that throws. So work that a
   * session plans for a time is done once, even through crashes.
   *
   * @param name A name that this work alone has, the same each time. 1 to 200 characters.
   * @param work What to do.
   * @returns What the work returned, when its changes are committed.
   * @throws {ValueError} If the name is empty or too long; what the work throws.
   *
   * @example
   * ```ts ignore
   * import { Client, defineSession } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await bot.createRoom();
   * const reminders = defineSession({ name: "reminders", per: () => undefined, initial: () => ({ text: "" }) });
   * await bot.sessions.update(reminders, "1", (reminder) => void (reminder.text = "Tea!"));
   *
   * for await (const { key, state } of bot.sessions.list(reminders)) {
   *   await bot.runTask(`reminder ${key}`, async (ctx) => {
   *     await bot.sendText(roomId, state.text);
   *     ctx.updateSession(reminders, key, () => null);
   *   });
   * }
   * ```
   */
  runTask<Result>(
    name: string,
    work: (context: HandlerContext) => Result | Promise<Result>,
  ): Promise<Result>;
}
