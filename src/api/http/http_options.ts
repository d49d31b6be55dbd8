/**
 * The options of the transport and of its requests, and the symbols of what the library alone calls of it:
 * named so, that no editor offers it.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import type { FindAddress, FindTokens, OnTokensRefreshed } from "./credentials.ts";
import type { PathParams, Query } from "./endpoint.ts";
import type { RawBody } from "./exchange.ts";
import { checkRetry, type RequestOptions, type RetryPolicy } from "./request_options.ts";

/** Names the method of {@link HTTPAPI} (`http_api.ts`) that makes a request of an endpoint. */
export const CALL: unique symbol = Symbol("call");
/** The same, where the caller reads the answer. */
export const DOWNLOAD: unique symbol = Symbol("download");
/** Names the method that makes a transport to another server. */
export const ELSEWHERE: unique symbol = Symbol("elsewhere");
/** Whether a homeserver has answered. */
export const IS_ANSWERED: unique symbol = Symbol("isAnswered");
/** Whether the access token is dead for good. */
export const IS_TOKEN_DEAD: unique symbol = Symbol("isTokenDead");
/** What has to be done before a request leaves. */
export const PREPARE: unique symbol = Symbol("prepare");
/** What is done when the access token is dead for good. */
export const TOKEN_DIED: unique symbol = Symbol("tokenDied");
/** How long to wait before an act of several requests begins anew. */
export const RESTART_DELAY: unique symbol = Symbol("restartDelay");
/** How far the server's clock is off. */
export const SKEW: unique symbol = Symbol("skew");

/** How an {@link HTTPAPI} is made. */
export interface HTTPAPIOptions {
  /**
   * The homeserver's address; a path in it is kept in front of every request's. Or what finds it:
   * it is asked with the first request, and again with the next one if it fails.
   */
  baseUrl: string | URL | FindAddress;
  /** The access token. Default: none, until `login()`. */
  accessToken?: string;
  /** Buys a new access token when the present one has expired. Default: none. */
  refreshToken?: string;
  /**
   * How long the access token lives from now, in milliseconds. Default: it is not known to expire.
   */
  expiresIn?: number;
  /**
   * Persists each new pair of tokens; requests wait for its promise, and use the pair that it returns,
   * if it does.
   */
  onTokensRefreshed?: OnTokensRefreshed;
  /**
   * Finds other tokens when those of the client have come to their end: the ones that another process
   * with the same device has persisted, or those of a login with the device's ID. Without it, and if it
   * finds none, requests fail with the `UnknownTokenError`, which ends a client that syncs.
   *
   * @example
   * ```ts
   * import { Client, MemoryStore, type Tokens } from "@greenroom/matrix";
   *
   * const store = new MemoryStore(); // or one that all processes share
   * const key = ["tokens"];
   * const newest = async () => (await store.getMany([key]))[0];
   * await using client = new Client({
   *   baseUrl: "https://matrix.example.org",
   *   store,
   *   accessToken: "secret",
   *   refreshToken: "secret too",
   *   async findTokens() {
   *     return (await newest())?.value as Tokens | undefined;
   *   },
   *   async onTokensRefreshed(tokens, used) {
   *     const kept = await newest();
   *     const others = kept?.value as Tokens | undefined;
   *     if (others !== undefined && others.accessToken !== used.accessToken) return others;
   *     const check = { key, versionstamp: kept?.versionstamp ?? null };
   *     const isKept = await store.commit([{ type: "set", key, value: tokens }], [check]);
   *     return isKept ? undefined : (await newest())?.value as Tokens; // of a process that was first
   *   },
   * });
   * ```
   */
  findTokens?: FindTokens;
  /**
   * Ends the session when the client logs out, where its tokens are not those of `login()`: an OAuth 2.0
   * server has no other logout. Default, and where it returns undefined: the homeserver is asked to end it.
   */
  revokeTokens?: () => Promise<void> | undefined;
  /** What sends the requests. Default: the global `fetch`. */
  fetch?: typeof fetch;
  /**
   * The logger: a `@std/log` logger, one of LogTape, or `console`; `false` for none. Default:
   * LogTape, in categories below `greenroom`, where the application has configured that; else
   * warnings and errors go to the console, where what is repeated is counted.
   */
  log?: Logger | false;
  /** Measures timeouts and waits. Default: the machine's clock. */
  clock?: Clock;
  /** Changes to the retry policy, or `false` for single tries. */
  retry?: Partial<RetryPolicy> | false;
  /**
   * How long a try may stay without progress, in milliseconds; 0 means for ever. Where the server is
   * asked to wait, as in a sync, that time begins when the wait is over. Default: 60,000; behind a
   * wait 30,000; for a first sync 600,000.
   */
  requestTimeout?: number;
  /** The largest answer to take, in bytes after decompression. Default: 256 MiB. */
  maxResponseSize?: number;
  /** The `User-Agent` header. Default: `greenroom`. */
  userAgent?: string;
  /** Application services: the user to act as in every request. */
  asUserId?: UserID;
  /** Application services: the device to act as in every request. */
  asDeviceId?: DeviceID;
  /**
   * What has to be done before a request leaves; a rejection is the request's. See
   * `src/appservice/`.
   *
   * @internal
   */
  [PREPARE]?: Prepare;
  /**
   * Is called when the server does not know the access token any more, and there is no other.
   *
   * @internal
   */
  [TOKEN_DIED]?: () => void;
}

/** The names of the transport's options. */
export const HTTP_OPTIONS: OptionNames<HTTPAPIOptions> = {
  ...{ baseUrl: true, accessToken: true, refreshToken: true, expiresIn: true, onTokensRefreshed: true },
  ...{
    findTokens: true,
    revokeTokens: true,
    fetch: true,
    log: true,
    clock: true,
    retry: true,
    requestTimeout: true,
  },
  ...{ maxResponseSize: true, userAgent: true, asUserId: true, asDeviceId: true },
};

/**
 * Refuses options that a transport has not.
 *
 * @throws {ValueError} If there is one.
 */
export function checkHttpOptions(options: HTTPAPIOptions): void {
  checkOptions(options, HTTP_OPTIONS, "make a transport");
  checkRetry(options.retry, "make a transport");
}

/** Does what has to be done before a request, given the operation and what fills its path. */
export type Prepare = (
  operation: string,
  path: Readonly<Record<string, string>>,
  options: RequestOptions,
) => Promise<void>;

/** What fills an endpoint for one request. */
export type Call<Path extends string> = {
  /** The parameters of the path. */
  path: PathParams<Path>;
  /** The operation's own parameters of the query. */
  query?: Query;
  /** The body, sent as JSON. Default: `{}`, and none with `GET`. */
  body?: object;
  /** A body that is no JSON. */
  raw?: RawBody;
};

/** Options of {@link HTTPAPI.request}. */
export interface CustomRequestOptions extends RequestOptions {
  /**
   * The parameters of the path's template. Each is escaped; one that is named after a kind of
   * identifier, like `roomId`, must look like one; none may be empty but `stateKey`.
   */
  path?: Readonly<Record<string, string>>;
  /** The body, sent as JSON. Default: `{}`, and none with `GET`. */
  body?: object;
  /**
   * Whether the request may be repeated with the effect of one, and so be retried. Default: true,
   * but for `POST`.
   */
  idempotent?: boolean;
}
