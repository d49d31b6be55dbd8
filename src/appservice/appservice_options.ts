/**
 * How an application service is made and started, and what its homeserver asks it.
 *
 * Over 300 lines because half of it is documentation, and names of other libraries.
 *
 * @module
 */

import type { StartOptions } from "../actors/syncer/syncer.ts";
import { checkRetry, type HTTPAPIOptions } from "../api/http/mod.ts";
import { homeserverAddress } from "../api/server/server.ts";
import type { ClientOptions } from "../client/mod.ts";
import type { DeviceID, RoomAlias, UserID } from "../types/ids.ts";
import { MAX_PORT, parseServerName } from "../types/identifiers.ts";
import type { JsonObject } from "../types/json.ts";
import { checkHinted, type WriteInstead } from "../errors/hints.ts";
import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { OwnUsers } from "./own_users.ts";
import { checkRegistration, type Registration } from "./registration.ts";

/**
 * How an {@linkcode Appservice} is made: a registration, a homeserver and a server name is all it must have.
 */
export interface AppserviceOptions extends
  Pick<
    HTTPAPIOptions,
    "fetch" | "log" | "clock" | "retry" | "requestTimeout" | "maxResponseSize" | "userAgent"
  >,
  Pick<ClientOptions, "lease" | "deliver" | "maxPendingHandlers" | "closeTimeout"> {
  /** What the homeserver has, too: see {@linkcode createRegistration}. */
  registration: Registration;
  /**
   * The homeserver: its address, like `https://matrix.example.org`, or a server name, like `example.org`. The
   * domain of a server name is asked with the first request where its homeserver is, by https alone, and
   * without a port: `example.org:8448` asks `https://example.org/.well-known/matrix/client`. If it has no
   * such file (404), the homeserver is at that name itself. Default: `baseUrl`.
   */
  homeserver?: string;
  /** The homeserver's address, in place of `homeserver`; a path in it is kept in front of every request's. */
  baseUrl?: string | URL;
  /** The part behind the colon of the users' IDs. */
  serverName: string;
  /**
   * Where transactions are kept until they have been handled, room state, and what was handled; it
   * may be shared, and is left open. Default: in memory, so that a process that ends loses what it
   * has not handled.
   */
  store?: ClientOptions["store"];
  /**
   * End-to-end encryption: `true`, or how to encrypt and what to accept. Each user that acts gets a
   * device of its own, with which it encrypts what it sends; the own user decrypts what it receives,
   * so it has to be in the encrypted rooms: a warning names those where it is not. With a
   * `recoveryKey` their devices are signed, without which clients like Element do not show what they
   * say: each other user that acts has an identity of its own, by a key that is derived from the
   * recovery key, so that a new store finds it again. `sendTo`, `accept`, `unencrypted`, `onNewRecipient`,
   * `answerKeyRequests` and `shareHistory` hold for all of them; `verification`, the backup and a dehydrated
   * device are the own user's. Takes a registration that was made with
   * `encryption`, and of Synapse the experimental features `msc2409_to_device_messages_enabled` and
   * `msc3202_transaction_extensions`. Default: none.
   */
  encryption?: ClientOptions["encryption"];
  /** The ID of each user's device, if there is `encryption`. Default: `GREENROOM`. */
  deviceId?: DeviceID;
  /** Answers to what the homeserver asks of users and aliases. Default: there are none. */
  queries?: QueryHandlers;
  /** Answers to questions about networks. Default: nothing is known. */
  thirdParty?: ThirdPartyHandlers;
  /**
   * How long the answer to a transaction may take where no process stays, in milliseconds, from 100
   * to 600,000: the time for handling it. It is kept by then, and what is not handled in time comes
   * with the next. Without effect while the application service is started. Default: 20,000.
   */
  transactionTimeout?: number;
  /**
   * How many users act at a time without being made anew, which costs no request: some 60 kB each.
   * Default: 256.
   */
  maxActing?: number;
}

/** Options of {@linkcode Appservice.start}. */
export interface AppserviceStartOptions extends Pick<StartOptions, "signal" | "signals" | "backoff"> {
  /**
   * Whether to have the homeserver ping it first, so that it is known at once if that does not get
   * through. Default: true.
   */
  ping?: boolean;
  /**
   * Listens there, and answers as {@linkcode Appservice.fetch} does, while it is started. Needs the
   * permission `--allow-net`. Default: it does not listen; the program serves {@linkcode Appservice.fetch}.
   */
  port?: number;
  /** Where it listens, if there is a `port`. Default: `0.0.0.0`, which is every interface. */
  hostname?: string;
}

const MIN_TIME_LIMIT = 100;
const MAX_TIME_LIMIT = 600_000;

const OPTIONS: OptionNames<AppserviceOptions> = {
  ...{ fetch: true, log: true, clock: true, retry: true, requestTimeout: true, maxResponseSize: true },
  ...{ userAgent: true, lease: true, deliver: true, maxPendingHandlers: true, closeTimeout: true },
  ...{
    registration: true,
    homeserver: true,
    baseUrl: true,
    serverName: true,
    store: true,
    encryption: true,
    deviceId: true,
  },
  ...{ queries: true, thirdParty: true, transactionTimeout: true, maxActing: true },
};
const THIRD_PARTY: OptionNames<ThirdPartyHandlers> = {
  ...{ protocol: true, usersOf: true, locationsOf: true, user: true, location: true },
};
const START: OptionNames<AppserviceStartOptions> = {
  ...{ ping: true, port: true, hostname: true, signal: true, signals: true, backoff: true },
};

/**
 * Refuses options that `start()` has not, and a port that can't be.
 *
 * @throws {ValueError} If there is one.
 */
export function checkStartOptions(options: AppserviceStartOptions): void {
  if (typeof options === "number") {
    throw new ValueError(`Cannot start: a number is no options; write start({ port: ${options} })`);
  }
  checkOptions(options, START, "start");
  const { port = 0 } = options;
  if (!(Number.isInteger(port) && port >= 0 && port <= MAX_PORT)) {
    throw new ValueError(`Cannot start: port must be a whole number from 0 to ${MAX_PORT}, not ${port}`);
  }
  checkOptions(options.backoff, { base: true, cap: true }, "start", "backoff.");
}

/**
 * Refuses options that an application service has not, and checks numbers.
 *
 * @throws {ValueError} If one can't be used.
 */
export function checkAppserviceOptions(options: AppserviceOptions): void {
  const action = "make an application service";
  checkHinted(options, OPTIONS, OPTION_HINTS, action);
  if (options?.registration === undefined) {
    throw new ValueError(`Cannot ${action}: it has no registration; make one by createRegistration()`);
  }
  if ("port" in options) {
    throw new ValueError(`Cannot ${action}: there is no option port; write appservice.start({ port })`);
  }
  checkOptions(options, OPTIONS, action);
  checkRegistration(options.registration);
  if (typeof options.serverName !== "string" || parseServerName(options.serverName) === undefined) {
    throw new ValueError(
      `Cannot ${action}: serverName must be the part behind the colon of the users' IDs, as example.org`,
    );
  }
  checkRetry(options.retry, action);
  checkOptions(options.queries, { user: true, room: true }, action, "queries.");
  checkOptions(options.thirdParty, THIRD_PARTY, action, "thirdParty.");
  const { transactionTimeout = MIN_TIME_LIMIT, maxActing = 1 } = options;
  if (!(transactionTimeout >= MIN_TIME_LIMIT && transactionTimeout <= MAX_TIME_LIMIT)) {
    throw new ValueError(
      `Cannot make an application service: transactionTimeout must be from ${MIN_TIME_LIMIT} to ${MAX_TIME_LIMIT} milliseconds, not ${transactionTimeout}`,
    );
  }
  if (!(Number.isSafeInteger(maxActing) && maxActing >= 1)) {
    throw new ValueError(
      `Cannot make an application service: maxActing must be a whole number from 1 on, not ${maxActing}`,
    );
  }
}

/** The device of each user. */
const DEVICE = "GREENROOM";

/**
 * The device of each user; undefined: they do not encrypt.
 *
 * @throws {ValueError} If the own user could not read what is encrypted for it.
 */
export function deviceOf(
  { encryption, deviceId = DEVICE }: AppserviceOptions,
  users: OwnUsers,
): DeviceID | undefined {
  if (encryption === undefined || encryption === false) return undefined;
  if (users.bot !== users.sender) return deviceId;
  throw new ValueError(
    "Cannot encrypt: the own user must be another than the sender_localpart of the registration, " +
      "which can't read what was sent to its device; make the registration with encryption",
  );
}

/**
 * Makes the transport of all requests of an application service.
 *
 * @throws {ValueError} If there is no homeserver.
 */
export function transportOf(options: AppserviceOptions): HTTPAPIOptions {
  const { registration, fetch, log, clock, retry, requestTimeout, maxResponseSize, userAgent } = options;
  const token = registration.as_token;
  const baseUrl = homeserverAddress(options, "make an application service");
  if (baseUrl === undefined) {
    throw new ValueError("Cannot make an application service: it needs a homeserver; give it homeserver");
  }
  return {
    baseUrl,
    fetch,
    log,
    clock,
    retry,
    requestTimeout,
    maxResponseSize,
    userAgent,
    accessToken: token,
  };
}

/** A profile of a user that is about to be made. */
export interface GhostProfile {
  /** The display name; undefined: it stays as it is. */
  displayname?: string;
  /** The avatar, as `mxc://` URI; undefined: it stays as it is. */
  avatarUrl?: `mxc://${string}`;
}

/** Answers to what the homeserver asks of users and aliases in the namespaces. Default: there are none. */
export interface QueryHandlers {
  /**
   * Is asked for a user that the homeserver does not have.
   *
   * @param userId The user, one of the namespaces.
   * @returns The profile of a user who is then registered; undefined if there is to be none.
   */
  user?: (userId: UserID) => GhostProfile | undefined | Promise<GhostProfile | undefined>;
  /**
   * Is asked for an alias that the homeserver does not have. It makes the room with that alias, if
   * there is to be one.
   *
   * @param alias The alias.
   * @returns Whether there is a room now.
   */
  room?: (alias: RoomAlias) => boolean | Promise<boolean>;
}

/** Answers to questions about networks that are bridged to. Default: nothing is known. */
export interface ThirdPartyHandlers {
  /** What is to be known of a network; undefined: there is none of that name. */
  protocol?: (protocol: string) => JsonObject | undefined | Promise<JsonObject | undefined>;
  /** Users of Matrix who stand for users of a network, by fields that the network defines. */
  usersOf?: (protocol: string, fields: Record<string, string>) => JsonObject[] | Promise<JsonObject[]>;
  /** Rooms that stand for places of a network, by fields that the network defines. */
  locationsOf?: (protocol: string, fields: Record<string, string>) => JsonObject[] | Promise<JsonObject[]>;
  /** The users of networks that a user of Matrix stands for. */
  user?: (userId: string) => JsonObject[] | Promise<JsonObject[]>;
  /** The places of networks that a room stands for. */
  location?: (alias: string) => JsonObject[] | Promise<JsonObject[]>;
}

const REGISTRATION = "registration: createRegistration({ id, url, serverName })";
/** Who has tokens has a registration. */
const PARSED = "registration: parseRegistration(yaml)";

/** What other libraries call its options, and what to write here. */
const OPTION_HINTS = {
  ...{ id: REGISTRATION, url: REGISTRATION, asToken: PARSED, hsToken: PARSED },
  ...{ senderLocalpart: REGISTRATION, namespaces: REGISTRATION },
};

/** Options of other libraries' application services; the compiler names the own one. */
export interface AppserviceOptionHints {
  /** @deprecated It is part of the registration. */
  asToken?: WriteInstead<"registration: parseRegistration(yaml)">;
  /** @deprecated It is part of the registration. */
  hsToken?: WriteInstead<"registration: parseRegistration(yaml)">;
  /** @deprecated It is part of the registration. */
  id?: WriteInstead<"registration: createRegistration({ id, url, serverName })">;
  /** @deprecated It is part of the registration. */
  url?: WriteInstead<"registration: createRegistration({ id, url, serverName })">;
  /** @deprecated It is part of the registration. */
  namespaces?: WriteInstead<"registration: createRegistration({ id, url, serverName })">;
  /** @deprecated It is part of the registration. */
  senderLocalpart?: WriteInstead<"registration: createRegistration({ id, url, serverName })">;
  /** @deprecated The option is `serverName`. */
  domain?: WriteInstead<"serverName">;
  /** @deprecated The option is `serverName`. */
  homeserverName?: WriteInstead<"serverName">;
}

const START_AT = "appservice.start({ port })";

/** What other libraries call its members, and what to write here. */
export const APPSERVICE_HINTS = {
  ghost: "appservice.intent(user)",
  getGhost: "appservice.intent(user)",
  asUser: "appservice.intent(user)",
  as: "appservice.intent(user)",
  ghostByUserId: "appservice.intent(userId)",
  store: "the store that it was given",
  getIntent: "appservice.intent(user)",
  getIntentForUserId: "appservice.intent(userId)",
  getIntentForSuffix: "appservice.intent(localpart)",
  getIntentFromLocalpart: "appservice.intent(localpart)",
  bot: "appservice.botClient",
  botIntent: "appservice.botClient",
  client: "appservice.botClient",
  mxid: "appservice.userId",
  botUserId: "appservice.userId",
  listen: START_AT,
  begin: START_AT,
  run: START_AT,
  off: "appservice.removeEventHandler(type, handler)",
  destroy: "appservice.close()",
  onUserQuery: "the option queries: { user }",
  onAliasQuery: "the option queries: { room }",
  onQueryUser: "the option queries: { user }",
  onQueryAlias: "the option queries: { room }",
  rooms: "a store of your own: none of what is bridged is kept here",
  isNamespacedUser: "appservice.isGhost(userId)",
  isRemoteUser: "appservice.isGhost(userId)",
  joinRoom: "appservice.botClient.joinRoom(roomIdOrAlias)",
  sendText: "appservice.botClient.sendText(roomId, text)",
} as const;
