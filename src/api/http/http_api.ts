/**
 * The transport: every request of Greenroom goes through {@link HTTPAPI}. Over 300 lines because all that is
 * done to each of them is here.
 *
 * @module
 */

import {
  CALL,
  type Call,
  checkHttpOptions,
  type CustomRequestOptions,
  DOWNLOAD,
  ELSEWHERE,
  type HTTPAPIOptions,
  IS_ANSWERED,
  IS_TOKEN_DEAD,
  PREPARE,
  RESTART_DELAY,
  SKEW,
  TOKEN_DIED,
} from "./http_options.ts";
import { alarm, type Clock, systemClock } from "../../base/clock.ts";
import { UnknownTokenError } from "../../errors/account_errcodes.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { AcceptedError, ServiceResponseError } from "../../errors/service_response_error.ts";
import { type Logger, loggerOf } from "../../base/log.ts";
import { REGISTERED } from "../../base/tracing.ts";
import { Address, Credentials, refreshEndpoint, type Renewal, type Tokens } from "./credentials.ts";
import {
  checks,
  type Endpoint,
  endpoint,
  fillPath,
  type Method,
  queryString,
  unchecked,
} from "./endpoint.ts";
import { type Exchange, exchange, type ReadAnswer, type ServerTime, skewOf } from "./exchange.ts";
import {
  checkRequestOptions,
  checkSendQuery,
  DEFAULT_RETRY,
  identityQuery,
  requestHeaders,
  type RequestOptions,
  type RetryPolicy,
  retryPolicy,
} from "./request_options.ts";
import { readJson } from "./answer.ts";
import type { UserID } from "../../types/ids.ts";
import { transactionIds } from "./events.ts";
import { isMatrixRefusal, restartDelay, Tries } from "./tries.ts";

/** How often one request goes on with other tokens, which may be refused in their turn. */
const MAX_RENEWALS = 4;
/** After how long it is said that nobody has answered yet, in milliseconds. */
const SILENCE = 5_000;
/** What a server gets beyond its wait before the connection counts as dead, in milliseconds. */
const GRACE = 30_000;

/** The low-level client of one session: authorises, escapes, retries, bounds and checks. */
export class HTTPAPI {
  /** Where requests, retries and durations are logged. */
  readonly log: Logger;
  /** Measures timeouts and waits. */
  readonly clock: Clock;
  /** Makes unique transaction IDs. */
  readonly nextTransactionId: () => string = transactionIds();
  /**
   * Whether a homeserver has answered at this address: with what the specification says, or an error
   * code of it.
   *
   * @internal
   */
  [IS_ANSWERED] = false;
  /**
   * How far the server's clock was ahead of the own one when it answered first, in milliseconds;
   * undefined: it has not said yet.
   *
   * @internal
   */
  [SKEW]: number | undefined;
  /** Whether it was said that nobody answers at this address. */
  #isSilent = false;
  readonly #fetch: typeof fetch;
  readonly #credentials: Credentials;
  readonly #retry: RetryPolicy;
  readonly #options: HTTPAPIOptions;
  readonly #tries: Tries;
  #headers: Readonly<Record<string, string>> | undefined;
  readonly #address: Address;

  /**
   * Makes a transport; nothing is sent.
   *
   * @param options The homeserver's address, or what finds it, at the least.
   * @throws {ValueError} If a transport has no such option, or the address is no `http` or `https` URL.
   */
  constructor(options: HTTPAPIOptions) {
    checkHttpOptions(options);
    this.#options = options;
    this.#address = new Address(options.baseUrl);
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.clock = options.clock ?? systemClock;
    this.log = loggerOf(options.log, this.clock, "http");
    this.#tries = new Tries(this.clock, this.log);
    this.#retry = retryPolicy(DEFAULT_RETRY, options.retry);
    this.#credentials = new Credentials(this, this.#refresh, options);
    const { accessToken: token = "", refreshToken, expiresIn } = options;
    this.#credentials.set({ accessToken: token, refreshToken, expiresIn });
  }

  /** The homeserver's address, without a slash at its end; empty until it was found. */
  get baseUrl(): string {
    return this.#address.url;
  }

  /** Moves to another address; a path in it is kept. */
  set baseUrl(url: string | URL) {
    this.#address.url = url;
    [this[IS_ANSWERED], this.#isSilent, this[SKEW]] = [false, false, undefined];
  }

  /** The access token; empty if there is none. */
  get accessToken(): string {
    return this.#credentials.accessToken;
  }

  /** Replaces the access token; a refresh token is forgotten with the old one. */
  set accessToken(accessToken: string) {
    this.#credentials.set({ accessToken });
  }

  /** Application services: the user that every request acts as; undefined: the token's own. */
  get asUserId(): UserID | undefined {
    return this.#options.asUserId;
  }

  /** @internal Whether the server has said of this token that it does not know it. */
  get [IS_TOKEN_DEAD](): boolean {
    return this.#credentials.isDead;
  }

  /** Takes the tokens of a login. */
  setTokens(tokens: Tokens): void {
    this.#credentials.set(tokens);
  }

  /** The largest answer to take, in bytes after decompression. */
  get maxResponseSize(): number {
    return this.#options.maxResponseSize ?? 256 * 2 ** 20;
  }

  /** What ends the session in place of the homeserver; undefined: nothing does. */
  get revokeTokens(): (() => Promise<void> | undefined) | undefined {
    return this.#options.revokeTokens;
  }

  /** Whether a refresh token is held. */
  get isRefreshable(): boolean {
    return this.#credentials.renewable;
  }

  /**
   * Makes a transport to another server, which gets no token.
   *
   * @internal
   * @param baseUrl Its address.
   * @param maxResponseSize The largest answer to take from it, in bytes.
   * @param around What stands around the `fetch` of this one.
   */
  [ELSEWHERE](
    baseUrl: string,
    maxResponseSize: number,
    around: (send: typeof fetch | undefined) => typeof fetch,
  ): HTTPAPI {
    const { fetch: send, log, clock, retry, requestTimeout, userAgent } = this.#options;
    const same = { log, clock, retry, requestTimeout, userAgent };
    return new HTTPAPI({ ...same, baseUrl, maxResponseSize, fetch: around(send) });
  }

  /**
   * Asks an endpoint and gives what its `parse` makes of the answer.
   *
   * @internal
   * @throws {MatrixRequestError} If the homeserver refuses.
   * @throws {NetworkError} If it can't be reached.
   * @throws {ServiceResponseError} If its answer is not what the specification promises; an
   *   {@link AcceptedError} if that is the answer to a change.
   */
  [CALL]<Path extends string, Result>(
    endpoint: Endpoint<Path, Result>,
    call: Call<Path>,
    options: RequestOptions = {},
  ): Promise<Result> {
    return this.#send(endpoint, call, options, async (answer) => {
      const { roomId: room } = call.path as { readonly roomId?: string };
      const body = await readJson(answer, this.maxResponseSize, { mayBeEmpty: endpoint.changes });
      try {
        const result = endpoint.parse(body, answer.request, { room, log: this.log });
        this[IS_ANSWERED] ||= checks(endpoint.parse);
        return result;
      } catch (error) { // what was asked for is done all the same
        if (!(error instanceof ServiceResponseError) || !endpoint.auth || !endpoint.changes) throw error;
        throw new AcceptedError(error);
      }
    });
  }

  /**
   * Asks an endpoint for something that is no JSON.
   *
   * @internal
   * @param read Reads the answer. The request's time limit holds until its promise settles.
   */
  [DOWNLOAD]<Path extends string, Result>(
    endpoint: Endpoint<Path, unknown>,
    call: Call<Path>,
    options: RequestOptions,
    read: ReadAnswer<Result>,
  ): Promise<Result> {
    return this.#send(endpoint, call, options, read);
  }

  /**
   * Reaches any endpoint, with everything the operations have: authorisation, retries, bounds and errors.
   *
   * @param method The HTTP method.
   * @param path The path below the homeserver's address; `{name}` takes the parameter of that name
   *   from `options.path`.
   * @param options The body, the parameters, and the options of every request.
   * @returns The parsed JSON of the answer, unchecked.
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const filter = await client.request("POST", "/_matrix/client/v3/user/{userId}/filter", {
   *   path: { userId: "@alice:localhost" },
   *   body: { room: { timeline: { limit: 5 } } },
   * });
   * ```
   */
  async request<Result = unknown>(
    method: Method,
    path: string,
    options: CustomRequestOptions = {},
  ): Promise<Result> {
    const { path: params = {}, body, idempotent, ...rest } = options;
    const custom = endpoint(`request ${path}`, method, path, unchecked, { idempotent });
    return await this[CALL](custom, { path: params, body }, rest) as Result;
  }

  /** @internal When to begin again with what this was part of, as {@link restartDelay} says. */
  [RESTART_DELAY](error: unknown, restarts: number): number | undefined {
    return restartDelay(error, restarts, this.#retry);
  }

  /**
   * The time limit of a request in which the server is asked to wait, in milliseconds; 0: none.
   *
   * @param wait How long the server may wait.
   * @param needs What it gets beyond that, unless the client's `requestTimeout` says.
   */
  limit(wait: number, needs = GRACE): number {
    const { requestTimeout = needs } = this.#options;
    return requestTimeout === 0 ? 0 : wait + requestTimeout;
  }

  /** One request with all its tries; `read` reads the result from the answer, as part of a try. */
  async #send<Path extends string, Result>(
    endpoint: Endpoint<Path, unknown>,
    call: Call<Path>,
    options: RequestOptions,
    read: ReadAnswer<Result>,
  ): Promise<Result> {
    const { operation, method, auth } = endpoint;
    checkRequestOptions(options, operation);
    const path = fillPath(endpoint.path, call.path as Record<string, string>);
    await this.#options[PREPARE]?.(operation, call.path as Record<string, string>, options);
    if (options.query !== undefined && endpoint.sendsEvent) checkSendQuery(options.query, operation);
    const query = queryString(call.query, identityQuery(options, this.#options), options.query);
    const request: Exchange = {
      operation,
      method,
      path,
      url: `${this.#address.url || await this.#address.find(options.signal)}${path}${query}`,
      headers: this.#headersFor(options),
      json: method === "GET" || call.raw !== undefined ? undefined : toJSON(call.body ?? {}, operation),
      raw: call.raw,
      timeout: options.requestTimeout ?? this.#options.requestTimeout ?? 60_000,
      signal: options.signal,
      credentials: () => this.#credentials.all,
      fetch: this[IS_ANSWERED] || call.raw !== undefined
        ? this.#fetch
        : this.#fetchFirst(SILENCE + Number(call.query?.timeout ?? 0)),
      onTime: this[SKEW] === undefined ? this.#noteTime : undefined,
      clock: this.clock,
      log: this.log,
    };
    const once = (resends: number) => this.#once(request, { auth, resends }, read);
    const user = options.asUserId ?? this.#options.asUserId;
    const policy = retryPolicy(this.#retry, options.retry);
    const attempted = { endpoint, call, options, request, policy, user };
    if (!(REGISTERED in globalThis)) return await this.#tries.run(attempted, once);
    const { traced } = await import("./trace.ts");
    return await traced(endpoint, once, (attempt) => this.#tries.run(attempted, attempt));
  }

  /** Asks where nobody has answered yet, and says so if that takes long: the address may be wrong. */
  #fetchFirst(long: number): typeof fetch {
    return async (input, init) => {
      const over = alarm(this.clock, long, () => this.#tellSilence());
      try {
        return await this.#fetch(input, init);
      } finally {
        over();
      }
    };
  }

  #tellSilence(): void {
    if (this[IS_ANSWERED] || this.#isSilent) return;
    this.#isSilent = true;
    const { url: address } = this.#address;
    const speaks = address.startsWith("https:") ? ", and that it speaks TLS (https) there" : "";
    this.log.warn(
      `The homeserver does not answer yet; check that it runs at this address and port${speaks}`,
      {
        address,
      },
    );
  }

  /** One try: with the access token, which is replaced if it has come to its end, or without any. */
  async #once<Result>(
    request: Exchange,
    { auth, resends }: { readonly auth: boolean; readonly resends: number },
    read: ReadAnswer<Result>,
  ): Promise<Result> {
    const credentials = this.#credentials;
    let isFresh = auth && credentials.stale &&
      await credentials.renew(credentials.accessToken, "expired") === "refreshed";
    for (let renewals = 0;; renewals++) {
      const token = auth ? credentials.accessToken : "";
      try {
        return await exchange(request, { token, resends }, read);
      } catch (error) {
        this[IS_ANSWERED] ||= isMatrixRefusal(error);
        if (!auth || !(error instanceof UnknownTokenError)) throw error;
        const renewal = renewals < MAX_RENEWALS ? await this.#renewed(error, { token, isFresh }) : "none";
        if (renewal === "none") {
          credentials.died(token);
          if (credentials.isDead) this.#options[TOKEN_DIED]?.(); // there may be another by now
        }
        if (renewal === "none" || request.raw?.repeatable === false) throw error;
        isFresh = renewal === "refreshed";
      }
    }
  }

  /** Gets other tokens in place of refused ones. One that was just refreshed is again once it has expired. */
  async #renewed(
    { isSoftLogout }: UnknownTokenError,
    { token, isFresh }: { readonly token: string; readonly isFresh: boolean },
  ): Promise<Renewal> {
    const credentials = this.#credentials;
    if (isSoftLogout && credentials.renewable && (!isFresh || credentials.stale)) {
      const renewal = await credentials.renew(token, "expired");
      if (renewal !== "none") return renewal;
    }
    return await credentials.renew(token, isSoftLogout ? "soft-logout" : "logout");
  }

  readonly #noteTime = (time: ServerTime): void => {
    this[SKEW] ??= skewOf(time);
  };

  readonly #refresh = async (refreshToken: string): Promise<Tokens> => {
    const body = { refresh_token: refreshToken };
    const answer = await this[CALL](refreshEndpoint, { path: {}, body });
    return {
      accessToken: answer.access_token,
      refreshToken: answer.refresh_token ?? refreshToken,
      expiresIn: answer.expires_in_ms,
    };
  };

  /** The headers that go with a request: made once for all requests without their own. */
  #headersFor({ headers }: RequestOptions): Readonly<Record<string, string>> {
    if (headers === undefined && this.#headers !== undefined) return this.#headers;
    const own = { "user-agent": this.#options.userAgent ?? "greenroom" };
    if (headers !== undefined) return requestHeaders({ ...own, ...headers });
    return this.#headers = requestHeaders(own);
  }
}

function toJSON(body: object, operation: string): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw new ValueError(`Cannot ${operation}: the body can't be written as JSON`, { cause });
  }
}
