/**
 * The in-process homeserver.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import type { PlatformServer } from "../base/platform/mod.ts";
import { systemClock } from "../base/clock.ts";
import { hintAt, type Hints } from "../errors/hints.ts";
import { checkOptions } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { DeviceID, RoomID, UserID } from "../types/ids.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { FaultList, type Faults } from "./faults.ts";
import {
  type AppserviceFetch,
  checkHomeserverOptions,
  type HomeserverOptions,
  type HomeserverQuirks,
  randomIds,
  type RateLimits,
  SYNAPSE_FEATURES,
  SYNAPSE_VERSIONS,
  type TestRegistration,
} from "./homeserver_options.ts";
import {
  bearerOf,
  ConnectionDropped,
  injectFault,
  listenOn,
  localFetch,
  type RawRequest,
  Router,
  serve,
} from "./http/http.ts";
import { LoggedRequest, RequestLog, RoomView } from "./views.ts";
import { DEFAULT_ROOM_VERSION } from "./rooms/mod.ts";
import { ALL_ROUTES, OAUTH_ROUTES } from "./routes/routes.ts";
import { ServerState } from "./server/mod.ts";
import { createUser, type CreateUserOptions } from "./create_user.ts";
import type { TestUser } from "./test_user.ts";
import { HOMESERVER_HINTS } from "./testing_hints.ts";
import { ACCESS_TOKEN_LIFETIME } from "./users/mod.ts";

/** Options of {@link Homeserver.listen}. */
export interface ListenOptions {
  /** The port. Default: 0, which takes a free one. */
  readonly port?: number;
  /** The address. Default: `127.0.0.1`. */
  readonly hostname?: string;
}

const router = new Router(ALL_ROUTES);

/**
 * A Matrix homeserver inside this process, for tests: no network, no permission, no state outside of it.
 *
 * Hand {@link Homeserver.fetch} to a client, or call {@link Homeserver.listen} for one that takes no `fetch`.
 *
 * @example
 * ```ts
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const alice = homeserver.createUser("alice");
 * const response = await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/v3/account/whoami`, {
 *   headers: { authorization: `Bearer ${alice.accessToken}` },
 * });
 * console.assert((await response.json()).user_id === "@alice:localhost");
 * ```
 */
export class Homeserver implements AsyncDisposable {
  /** The server name: what stands behind the colon of its user IDs. */
  readonly serverName: string;
  /** Sends requests to this homeserver, and to no other. Use it in place of the global `fetch`. */
  readonly fetch: typeof fetch;
  /** Makes requests fail, on demand. */
  readonly faults: Faults;
  /** The latest requests that arrived. */
  readonly requests: RequestLog;
  /** Behaviour in which homeservers differ; a test can change it at any time. */
  readonly quirks: HomeserverQuirks;
  /**
   * How often a user may make which requests; a test can change it at any time. Requests beyond it
   * get status 429 with `Retry-After`.
   */
  readonly rateLimits: RateLimits;
  readonly #state: ServerState;
  readonly #router: Router;
  readonly #faults = new FaultList();
  readonly #onError: (error: unknown) => void;
  #listener: PlatformServer | undefined;

  /**
   * Makes a homeserver without users and rooms.
   *
   * @param options Its name, clock, limits and behaviour.
   * @throws {ValueError} If an option can't be used.
   */
  constructor(options: HomeserverOptions = {}) {
    checkHomeserverOptions(options);
    this.serverName = options.serverName ?? "localhost";
    this.#onError = options.onError ?? (() => {});
    this.faults = this.#faults;
    this.quirks = { ...options.quirks };
    this.rateLimits = { ...options.rateLimits };
    this.requests = new RequestLog(options.requestLogSize ?? 10_000);
    this.#state = new ServerState({
      serverName: this.serverName,
      clock: options.clock ?? systemClock,
      ids: options.ids ?? randomIds(),
      versions: options.versions ?? SYNAPSE_VERSIONS,
      unstableFeatures: options.unstableFeatures ?? SYNAPSE_FEATURES,
      defaultRoomVersion: options.defaultRoomVersion ?? DEFAULT_ROOM_VERSION,
      maxUploadSize: options.maxUploadSize ?? 52_428_800,
      oauth: options.oauth ?? false,
      accessTokenLifetime: options.accessTokenLifetime ?? ACCESS_TOKEN_LIFETIME,
      authenticatedMedia: options.authenticatedMedia ?? true,
      searchAllUsers: options.searchAllUsers ?? true,
      previewFetch: options.previewFetch,
      pushFetch: options.pushFetch,
      registration: options.registration ?? true,
      turnServer: options.turnServer ?? {},
      rateLimits: this.rateLimits,
      quirks: this.quirks,
    }, `https://${this.serverName}`);
    this.#router = this.#state.oauth === undefined ? router : new Router(OAUTH_ROUTES);
    this.fetch = localFetch({
      accepts: (url) => url.host === this.serverName || url.origin === this.baseUrl,
      handle: (raw) => this.#handle(raw),
    });
  }

  /**
   * The base URL for clients: the address it listens on, or a made-up one that
   * {@linkcode Homeserver.fetch} knows.
   */
  get baseUrl(): string {
    return this.#state.baseUrl;
  }

  /**
   * The authorization server, where users log in: the person at the browser is the test.
   *
   * @throws {ValueError} If the homeserver has none: make it with `new Homeserver({ oauth: true })`.
   */
  get oauth(): AuthorizationServer {
    const { oauth } = this.#state;
    if (oauth !== undefined) return oauth;
    throw new ValueError(
      "Cannot use the authorization server: the homeserver has none; make it with new Homeserver({ oauth: true })",
    );
  }

  /**
   * Listens on the loopback interface, for clients that can't be given a `fetch`. Needs the
   * permission `--allow-net=127.0.0.1`.
   *
   * @param options Where to listen.
   * @returns The base URL.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * export async function serve(): Promise<void> {
   *   await using homeserver = new Homeserver();
   *   const baseUrl = await homeserver.listen();
   *   await new Deno.Command("./bot", { env: { MATRIX_URL: baseUrl } }).output();
   * }
   * ```
   */
  async listen(options: ListenOptions = {}): Promise<string> {
    checkOptions(options, { port: true, hostname: true }, "listen");
    const { port = 0, hostname = "127.0.0.1" } = options;
    const answer = (raw: RawRequest) => this.#handle(raw);
    this.#listener = await listenOn({ port, hostname }, answer, this.#state.closing, this.#onError);
    return this.#state.baseUrl = `http://${hostname}:${this.#listener.port}`;
  }

  /**
   * Creates a user with a device and an access token.
   *
   * @param localpart The part of the user ID before the colon, without the `@`.
   * @param options The password, the display name, the device, and the homeserver of the user.
   * @returns The IDs and the credentials of the user.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { userId, accessToken } = homeserver.createUser("alice", { displayname: "Alice" });
   * console.assert(userId === "@alice:localhost" && accessToken !== ""); // for a client or a bot
   * ```
   */
  createUser(localpart: string, options: CreateUserOptions = {}): TestUser {
    return createUser(this, this.#state, localpart, options);
  }

  /**
   * Adds an application service. From then on it may act as its users, and gets the events that it
   * is interested in.
   *
   * @param registration The content of its registration file.
   * @param fetch Sends requests to it, whatever URL the registration has. Default: the global one.
   *
   * @example
   * ```ts
   * import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * const serverName = "localhost";
   * const registration = createRegistration({ id: "echo", url: "http://localhost:9000", serverName });
   * await using homeserver = new Homeserver();
   * const { baseUrl, fetch } = homeserver;
   * await using appservice = new Appservice({ registration, serverName, baseUrl, fetch });
   * homeserver.addAppservice(registration, appservice.fetch);
   * await appservice.ping();
   * ```
   */
  addAppservice(
    registration: TestRegistration,
    fetch: AppserviceFetch = (request) => globalThis.fetch(request),
  ): void {
    this.#state.appservices.add(registration, fetch);
  }

  /**
   * Returns a room as it is on the homeserver, for assertions.
   *
   * @param roomId The ID of the room.
   * @returns The room.
   * @throws {ValueError} If there is no such room.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   * import { Client } from "@greenroom/matrix";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("alice");
   * await using alice = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await alice.createRoom({ name: "Green room" });
   * console.assert(homeserver.room(roomId).state("m.room.name")?.name === "Green room");
   * ```
   */
  room(roomId: RoomID): RoomView {
    const room = this.#state.rooms.get(roomId);
    if (room === undefined) throw new ValueError(`Cannot look at room ${roomId}: it does not exist`);
    return new RoomView(room);
  }

  /**
   * Sets the state that comes along with invitations and knocks of a room, in place of the true one.
   * So a test plays the server of the user who invites: a client can't trust this state.
   *
   * @param roomId The room.
   * @param events Stripped state, well-formed or not; an empty list sends none along.
   * @throws {ValueError} If there is no such room.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   * import { Client } from "@greenroom/matrix";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("alice");
   * const { baseUrl, fetch } = homeserver;
   * await using alice = new Client({ baseUrl, fetch, accessToken });
   * const roomId = await alice.createRoom({ name: "Green room" });
   * const sender = "@mallory:elsewhere.example";
   * homeserver.sendAlong(roomId, [{ type: "m.room.name", state_key: "", sender, content: { name: 7 } }]);
   * ```
   */
  sendAlong(roomId: RoomID, events: readonly Record<string, unknown>[]): void {
    const room = this.#state.rooms.get(roomId);
    if (room === undefined) throw new ValueError(`Cannot send along with room ${roomId}: it does not exist`);
    room.sentAlong = structuredClone(events);
  }

  /** The IDs of all rooms, in the order of their creation. */
  get rooms(): RoomID[] {
    return [...this.#state.rooms.keys()];
  }

  /**
   * Makes the access tokens of a user expire: requests get a soft logout, after which a refresh or a
   * login brings the device back. With an authorization server the answer does not say that it is soft.
   *
   * @param userId The user.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { userId } = homeserver.createUser("bot");
   * homeserver.expireTokens(userId); // requests of the bot get 401 with soft_logout from now on
   * ```
   */
  expireTokens(userId: UserID): void {
    const user = this.#state.user(userId);
    for (const device of user.devices.values()) this.#state.sessions.expire(device);
    this.#state.oauth?.tokens.expire(user);
    this.#state.stream.wake([userId]);
  }

  /**
   * Makes the access tokens of a user unknown, as an administrator or another device can: a hard
   * logout. Tokens of the authorization server go with their refresh tokens and devices.
   *
   * @param userId The user.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { userId } = homeserver.createUser("bot");
   * homeserver.revokeTokens(userId); // requests of the bot get 401 from now on
   * ```
   */
  revokeTokens(userId: UserID): void {
    this.#state.sessions.close(({ user }) => user.id === userId);
    const user = this.#state.users.get(userId);
    if (user !== undefined) this.#state.oauth?.tokens.endAll(user);
    this.#state.stream.wake([userId]);
  }

  /**
   * Returns the to-device messages that a device has not acknowledged yet.
   *
   * @param userId The user.
   * @param deviceId The device.
   * @returns The messages, oldest first.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { userId, deviceId } = homeserver.createUser("alice");
   * console.assert(homeserver.toDevice(userId, deviceId).length === 0);
   * ```
   */
  toDevice(userId: UserID, deviceId: DeviceID): readonly Record<string, unknown>[] {
    return this.#state.user(userId).devices.get(deviceId)?.inbox.map(({ event }) => event) ?? [];
  }

  /**
   * Closes the homeserver: waiting syncs return, and later requests fail.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * const homeserver = new Homeserver();
   * await homeserver.close(); // or `await using homeserver = …`
   * ```
   */
  async close(): Promise<void> {
    this.faults.clear();
    this.#state.close();
    await this.#listener?.shutdown();
    this.#listener = undefined;
  }

  /** Closes the homeserver, as {@linkcode Homeserver.close} does. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #handle(raw: RawRequest): Promise<Response> {
    if (this.#state.closed) throw new ConnectionDropped("Connection refused");
    const { clock } = this.#state.settings;
    const token = bearerOf(raw);
    const user = this.#state.oauth?.tokens.userOf(token) ?? this.#state.sessions.userOf(token);
    const logged = new LoggedRequest(raw, user, clock.now());
    this.requests.add(logged);
    const answer = () => serve(this.#state, this.#router, raw, this.#onError);
    const fault = this.#faults.strike({ method: raw.method, path: raw.url.pathname, user });
    const response = fault === undefined
      ? await answer()
      : await injectFault(fault, { serve: answer, clock, signal: raw.signal });
    logged.status = response.status;
    return response;
  }
}

hintAt(Homeserver.prototype, "a homeserver for tests", HOMESERVER_HINTS);
hintAt(Homeserver, "Homeserver", { start: "new Homeserver()", listen: "new Homeserver(), and its listen()" });

/** @internal Names of other tests, for the compiler. */
export interface HomeserverHints extends Hints<typeof HOMESERVER_HINTS> {}

/** What other libraries call it is refused with the name that it has here. */
export interface Homeserver extends HomeserverHints {}
