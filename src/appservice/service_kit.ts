/**
 * What the parts of one application service share; and what sees to it that a token that is dead ends the delivery,
 * though no sync shows it.
 *
 * @module
 */

import type { SyncFeed } from "../actors/syncer/syncer.ts";
import { HTTPAPI, type HTTPAPIOptions, IS_TOKEN_DEAD, PREPARE, type Prepare } from "../api/http/mod.ts";
import type { Clock } from "../base/clock.ts";
import { type Logger, loggerOf } from "../base/log.ts";
import type { Client, ClientOptions } from "../client/mod.ts";
import { UnknownTokenError } from "../errors/account_errcodes.ts";
import { ClientEndedError } from "../errors/matrix_error.ts";
import { MemoryStore, type Store } from "../store/base/mod.ts";
import type { DeviceID } from "../types/ids.ts";
import {
  type AppserviceOptions,
  deviceOf,
  type QueryHandlers,
  type ThirdPartyHandlers,
  transportOf,
} from "./appservice_options.ts";
import { type DeviceQueue, deviceQueue, type OwnDevice } from "./device_queue.ts";
import { Ghosts } from "./ghosts.ts";
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
  readonly #http: HTTPAPI;

  /** @param http The way to the homeserver, as the application service itself. */
  constructor(http: HTTPAPI) {
    this.#http = http;
  }

  /** What has to be done before a request of the own user, whose client does not see that the token is dead there. */
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

  /** Ends the delivery if the own user was refused: handlers may have been cut off. */
  async checkOwn(): Promise<void> {
    if (!this.own[IS_TOKEN_DEAD]) return;
    await this.own.request("GET", WHOAMI); // says so, in most cases
    this.feed.fails?.(new ClientEndedError(REFUSED));
  }
}
