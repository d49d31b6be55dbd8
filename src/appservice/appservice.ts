/**
 * An application service: what its homeserver tells it, in handlers, and all of its users.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { Client, FEED, type HandlersAPI, STATE_STORE } from "../client/client.ts";
import {
  HTTPAPI,
  type HTTPAPIOptions,
  IS_TOKEN_DEAD,
  isPassing,
  PREPARE,
  type Prepare,
} from "../api/http/mod.ts";
import type { StartOptions, SyncPass } from "../actors/syncer/syncer.ts";
import { RecentMap } from "../base/recent_map.ts";
import { type Logger, loggerOf } from "../base/log.ts";
import { Refusal } from "../base/refusal.ts";
import { ValueError } from "../errors/value_error.ts";
import { ClientEndedError } from "../errors/client_ended_error.ts";
import { UnknownTokenError } from "../errors/account_errcodes.ts";
import { NetworkError } from "../errors/network_error.ts";
import { MatrixRequestError } from "../errors/request_error.ts";
import { MemoryStore } from "../store/base/mod.ts";
import { parseUserId } from "../types/identifiers.ts";
import { Membership } from "../types/enums.ts";
import type { UserID } from "../types/ids.ts";
import { ActingClients, isDeviceLost } from "./acting_clients.ts";
import {
  type AppserviceOptions,
  type AppserviceStartOptions,
  checkAppserviceOptions,
  checkStartOptions,
} from "./appservice_options.ts";
import { Ghosts } from "./ghosts.ts";
import { HomeserverDoor } from "./homeserver_door.ts";
import { Inbox } from "./inbox.ts";
import { Intent } from "./intent.ts";
import { OwnUsers } from "./own_users.ts";
import { pingAppservice } from "./ping.ts";
import type { Registration } from "./registration.ts";
import { deviceQueue } from "./device_queue.ts";
import { TransactionFeed } from "./transaction_feed.ts";

const TIME_LIMIT = 20_000;
const MAX_ACTING = 256;
/** How many intents are remembered. */
const MAX_INTENTS = 100_000;

/**
 * An application service: the homeserver sends it what happens to its users and rooms, it acts as
 * any of them, and no client of them syncs.
 *
 * Its handlers get what a client's get, with the same guarantees: each event is kept before the
 * homeserver has its answer, and handled once, in the order of its room, also after a crash. What
 * the own users have sent reaches only handlers with `own: true`. An invitation of one of them is
 * an `INVITE`, whose `state_key` says whom.
 *
 * @example A room where a ghost repeats what is said
 * ```ts
 * import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * const registration = createRegistration({
 *   id: "echo",
 *   url: "http://localhost:9000",
 *   serverName: "localhost",
 * });
 * await using homeserver = new Homeserver();
 * await using appservice = new Appservice({
 *   registration,
 *   serverName: "localhost",
 *   baseUrl: homeserver.baseUrl,
 *   fetch: homeserver.fetch,
 * });
 * appservice.on("m.room.message", async ({ room_id, content }) => {
 *   await appservice.intent("_echo_parrot").sendText(room_id, content.body);
 * });
 * // Deno.serve({ port: 9000 }, appservice.fetch);
 * // await appservice.start();
 * ```
 */
export class Appservice {
  /**
   * The application service's own user, as a client, which delivers what the homeserver sends. Its
   * `stateStore` has the state of rooms as far as that was sent.
   */
  readonly bot: Client;
  /** Logs what goes on. */
  readonly log: Logger;
  /** Adds a handler: see {@linkcode HandlersAPI.on}. */
  readonly on: HandlersAPI["on"];
  /** Adds a handler: see {@linkcode HandlersAPI.addEventHandler}. */
  readonly addEventHandler: HandlersAPI["addEventHandler"];
  /** Removes a handler: see {@linkcode HandlersAPI.removeEventHandler}. */
  readonly removeEventHandler: HandlersAPI["removeEventHandler"];
  /** Private, as it has the tokens: what is printed of an application service, or written as JSON, has none. */
  readonly #registration: Registration;
  readonly #users: OwnUsers;
  readonly #transport: HTTPAPIOptions;
  /** The way to the homeserver, as the application service itself. */
  readonly #http: HTTPAPI;
  readonly #ghosts: Ghosts;
  readonly #feed: TransactionFeed;
  readonly #door: HomeserverDoor;
  readonly #timeLimit: number;
  readonly #clients: ActingClients;
  readonly #intents = new RecentMap<UserID, Intent>(MAX_INTENTS);
  /** Ends the starts until now. */
  #stopping = new AbortController();
  /** Ends what a start asks before it delivers. */
  readonly #closing = new AbortController();
  /** Whether the keys of the users' devices end with the process, which has not been said yet. */
  #keysAreLost: boolean;
  /** Whether the last start has ended by a failure, as of a process whose store is not the one it was. */
  #hasFailed = false;
  /** How many calls of `start()` have not ended. */
  #starts = 0;

  /**
   * Makes an application service; nothing is sent.
   *
   * @param options The registration and the homeserver, at the least.
   * @throws {ValueError} If an option can't be used.
   */
  constructor(options: AppserviceOptions) {
    checkAppserviceOptions(options);
    const { registration, baseUrl, serverName, store, queries = {}, thirdParty = {} } = options;
    const { encryption, lease, deliver, maxPendingHandlers, closeDeadline, log } = options;
    this.#registration = registration;
    this.#timeLimit = options.timeLimit ?? TIME_LIMIT;
    const { fetch, clock: given, retry, requestTimeout, maxResponseSize, userAgent } = options;
    this.#transport = {
      ...{ baseUrl, fetch, log, clock: given, retry, requestTimeout, maxResponseSize, userAgent },
      token: registration.as_token,
    };
    this.#http = new HTTPAPI(this.#transport);
    const { clock } = this.#http;
    this.log = loggerOf(log, clock, "appservice");
    const users = this.#users = new OwnUsers(registration, serverName);
    const isEncrypting = encryption !== undefined && encryption !== false;
    if (isEncrypting && users.bot === users.sender) {
      throw new ValueError(
        "Cannot encrypt: the own user must be another than the sender_localpart of the registration, " +
          "which can't read what was sent to its device; make the registration with encryption",
      );
    }
    const deviceId = isEncrypting ? options.deviceId ?? DEVICE : undefined;
    const ghosts = this.#ghosts = new Ghosts({ http: this.#http, users, deviceId });
    this.#keysAreLost = isEncrypting && store === undefined;
    const kept = store ?? new MemoryStore();
    const inbox = new Inbox(kept, { id: registration.id, userId: users.bot, clock });
    const api = new HTTPAPI({
      ...this.#transport,
      // Synapse fails if the device is named, and its user is not.
      ...((isEncrypting || users.bot !== users.sender) && { asUserId: users.bot, asDeviceId: deviceId }),
      [PREPARE]: this.#noticing(ghosts.prepare(users.bot)),
    });
    this.#feed = new TransactionFeed({
      inbox,
      users,
      store: kept,
      device: { userId: users.bot, deviceId: deviceId ?? NO_DEVICE },
      queue: isEncrypting ? deviceQueue(api) : undefined,
      onTransaction: (transaction) => ghosts.note(transaction),
      onOthers: () => ghosts.forgetRooms(),
      hasOwnMember: async (roomId) => {
        const members = await this.bot.stateStore.getMembers(roomId);
        return members.keys().some((userId) => users.isOwn(userId));
      },
      isThere: async (roomId) =>
        (await this.bot.stateStore.getMember(roomId, users.bot))?.membership === Membership.JOIN,
      joinedRooms: () => this.bot.getJoinedRooms(),
      checkToken: () => this.#checkOwnToken(api),
      onDevice: (userId) => users.isOwn(userId) && this.#clients.read(userId as UserID),
      clock,
      log: this.log,
    });
    this.bot = new Client({
      api,
      mxid: users.bot,
      deviceId: deviceId ?? NO_DEVICE,
      store: kept,
      encryption,
      [FEED]: this.#feed,
      ...{ lease, deliver, maxPendingHandlers, closeDeadline, log },
    });
    this.#clients = new ActingClients({
      ...{ transport: this.#transport, bot: this.bot, store: kept, lease, closeDeadline, deviceId },
      encryption,
      prepare: (userId) => ghosts.prepare(userId),
      onDeviceLost: (userId) => ghosts.forget(userId),
      onStoreLost: (error) => this.#feed.fails?.(error),
      onTokenRefused: () => this.#checkToken(),
      limit: options.maxActing ?? MAX_ACTING,
      log: this.log,
    });
    this.on = this.bot.on;
    this.addEventHandler = this.bot.addEventHandler;
    this.removeEventHandler = this.bot.removeEventHandler;
    this.#door = new HomeserverDoor({
      hsToken: registration.hs_token,
      inbox,
      onTransaction: () => this.#handle(),
      hasFailed: () => this.#hasFailed,
      isActable: (userId) => users.isOwn(userId),
      makeUser: (userId, profile) => this.intent(userId).ensureProfile(profile),
      queries,
      thirdParty,
      clock,
      log: this.log,
    });
  }

  /** What the homeserver has, too: keep its tokens secret. */
  get registration(): Registration {
    return this.#registration;
  }

  /** The application service's own user. */
  get userId(): UserID {
    return this.#users.bot;
  }

  /** Resolves when it has been closed; rejects when it can't go on: see {@linkcode Client.done}. */
  get done(): Promise<void> {
    return this.bot.done;
  }

  /**
   * Answers HTTP requests: give it to `Deno.serve()`, or whatever serves functions from a request to
   * a response, below any path. It needs no `this`, and never rejects.
   *
   * It answers the application-service API: transactions, users, aliases, networks, and the pings
   * of {@linkcode Appservice.ping}; and `health` as {@linkcode Client.fetch} does.
   * Whoever has not got the homeserver's token is refused.
   *
   * While the application service is started, a transaction is answered when it is durable.
   * Otherwise, as where no process stays, it is answered when it has been handled as well, or after
   * `timeLimit`: what is left comes with the next, or with {@linkcode Appservice.handlePending}.
   */
  readonly fetch = async (request: Request): Promise<Response> => {
    try {
      return await this.#door.answer(request) ?? await this.bot.fetch(request);
    } catch (error) {
      if (error instanceof Refusal) return error.response;
      this.log.error("A request could not be answered", { error: String(error) });
      return new Refusal(500, "M_UNKNOWN", "The request could not be answered").response;
    }
  };

  /**
   * Delivers what the homeserver sends to handlers, until {@linkcode Appservice.stop} is called.
   * Serve {@linkcode Appservice.fetch} before, where the registration says.
   *
   * @param options How.
   * @returns Resolves when it has been stopped.
   * @throws {AppservicePingError} If the homeserver does not get through, or has another
   *   registration. That it can't be reached now, or a proxy says so, is only logged.
   */
  async start(given: AppserviceStartOptions = {}): Promise<void> {
    checkStartOptions(given);
    const { ping = true, ...options } = given;
    const { signal: stopped } = this.#stopping;
    const { signal: closed } = this.#closing;
    const signal = options.signal === undefined ? stopped : AbortSignal.any([options.signal, stopped]);
    this.#starts++;
    if (this.#keysAreLost) {
      this.#keysAreLost = false; // it is said once
      this.log.warn(
        "The keys of all devices are lost when the process ends: the next start ends in a DeviceConflictError; " +
          "give the application service a store that lasts",
      );
    }
    try {
      if (ping && !closed.aborted) await this.#firstPing(AbortSignal.any([signal, closed]));
      await this.#deliver({ ...options, signal });
    } catch (error) {
      if (closed.aborted && error === closed.reason) return;
      if (!signal.aborted || error !== signal.reason) throw error;
    } finally {
      this.#starts--;
    }
  }

  /** Stops delivering: see {@linkcode Client.stop}. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopping = new AbortController();
    await this.bot.stop();
  }

  /**
   * Handles what is left, where no process stays: call it from time to time, as by `Deno.cron()`.
   *
   * @returns Whether nothing is left.
   */
  async handlePending(): Promise<boolean> {
    const { clock } = this.#http;
    const end = clock.now() + this.#timeLimit;
    for (let left = this.#timeLimit; left > 0; left = end - clock.now()) {
      const pass = await this.#pass(left);
      if (pass.left !== undefined) return false;
      if (this.#feed.isDrained) {
        await this.#feed.removeHandled();
        await this.#clients.idle;
        return true;
      }
    }
    return false;
  }

  /**
   * Has the homeserver ping {@linkcode Appservice.fetch}.
   *
   * @returns How long that took, in milliseconds; undefined if the homeserver has no such request.
   * @throws {AppservicePingError} If it does not get through, or has another registration.
   */
  async ping(): Promise<number | undefined> {
    return await this.#ping();
  }

  /**
   * One of the users of the application service.
   *
   * @param user The user ID, or what stands before its colon.
   * @returns The user: with all operations of a client.
   * @throws {ValueError} If the namespaces of the registration do not have it.
   */
  intent(user: string): Intent {
    const userId = this.#users.actable(user);
    const known = this.#intents.get(userId);
    if (known !== undefined) return known;
    const intent = new Intent(userId, {
      run: (id, call) => this.#clients.run(id, call),
      register: (id) => this.#ghosts.register(id),
      join: (id, roomId) => this.#ghosts.join(id, roomId),
    });
    this.#intents.set(userId, intent);
    return intent;
  }

  /**
   * Somebody's own account, by a token of theirs: what they say on the network that is bridged to
   * appears as their own. What it sends comes back to handlers, since it is not of an own user. It does
   * not encrypt: in an encrypted room it is refused.
   *
   * @param userId The user.
   * @param token An access token of the user's: keep it secret.
   * @returns A client that acts as the user, and does not sync.
   */
  puppet(userId: UserID, token: string): Client {
    parseUserId(userId);
    const { stateStore } = this.bot;
    const { log } = this.#transport;
    return new Client({
      api: new HTTPAPI({ ...this.#transport, token }),
      mxid: userId,
      [STATE_STORE]: stateStore,
      log,
    });
  }

  /** Closes the application service: see {@linkcode Client.close}. */
  async close(): Promise<void> {
    this.#closing.abort();
    try {
      await this.bot.close(); // handlers that are at work act as users
    } finally {
      await this.#clients.close();
      await this.#feed.idle();
    }
  }

  /** The same as {@linkcode Appservice.close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Handles a transaction that is durable, if nothing else does. */
  async #handle(): Promise<void> {
    if (this.#starts > 0) return;
    try {
      await this.handlePending();
    } catch (error) {
      this.log.warn("A transaction is kept, and could not be handled yet", { error: String(error) });
    }
  }

  async #deliver(options: StartOptions): Promise<void> {
    this.#hasFailed = false;
    try {
      await this.bot.start(options);
    } catch (error) {
      this.#hasFailed = options.signal?.aborted !== true;
      throw error;
    }
  }

  /** Makes a pass, and if the own device is gone, another that makes it anew. */
  async #pass(deadline: number): Promise<SyncPass> {
    try {
      return await this.bot.syncOnce({ deadline });
    } catch (error) {
      if (!isDeviceLost(error)) throw error;
      this.#ghosts.forget(this.#users.bot);
      return await this.bot.syncOnce({ deadline });
    }
  }

  /** What has to be done before a request of the own user, whose client does not see that the token is dead there. */
  #noticing(prepare: Prepare): Prepare {
    return async (...request) => {
      try {
        await prepare(...request);
      } catch (error) {
        if (error instanceof UnknownTokenError) await this.#checkToken();
        throw error;
      }
    };
  }

  /** Ends the delivery if the token is dead, which all users have: what they were to do in handlers comes again. */
  async #checkToken(): Promise<void> {
    try {
      await this.#http.request("GET", WHOAMI);
    } catch (error) {
      if (error instanceof UnknownTokenError) this.#feed.fails?.(error);
    }
  }

  /** Ends the delivery if the own user was refused, which no sync shows: handlers may have been cut off. */
  async #checkOwnToken(api: HTTPAPI): Promise<void> {
    if (!api[IS_TOKEN_DEAD]) return;
    await api.request("GET", WHOAMI); // says so, in most cases
    this.#feed.fails?.(new ClientEndedError(REFUSED));
  }

  async #ping(signal?: AbortSignal): Promise<number | undefined> {
    const hasPinged = (id: string): boolean => this.#door.hasPinged(id);
    return await pingAppservice(this.#http, { registration: this.registration, hasPinged, signal });
  }

  async #firstPing(signal: AbortSignal): Promise<void> {
    try {
      await this.#ping(signal);
      await this.#ghosts.register(this.#users.bot, { signal });
    } catch (error) {
      const isAway = error instanceof NetworkError || error instanceof MatrixRequestError && isPassing(error);
      if (!isAway) throw error;
      this.log.warn("The homeserver can't be reached; it is waited for", { error: String(error) });
    }
  }
}

const REFUSED =
  "Cannot go on: the homeserver did not know the token for a while; make a new application service";
/** Says whose token it is. */
const WHOAMI = "/_matrix/client/v3/account/whoami";
/** What acts without a device. */
const NO_DEVICE = "";
/** The device of each user. */
const DEVICE = "GREENROOM";
