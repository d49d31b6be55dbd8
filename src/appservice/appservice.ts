/**
 * An application service: what its homeserver tells it, in handlers, and all of its users.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { Client, FEED, type HandlersAPI, STATE_STORE } from "../client/mod.ts";
import { platform } from "../base/platform/mod.ts";
import { untilSignal } from "../base/until_signal.ts";
import { HTTPAPI, isPassing } from "../api/http/mod.ts";
import type { Logger } from "../base/log.ts";
import { hintAt, type Hints } from "../errors/hints.ts";
import { Refusal } from "../base/bounded_body.ts";
import { MatrixRequestError, NetworkError } from "../errors/request_error.ts";
import { parseUserId } from "../types/identifiers.ts";
import type { UserID } from "../types/ids.ts";
import { ActingClients, ServiceKit } from "./service_kit.ts";
import {
  APPSERVICE_HINTS,
  type AppserviceOptionHints,
  type AppserviceOptions,
  type AppserviceStartOptions,
  checkAppserviceOptions,
  checkStartOptions,
} from "./appservice_options.ts";
import { Delivery, TransactionFeed } from "./transaction_feed.ts";
import { HomeserverDoor } from "./homeserver_door.ts";
import { type Intent, Intents } from "./intent.ts";
import { pingAppservice, type Registration } from "./registration.ts";

/** How deliveries begin and end. */
type DeliveryOptions = Pick<AppserviceStartOptions, "ping" | "signal" | "backoff">;

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
 * // await appservice.start({ port: 9000 });
 * ```
 */
export class Appservice {
  /**
   * The client of the application service's own user, which delivers what the homeserver sends. Its
   * `stateStore` knows the state of rooms as far as the homeserver has sent it.
   */
  readonly botClient: Client;
  /** Logs for the application service and all its clients. */
  readonly log: Logger;
  /** Adds a handler: see {@linkcode HandlersAPI.on}. */
  readonly on: HandlersAPI["on"];
  /** Adds a handler: see {@linkcode HandlersAPI.addEventHandler}. */
  readonly addEventHandler: HandlersAPI["addEventHandler"];
  /** Removes a handler: see {@linkcode HandlersAPI.removeEventHandler}. */
  readonly removeEventHandler: HandlersAPI["removeEventHandler"];
  /**
   * Private, as it has the tokens: what is printed of an application service, or written as JSON, has none.
   */
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
  constructor(options: AppserviceOptions & AppserviceOptionHints) {
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

  /** The registration, as the homeserver has it. Keep its tokens secret. */
  get registration(): Registration {
    return this.#kit.registration;
  }

  /** The user ID of the application service's own user. */
  get userId(): UserID {
    return this.#kit.users.bot;
  }

  /**
   * Resolves when the application service has been closed; rejects when it can't go on: see
   * {@linkcode Client.done}.
   */
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
   * Delivers to handlers what the homeserver sends, until {@linkcode Appservice.stop} is called: what
   * follows `await appservice.start()` runs after that. To do something beside it, do not await it. With a
   * `port` it listens there; otherwise serve {@linkcode Appservice.fetch} before, at the URL of the
   * registration: the homeserver pings it first.
   *
   * @param given Where to listen, whether to have the homeserver ping, and what stops it.
   * @returns A promise that resolves when it has been stopped, and listens no more.
   * @throws {AppservicePingError} If the homeserver can't reach the URL, or has another
   *   registration. If the homeserver itself can't be reached at the moment, that is only logged.
   * @throws {ValueError} If an option can't be used.
   *
   * @example
   * ```ts
   * import type { Appservice } from "@greenroom/matrix/appservice";
   *
   * export async function main(appservice: Appservice): Promise<void> {
   *   await appservice.start({ port: 9000, signals: true }); // until Ctrl-C, SIGTERM, or appservice.stop()
   * }
   * ```
   */
  async start(given: AppserviceStartOptions = {}): Promise<void> {
    checkStartOptions(given);
    const { signals = false, port, hostname = "0.0.0.0", ...options } = given;
    const run = async (): Promise<void> => {
      const { signal: stopped } = this.#stopping;
      const server = port === undefined ? undefined : await platform.serve({ hostname, port }, this.fetch);
      try {
        await this.#run(options, stopped);
      } finally {
        await server?.shutdown();
      }
    };
    await untilSignal(run, { signals, close: () => this.close(), log: this.log });
  }

  /** @param stopped Aborted by {@linkcode Appservice.stop}. */
  async #run({ ping = true, ...options }: DeliveryOptions, stopped: AbortSignal): Promise<void> {
    const { signal: closed } = this.#closing;
    const signal = options.signal === undefined ? stopped : AbortSignal.any([options.signal, stopped]);
    if (this.#keysAreLost) {
      this.#keysAreLost = false; // it is said once
      this.log.warn(
        "The keys of all devices are lost when the process ends: the next start ends in a DeviceConflictError; " +
          "give the application service a store that lasts",
      );
    }
    this.log.info("Delivers what the homeserver sends, until it is stopped: start() resolves then");
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

  /**
   * Stops delivering, and waits until handlers that are at work have ended: see
   * {@linkcode Client.stop}.
   *
   * @example
   * ```ts
   * import type { Appservice } from "@greenroom/matrix/appservice";
   *
   * export async function main(appservice: Appservice): Promise<void> {
   *   const stopped = appservice.start();
   *   Deno.addSignalListener("SIGUSR1", () => appservice.stop());
   *   await stopped;
   * }
   * ```
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopping = new AbortController();
    await this.botClient.stop();
  }

  /**
   * Handles what is left over. Where no process keeps running, call it from time to time, for
   * example from `Deno.cron()`.
   *
   * @returns Whether nothing is left.
   *
   * @example
   * ```ts
   * import type { Appservice } from "@greenroom/matrix/appservice";
   *
   * export async function everyMinute(appservice: Appservice): Promise<void> {
   *   if (!await appservice.handlePending()) appservice.log.info("The next call goes on");
   * }
   * ```
   */
  async handlePending(): Promise<boolean> {
    return await this.#delivery.pending();
  }

  /**
   * Asks the homeserver to ping {@linkcode Appservice.fetch}: see
   * [Pings](https://spec.matrix.org/v1.19/application-service-api/#pinging).
   *
   * @returns How long the ping took, in milliseconds; undefined if the homeserver does not know
   *   pings.
   * @throws {AppservicePingError} If the homeserver can't reach the application service, or has
   *   another registration.
   *
   * @example
   * ```ts
   * import type { Appservice } from "@greenroom/matrix/appservice";
   *
   * export async function isReached(appservice: Appservice): Promise<boolean> {
   *   const took = await appservice.ping();
   *   return took !== undefined && took < 1_000;
   * }
   * ```
   */
  async ping(): Promise<number | undefined> {
    return await this.#ping();
  }

  /**
   * Returns a user of the application service, to act as that user.
   *
   * @param user The user ID, or its localpart: what stands before the colon, without the `@`.
   * @returns The user, who has all operations of a client.
   * @throws {ValueError} If no namespace of the registration has the user.
   *
   * @example
   * ```ts
   * import type { Appservice } from "@greenroom/matrix/appservice";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function repeat(appservice: Appservice, roomId: RoomID, text: string): Promise<void> {
   *   await appservice.intent("_echo_parrot").sendText(roomId, text);
   * }
   * ```
   */
  intent(user: string): Intent {
    return this.#intents.of(user);
  }

  /**
   * Returns whether a user is one that the application service alone acts as: in an exclusive namespace of
   * the registration, and not its own user. What ghosts send reaches only handlers with `own: true`.
   *
   * @param userId The user ID.
   *
   * @example
   * ```ts
   * import type { Appservice } from "@greenroom/matrix/appservice";
   *
   * export function joinAsGhosts(appservice: Appservice): void {
   *   appservice.on("INVITE", async ({ state_key, room_id }) => {
   *     if (appservice.isGhost(state_key)) await appservice.intent(state_key).joinRoom(room_id);
   *   });
   * }
   * ```
   */
  isGhost(userId: string): boolean {
    return this.#kit.users.isGhost(userId);
  }

  /**
   * Returns a client that acts as a user of Matrix, by an access token of theirs: so messages from
   * the bridged network appear as the user's own. Its messages come back to handlers, since the user
   * is none of the application service's. It can't encrypt: in encrypted rooms, sending is refused.
   *
   * @param userId The user.
   * @param accessToken An access token of the user: keep it secret.
   * @returns A client that does not sync.
   * @throws {ValueError} If it is no user ID.
   *
   * @example
   * ```ts
   * import type { Appservice } from "@greenroom/matrix/appservice";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function say(appservice: Appservice, roomId: RoomID, accessToken: string): Promise<void> {
   *   const alice = appservice.puppet("@alice:example.org", accessToken);
   *   await alice.sendText(roomId, "I wrote this on IRC");
   * }
   * ```
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

  /**
   * Stops the application service for good, and closes its clients: see {@linkcode Client.close}.
   *
   * @example
   * ```ts
   * import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
   *
   * const appservice = new Appservice({
   *   registration: createRegistration({ id: "echo", url: "http://localhost:9000", serverName: "example.org" }),
   *   serverName: "example.org",
   *   baseUrl: "https://matrix.example.org",
   * });
   * await appservice.close(); // or `await using appservice = …`
   * ```
   */
  async close(): Promise<void> {
    this.#closing.abort();
    try {
      await this.botClient.close(); // handlers that are at work act as users
    } finally {
      await this.#clients.close();
      await this.#feed.idle();
    }
  }

  /** Closes the application service, as {@linkcode Appservice.close} does. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #ping(signal?: AbortSignal): Promise<number | undefined> {
    const hasPinged = (id: string): boolean => this.#door.hasPinged(id);
    return await pingAppservice(this.#kit.http, this.registration, hasPinged, signal);
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

hintAt(Appservice.prototype, "an application service", APPSERVICE_HINTS);
hintAt(Appservice, "Appservice", {
  generateRegistration: "createRegistration({ id, url, serverName })",
  loadRegistration: "parseRegistration(await Deno.readTextFile(path))",
  fromRegistration: "new Appservice({ registration, homeserver, serverName })",
});

/** @internal Names of other libraries, for the compiler. */
export interface AppserviceHints extends Hints<typeof APPSERVICE_HINTS> {}

/** What other libraries call it is refused with the name that it has here. */
export interface Appservice extends AppserviceHints {}
