/**
 * An application service: what its homeserver tells it, in handlers, and all of its users.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { Client, FEED, type HandlersAPI, STATE_STORE } from "../client/client.ts";
import { untilSignal } from "../base/until_signal.ts";
import { HTTPAPI, isPassing } from "../api/http/mod.ts";
import type { Logger } from "../base/log.ts";
import { Refusal } from "../base/bounded_body.ts";
import { NetworkError } from "../errors/network_error.ts";
import { MatrixRequestError } from "../errors/request_error.ts";
import { parseUserId } from "../types/identifiers.ts";
import type { UserID } from "../types/ids.ts";
import { ActingClients } from "./acting_clients.ts";
import {
  type AppserviceOptions,
  type AppserviceStartOptions,
  checkAppserviceOptions,
  checkStartOptions,
} from "./appservice_options.ts";
import { Delivery } from "./delivery.ts";
import { HomeserverDoor } from "./homeserver_door.ts";
import { type Intent, Intents } from "./intent.ts";
import { pingAppservice } from "./ping.ts";
import type { Registration } from "./registration.ts";
import { ServiceKit } from "./service_kit.ts";
import { TransactionFeed } from "./transaction_feed.ts";

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
  readonly botClient: Client;
  /** Logs what goes on. */
  readonly log: Logger;
  /** Adds a handler: see {@linkcode HandlersAPI.on}. */
  readonly on: HandlersAPI["on"];
  /** Adds a handler: see {@linkcode HandlersAPI.addEventHandler}. */
  readonly addEventHandler: HandlersAPI["addEventHandler"];
  /** Removes a handler: see {@linkcode HandlersAPI.removeEventHandler}. */
  readonly removeEventHandler: HandlersAPI["removeEventHandler"];
  /** Private, as it has the tokens: what is printed of an application service, or written as JSON, has none. */
  readonly #kit: ServiceKit;
  readonly #feed: TransactionFeed;
  readonly #door: HomeserverDoor;
  readonly #delivery: Delivery;
  readonly #clients: ActingClients;
  readonly #intents: Intents;
  /** Ends the starts until now. */
  #stopping = new AbortController();
  /** Ends what a start asks before it delivers. */
  readonly #closing = new AbortController();
  /** Whether the keys of the users' devices end with the process, which has not been said yet. */
  #keysAreLost: boolean;

  /**
   * Makes an application service; nothing is sent.
   *
   * @param options The registration and the homeserver, at the least.
   * @throws {ValueError} If an option can't be used.
   */
  constructor(options: AppserviceOptions) {
    checkAppserviceOptions(options);
    const kit = this.#kit = new ServiceKit(options);
    const { device, log, store, token, users } = kit;
    const { encryption, lease, deliver, maxPendingHandlers, closeTimeout } = options;
    this.log = log;
    this.#keysAreLost = kit.deviceId !== undefined && options.store === undefined;
    const feed = this.#feed = token.feed = new TransactionFeed(kit);
    this.botClient = kit.bot = kit.rooms.bot = new Client({
      ...{ api: token.own, mxid: users.bot, deviceId: device.deviceId, store, encryption },
      ...{ lease, deliver, maxPendingHandlers, closeTimeout, log: options.log },
      [FEED]: feed,
    });
    const clients = this.#clients = feed.clients = new ActingClients(kit, feed);
    const intents = this.#intents = new Intents(users, clients, kit.ghosts);
    const delivery = this.#delivery = new Delivery(kit, feed, clients);
    this.#door = new HomeserverDoor(kit, delivery, intents);
    ({ on: this.on, addEventHandler: this.addEventHandler, removeEventHandler: this.removeEventHandler } =
      this.botClient);
  }

  /** What the homeserver has, too: keep its tokens secret. */
  get registration(): Registration {
    return this.#kit.registration;
  }

  /** The application service's own user. */
  get userId(): UserID {
    return this.#kit.users.bot;
  }

  /** Resolves when it has been closed; rejects when it can't go on: see {@linkcode Client.done}. */
  get done(): Promise<void> {
    return this.botClient.done;
  }

  /**
   * Answers HTTP requests: give it to `Deno.serve()`, or whatever serves functions from a request to
   * a response, below any path. It needs no `this`, and never rejects.
   *
   * It answers the application-service API: transactions, users, aliases, networks, and the pings
   * of {@linkcode Appservice.ping}; and `health` as {@linkcode Client.fetch} does.
   * A request without the homeserver's token is refused.
   *
   * While the application service is started, a transaction is answered when it is durable.
   * Otherwise, as where no process stays, it is answered when it has been handled as well, or after
   * `transactionTimeout`: what is left comes with the next, or with {@linkcode Appservice.handlePending}.
   */
  readonly fetch = async (request: Request): Promise<Response> => {
    try {
      return await this.#door.answer(request) ?? await this.botClient.fetch(request);
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
    const { signals = false, ...options } = given;
    const run = () => this.#run(options);
    await (signals ? untilSignal(run, () => this.close(), this.log) : run());
  }

  async #run({ ping = true, ...options }: Omit<AppserviceStartOptions, "signals">): Promise<void> {
    const { signal: stopped } = this.#stopping;
    const { signal: closed } = this.#closing;
    const signal = options.signal === undefined ? stopped : AbortSignal.any([options.signal, stopped]);
    if (this.#keysAreLost) {
      this.#keysAreLost = false; // it is said once
      this.log.warn(
        "The keys of all devices are lost when the process ends: the next start ends in a DeviceConflictError; " +
          "give the application service a store that lasts",
      );
    }
    try {
      await this.#delivery.during(async () => {
        if (ping && !closed.aborted) await this.#firstPing(AbortSignal.any([signal, closed]));
        await this.#delivery.run({ ...options, signal });
      });
    } catch (error) {
      if (closed.aborted && error === closed.reason) return;
      if (!signal.aborted || error !== signal.reason) throw error;
    }
  }

  /** Stops delivering: see {@linkcode Client.stop}. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopping = new AbortController();
    await this.botClient.stop();
  }

  /**
   * Handles what is left, where no process stays: call it from time to time, as by `Deno.cron()`.
   *
   * @returns Whether nothing is left.
   */
  async handlePending(): Promise<boolean> {
    return await this.#delivery.pending();
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
    return this.#intents.of(user);
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
  puppet(userId: UserID, accessToken: string): Client {
    parseUserId(userId);
    const { stateStore } = this.botClient;
    const { log } = this.#kit.transport;
    return new Client({
      api: new HTTPAPI({ ...this.#kit.transport, accessToken }),
      mxid: userId,
      [STATE_STORE]: stateStore,
      log,
    });
  }

  /** Closes the application service: see {@linkcode Client.close}. */
  async close(): Promise<void> {
    this.#closing.abort();
    try {
      await this.botClient.close(); // handlers that are at work act as users
    } finally {
      await this.#clients.close();
      await this.#feed.idle();
    }
  }

  /** The same as {@linkcode Appservice.close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #ping(signal?: AbortSignal): Promise<number | undefined> {
    const hasPinged = (id: string): boolean => this.#door.hasPinged(id);
    return await pingAppservice(this.#kit.http, { registration: this.registration, hasPinged, signal });
  }

  async #firstPing(signal: AbortSignal): Promise<void> {
    try {
      await this.#ping(signal);
      await this.#kit.ghosts.register(this.#kit.users.bot, { signal });
    } catch (error) {
      const isAway = error instanceof NetworkError || error instanceof MatrixRequestError && isPassing(error);
      if (!isAway) throw error;
      this.log.warn("The homeserver can't be reached; it is waited for", { error: String(error) });
    }
  }
}
