/**
 * What the parts of one application service share: the clients that act as its users, made when they act and
 * only so many at a time; and the end of the delivery when the token is dead, which no sync shows.
 *
 * Over 300 lines because the clients that act are what its parts share most.
 *
 * @module
 */

import type { SyncFeed } from "../actors/syncer/syncer.ts";
import { HTTPAPI, IS_TOKEN_DEAD, PREPARE, SKEW, TOKEN_DIED } from "../api/http/mod.ts";
import type { HTTPAPIOptions, Prepare } from "../api/http/mod.ts";
import type { Clock } from "../base/clock.ts";
import { currentHandler } from "../base/handler_call.ts";
import { type Logger, loggerOf } from "../base/log.ts";
import { RecentMap } from "../base/recent_map.ts";
import { Client, type ClientOptions, FEED, STATE_STORE } from "../client/mod.ts";
import { UnknownDeviceError, UnknownTokenError } from "../errors/account_errcodes.ts";
import { ClientEndedError, MatrixError } from "../errors/matrix_error.ts";
import { StoreError } from "../errors/store_error.ts";
import { MemoryStore, type Store } from "../store/base/mod.ts";
import type { DeviceID, UserID } from "../types/ids.ts";
import {
  type AppserviceOptions,
  deviceOf,
  type QueryHandlers,
  type ThirdPartyHandlers,
  transportOf,
} from "./appservice_options.ts";
import { DeviceFeed, type DeviceQueue, deviceQueue, type OwnDevice } from "./device_queue.ts";
import { ghostEncryption, Ghosts } from "./ghosts.ts";
import { Inbox } from "./inbox.ts";
import { OwnRooms, OwnUsers } from "./own_users.ts";
import type { Registration } from "./registration.ts";

const TIME_LIMIT = 20_000;
const MAX_ACTING = 256;
/** What acts without a device. */
const NO_DEVICE = "";

/** What the parts of one application service share. */
export class ServiceKit {
  /** The client of the own user; set before anything is delivered. */
  bot!: Client;
  readonly registration: Registration;
  readonly queries: QueryHandlers;
  readonly thirdParty: ThirdPartyHandlers;
  readonly users: OwnUsers;
  readonly rooms: OwnRooms;
  readonly ghosts: Ghosts;
  readonly inbox: Inbox;
  readonly token: TokenWatch;
  /** How all requests are made. */
  readonly transport: HTTPAPIOptions;
  /** The way to the homeserver, as the application service itself. */
  readonly http: HTTPAPI;
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Store;
  readonly encryption: ClientOptions["encryption"];
  readonly lease: ClientOptions["lease"];
  readonly closeTimeout: ClientOptions["closeTimeout"];
  /** The device of each user; undefined: they do not encrypt. */
  readonly deviceId: DeviceID | undefined;
  /** The device of the own user. */
  readonly device: OwnDevice;
  /** What is sent to it; undefined: nothing is. */
  readonly queue: DeviceQueue | undefined;
  /** How many users act at a time. */
  readonly limit: number;
  /** The longest pass, in milliseconds. */
  readonly transactionTimeout: number;

  /**
   * @param options Of the application service.
   * @throws {ValueError} If one can't be used.
   */
  constructor(options: AppserviceOptions) {
    const { registration, serverName, store = new MemoryStore(), queries = {}, thirdParty = {} } = options;
    [this.registration, this.store, this.queries, this.thirdParty] = [
      registration,
      store,
      queries,
      thirdParty,
    ];
    const { encryption, lease, closeTimeout, maxActing = MAX_ACTING, transactionTimeout = TIME_LIMIT } =
      options;
    [this.encryption, this.lease, this.closeTimeout] = [encryption, lease, closeTimeout];
    [this.limit, this.transactionTimeout] = [maxActing, transactionTimeout];
    this.users = new OwnUsers(registration, serverName);
    this.deviceId = deviceOf(options, this.users);
    this.transport = transportOf(options);
    this.http = new HTTPAPI(this.transport);
    this.clock = this.http.clock;
    this.log = loggerOf(options.log, this.clock, "appservice");
    this.ghosts = new Ghosts(this.http, this.users, this.deviceId);
    this.token = new TokenWatch(this.http);
    this.token.own = this.#ownHttp();
    this.queue = this.deviceId === undefined ? undefined : deviceQueue(this.token.own);
    const { bot: userId } = this.users;
    this.device = { userId, deviceId: this.deviceId ?? NO_DEVICE };
    this.inbox = new Inbox(store, { id: registration.id, userId, clock: this.clock });
    this.rooms = new OwnRooms(this.users, this.log);
  }

  /** The way to the homeserver as the own user. */
  #ownHttp(): HTTPAPI {
    const { bot, sender } = this.users;
    // Synapse fails if the device is named, and its user is not.
    const isNamed = this.deviceId !== undefined || bot !== sender;
    return new HTTPAPI({
      ...this.transport,
      ...(isNamed && { asUserId: bot, asDeviceId: this.deviceId }),
      [PREPARE]: this.token.noticing(this.ghosts.prepare(bot)),
      [TOKEN_DIED]: () => this.token.isOwnDead = true,
    });
  }
}

/** Says whose token it is. */
const WHOAMI = "/_matrix/client/v3/account/whoami";
const REFUSED =
  "Cannot go on: the homeserver did not know the token for a while; make a new application service";

/** Watches the token of an application service, which all of its users have. */
export class TokenWatch {
  /** What it ends; set before anything is delivered. */
  feed!: Pick<SyncFeed, "fails">;
  /** The way to the homeserver as the own user; set before anything is delivered. */
  own!: HTTPAPI;
  /** Whether the own user was refused; its token may have been replaced since. */
  isOwnDead = false;
  readonly #http: HTTPAPI;

  /** @param http The way to the homeserver, as the application service itself. */
  constructor(http: HTTPAPI) {
    this.#http = http;
  }

  /** What comes before a request of the own user, whose client does not see that the token is dead there. */
  noticing(prepare: Prepare): Prepare {
    return async (...request) => {
      try {
        await prepare(...request);
      } catch (error) {
        if (error instanceof UnknownTokenError) await this.check();
        throw error;
      }
    };
  }

  /** Ends the delivery if the token is dead: what users were to do in handlers comes again. */
  async check(): Promise<void> {
    try {
      await this.#http.request("GET", WHOAMI);
    } catch (error) {
      if (error instanceof UnknownTokenError) this.feed.fails?.(error);
    }
  }

  /** Ends the delivery if the token is still the one that was refused: handlers may have been cut off. */
  async checkOwn(): Promise<void> {
    if (!this.own[IS_TOKEN_DEAD]) return;
    await this.own.request("GET", WHOAMI); // says so, in most cases
    this.feed.fails?.(new ClientEndedError(REFUSED));
  }
}

/** What acting clients are made of. */
interface ActingClientsOptions
  extends Pick<ClientOptions, "store" | "lease" | "closeTimeout" | "encryption"> {
  /** The transport of all. */
  readonly transport: HTTPAPIOptions;
  /** The client of the own user. */
  readonly bot: Client;
  /** The device that each user has; undefined: none. */
  readonly deviceId: DeviceID | undefined;
  /** Registers users. */
  readonly ghosts: Pick<Ghosts, "prepare" | "forget">;
  /** Looks whether the token is dead, which a user who acts in a handler waits for. */
  readonly token: Pick<TokenWatch, "check">;
  /** How many there are at a time. */
  readonly limit: number;
  /** Logs what could not be read. */
  readonly log: Logger;
}

/** A client that acts. */
interface Acting {
  readonly client: Client;
  /** How many of its operations have not ended. */
  busy: number;
  /** How its store has failed last, if no operation has succeeded since. */
  storeError?: StoreError;
}

/** How many users may wait until what they were sent is read. */
const MAX_TO_READ = 10_000;
/** How long that may take, in milliseconds. */
const READING = 20_000;

/** Clients that act as users. */
export class ActingClients {
  readonly #options: ActingClientsOptions;
  readonly #feed: Pick<SyncFeed, "fails">;
  readonly #clients = new RecentMap<UserID, Acting>();
  /** Those that have to go, and are still at work. */
  readonly #leaving = new Map<UserID, Acting>();
  /** Those whose device is gone: nobody acts with them any more, but they are still at work. */
  readonly #lostClients = new Set<Acting>();
  /** Clients that are being closed: another of the same user waits for its device. */
  readonly #closing = new Set<Promise<void>>();
  /** Whose devices were sent something. */
  readonly #toRead = new Set<UserID>();
  #reading: Promise<void> | undefined;
  readonly #ending = new AbortController();

  /**
   * @param options What they are made of.
   * @param feed Receives why the store has failed for a user who acts in a handler.
   */
  constructor(options: ActingClientsOptions, feed: Pick<SyncFeed, "fails">) {
    this.#options = options;
    this.#feed = feed;
  }

  /**
   * Has the client of a user do something.
   *
   * @param call What; the client is kept until what it returns has settled.
   * @returns What it returned.
   */
  run<Result>(userId: UserID, call: (client: Client) => Result): Result {
    const { bot, deviceId } = this.#options;
    if (userId === bot.mxid) return call(bot);
    // What it was sent while nobody read, and the transactions did not tell of.
    if (deviceId !== undefined && this.#clients.get(userId) === undefined) this.read(userId);
    return this.#run(userId, call);
  }

  #run<Result>(userId: UserID, call: (client: Client) => Result): Result {
    const acting = this.#of(userId);
    const result = call(acting.client);
    if (result instanceof Promise) {
      acting.busy++;
      const isHandling = currentHandler() !== undefined;
      const ended = (): void => this.#ended(userId, acting);
      const succeeded = (): void => {
        acting.storeError = undefined;
        ended();
      };
      result.then(succeeded, (error) => {
        if (isDeviceLost(error)) this.#lost(userId, acting);
        const storeError = causeOf(error, StoreError);
        acting.storeError = storeError ?? acting.storeError;
        // The store may have failed under something else, which ended this one.
        const cause = storeError ??
          (isStopped(error) ? acting.storeError ?? stopped(userId, error) : undefined);
        if (isHandling && cause !== undefined) this.#feed.fails?.(cause); // before the handler fails by it
        ended();
      });
      if (isHandling) return result.catch((error) => this.#refused(error)) as Result;
    }
    return result;
  }

  /** Tells whether the token is dead before the handler fails by that. */
  async #refused(error: unknown): Promise<never> {
    if (causeOf(error, UnknownTokenError) !== undefined) await this.#options.token.check();
    throw error;
  }

  /**
   * Reads what was sent to the device of a user, soon. If that fails, the homeserver keeps it until
   * the next time.
   */
  read(userId: UserID): void {
    if (this.#toRead.has(userId) || this.#toRead.size >= MAX_TO_READ) return;
    this.#toRead.add(userId);
    this.#reading ??= this.#readAll().finally(() => this.#reading = undefined);
  }

  /** Resolves when what has been to be read has been read, or could not be. */
  get idle(): Promise<void> {
    return this.#reading ?? Promise.resolve();
  }

  /** Closes all. */
  async close(): Promise<void> {
    this.#toRead.clear();
    this.#ending.abort();
    await this.#reading;
    for (const { client } of [...this.#leaving.values(), ...this.#lostClients]) this.#close(client);
    this.#leaving.clear();
    this.#lostClients.clear();
    for (let oldest; (oldest = this.#clients.removeOldest()) !== undefined;) this.#close(oldest.client);
    await Promise.all(this.#closing);
  }

  async #readAll(): Promise<void> {
    const { signal } = this.#ending;
    for (const userId of this.#toRead) {
      this.#toRead.delete(userId); // what is sent from now on is read once more
      try {
        await this.#run(userId, (client) => client.syncOnce({ passTimeout: READING, signal }));
      } catch (error) {
        if (signal.aborted) return;
        this.#options.log.warn("Messages to a user's device could not be read, and are kept", {
          userId,
          error: String(error),
        });
      }
    }
  }

  #of(userId: UserID): Acting {
    const known = this.#clients.get(userId);
    if (known !== undefined) return known;
    const acting = this.#leaving.get(userId) ?? { client: this.#make(userId), busy: 0 };
    this.#leaving.delete(userId);
    this.#clients.set(userId, acting);
    while (this.#clients.size > this.#options.limit) {
      const oldest = this.#clients.removeOldest();
      if (oldest === undefined) break;
      if (oldest.busy > 0) this.#leaving.set(oldest.client.mxid as UserID, oldest); // it was made with one
      else this.#close(oldest.client);
    }
    return acting;
  }

  #ended(userId: UserID, acting: Acting): void {
    acting.busy--;
    if (acting.busy > 0) return;
    const isLeaving = this.#leaving.get(userId) === acting && this.#leaving.delete(userId);
    if (isLeaving || this.#lostClients.delete(acting)) this.#close(acting.client);
  }

  /** Lets a client go whose device is gone: the next one makes a device, and uploads its keys again. */
  #lost(userId: UserID, acting: Acting): void {
    const isKept = this.#clients.get(userId) === acting;
    if (!isKept && this.#leaving.get(userId) !== acting) return;
    this.#options.ghosts.forget(userId);
    if (isKept) this.#clients.remove(userId);
    else this.#leaving.delete(userId);
    this.#lostClients.add(acting);
  }

  #make(userId: UserID): Client {
    const { transport, bot: { stateStore }, deviceId, ghosts, store, encryption } = this.#options;
    const { lease, closeTimeout } = this.#options;
    const http = { ...transport, asUserId: userId, asDeviceId: deviceId, [PREPARE]: ghosts.prepare(userId) };
    const api = new HTTPAPI(http);
    api[SKEW] = 0; // of a wrong clock the own user's client tells
    const { log } = transport;
    const common = { api, mxid: userId, deviceId: deviceId ?? "", [STATE_STORE]: stateStore, log };
    if (deviceId === undefined) return new Client(common);
    const feed = new DeviceFeed(deviceQueue(api));
    const client = new Client({
      ...common,
      store,
      ...{ lease, closeTimeout },
      encryption: ghostEncryption(encryption, userId),
      [FEED]: feed,
    });
    void client.fetch; // it does not sync, and keeps its device no longer than it takes to send
    return client;
  }

  /** Without encryption there is nothing to close. */
  #close(client: Client): void {
    if (client.crypto === undefined) return;
    const closed = client.close().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}

/** Returns whether a request has failed since the homeserver has deleted the device that it was made with. */
export function isDeviceLost(error: unknown): boolean {
  return causeOf(error, UnknownDeviceError) !== undefined;
}

/** Returns whether something was asked of a client that has ended. */
function isStopped(error: unknown): boolean {
  if (error instanceof MatrixError && error.code === "ACTOR_STOPPED") return true;
  return error instanceof Error && isStopped(error.cause);
}

/** Why what a user did has ended, if that is not known: nothing but its store ends a client at work. */
function stopped(userId: UserID, cause: unknown): StoreError {
  return new StoreError(`Cannot go on: the client of ${userId} has ended under what it did`, { cause });
}

/** The error of a class that an error comes from, if it comes from one. */
function causeOf<Kind extends Error>(
  error: unknown,
  kind: abstract new (...args: never[]) => Kind,
): Kind | undefined {
  if (error instanceof kind) return error;
  return error instanceof Error ? causeOf(error.cause, kind) : undefined;
}
