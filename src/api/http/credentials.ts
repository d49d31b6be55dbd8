/**
 * Where a homeserver is and whom it knows a client by: the address, known from the start or found out when
 * that is needed first; the access token, and how it is renewed.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#refreshing-access-tokens | Refreshing access tokens}
 * @module
 */

import { abortable } from "@std/async/abortable";
import { type Clock, elapsed } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { UnknownTokenError } from "../../errors/account_errcodes.ts";
import { ForbiddenError } from "../../errors/errcodes.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { RefreshResponse } from "../../types/api/login.ts";
import { type Endpoint, endpoint, fields } from "./endpoint.ts";

/** Gives the next pair of tokens. */
export const refreshEndpoint: Endpoint<"/_matrix/client/v3/refresh", RefreshResponse> = endpoint(
  "refresh",
  "POST",
  "/_matrix/client/v3/refresh",
  fields<RefreshResponse>({
    access_token: "string",
    refresh_token: "string?",
    expires_in_ms: "number?",
  }),
  { auth: false, idempotent: true }, // the old refresh token is good until a new one of the pair is used
);

/** A pair of tokens, as a login or a refresh gives it. */
export interface Tokens {
  /** Authorises requests. */
  accessToken: string;
  /** Buys the next pair; absent if the access token does not expire. */
  refreshToken?: string;
  /**
   * How long the access token lives, in milliseconds; absent if it does not expire, or the server
   * does not say.
   */
  expiresIn?: number;
}

/**
 * Persists a new pair. The old one becomes void when the new one is used first, so requests wait
 * for the promise.
 *
 * @param tokens The new pair.
 * @param used The pair that it comes from.
 * @returns Nothing; or another pair to use in its place, as when another process with the same device
 *   has persisted its own first.
 */
export type OnTokensRefreshed = (tokens: Tokens, used: Tokens) => void | Tokens | Promise<void | Tokens>;

/** Tokens that have come to their end. */
export interface EndedTokens {
  /** The access token that is refused, with the refresh token that belongs to it. */
  readonly tokens: Tokens;
  /**
   * How they have ended:
   *
   * - `expired`: the access token has expired; if nothing is found, the refresh token is used next,
   *   or there is none, and the access token is used as it is.
   * - `soft-logout`: there is no refresh token either, or the homeserver refuses it; the device is
   *   still there, and a login with its ID goes on with it.
   * - `logout`: the homeserver does not know the access token. If another process has not replaced it,
   *   the session has been logged out, and its device is deleted.
   */
  readonly end: "expired" | "soft-logout" | "logout";
}

/**
 * Finds tokens in place of those that have come to their end: where another process with the same
 * device has put newer ones, or by a login with the device's ID. Requests wait for it, so of its own
 * client it may use `login()` alone.
 *
 * @returns The tokens to go on with; nothing if there are none.
 */
export type FindTokens = (ended: EndedTokens) => Tokens | undefined | Promise<Tokens | undefined>;

/** What has become of tokens that had ended. */
export type Renewal =
  /** There are others. */
  | "found"
  /** There are others, for which the refresh token was used. */
  | "refreshed"
  /** There are no others. */
  | "none";

/** Stores the tokens of one client, and renews them one renewal at a time. */
export class Credentials {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #ask: (refreshToken: string) => Promise<Tokens>;
  readonly #given: { readonly onTokensRefreshed?: OnTokensRefreshed; readonly findTokens?: FindTokens };
  #tokens: Tokens = { accessToken: "" };
  #takenAt = 0;
  #renewing: Promise<Renewal> | undefined;
  #isDead = false;

  /**
   * @param transport By whose clock a token expires, and who logs what is not an error of a request.
   * @param ask Asks the server for the next pair.
   * @param given What persists a new pair, and what finds others.
   */
  constructor(
    { clock, log }: { readonly clock: Clock; readonly log: Logger },
    ask: (refreshToken: string) => Promise<Tokens>,
    given: { readonly onTokensRefreshed?: OnTokensRefreshed; readonly findTokens?: FindTokens },
  ) {
    [this.#clock, this.#log, this.#ask, this.#given] = [clock, log, ask, given];
  }

  /** The access token; empty if there is none. */
  get accessToken(): string {
    return this.#tokens.accessToken;
  }

  /** All tokens that there are. */
  get all(): readonly string[] {
    return [this.accessToken, this.#tokens.refreshToken ?? ""];
  }

  /** Whether there is a refresh token. */
  get renewable(): boolean {
    return this.#tokens.refreshToken !== undefined;
  }

  /** Whether the access token has expired, as the server said, and there is a way to a new one. */
  get stale(): boolean {
    const { refreshToken = this.#given.findTokens, expiresIn } = this.#tokens;
    return refreshToken !== undefined && expiresIn !== undefined &&
      elapsed(this.#clock.now(), this.#takenAt) >= expiresIn;
  }

  /** Whether the server does not know the access token any more, and there is no new one. */
  get isDead(): boolean {
    return this.#isDead;
  }

  /** Notes that the server does not know a token. */
  died(token: string): void {
    this.#isDead ||= token === this.accessToken;
  }

  /**
   * Takes a pair of tokens.
   *
   * @throws {ValueError} If the access token can't stand in a header.
   */
  set(tokens: Tokens): void {
    if (!/^[\x21-\x7e]*$/.test(tokens.accessToken)) {
      throw new ValueError(
        "Cannot use the access token: it holds characters that no token has, like a line break (a bot: MATRIX_TOKEN)",
      );
    }
    this.#isDead &&= tokens.accessToken === this.accessToken;
    const { accessToken, refreshToken, expiresIn } = tokens;
    this.#tokens = { accessToken, refreshToken, expiresIn };
    this.#takenAt = this.#clock.now();
  }

  /**
   * Gets other tokens, unless that has happened since `used` was read.
   *
   * @param used The access token that has come to its end.
   * @param end How.
   */
  async renew(used: string, end: EndedTokens["end"]): Promise<Renewal> {
    if (used !== this.accessToken) return this.accessToken === "" ? "none" : "found";
    this.#renewing ??= this.#renew(this.#tokens, end).finally(() => this.#renewing = undefined);
    return await this.#renewing;
  }

  async #renew(tokens: Tokens, end: EndedTokens["end"]): Promise<Renewal> {
    const found = await this.#given.findTokens?.({ tokens: { ...tokens }, end });
    if (found !== undefined && found.accessToken !== tokens.accessToken) {
      this.#replace(tokens, found);
      return "found";
    }
    if (end !== "expired" || tokens.refreshToken === undefined) return "none";
    return await this.#refresh(tokens, tokens.refreshToken);
  }

  async #refresh(used: Tokens, refreshToken: string): Promise<Renewal> {
    let tokens: Tokens;
    try {
      tokens = { refreshToken, ...await this.#ask(refreshToken) };
    } catch (error) {
      if (!(error instanceof UnknownTokenError || error instanceof ForbiddenError)) throw error;
      const { status, errcode } = error;
      this.#log.warn("The homeserver refuses the refresh token", { status, errcode });
      if (this.#tokens === used) this.#tokens = { ...used, refreshToken: undefined }; // it is of no use again
      return "none";
    }
    const others = await this.#given.onTokensRefreshed?.(tokens, { ...used });
    // Used only now: the first use makes the old pair void.
    this.#replace(used, others ?? tokens);
    return "refreshed";
  }

  /** Takes tokens, unless there are others by now, as of a login. */
  #replace(used: Tokens, tokens: Tokens): void {
    if (this.#tokens === used) this.set(tokens);
  }
}

/** Finds out where a homeserver is; the signal aborts when the address is not needed any more. */
export type FindAddress = (signal: AbortSignal) => Promise<string | URL>;

/** A search under way, and for how many. */
interface Search {
  readonly abort: AbortController;
  readonly found: Promise<string>;
  waiting: number;
}

/** The address of one homeserver. */
export class Address {
  #url: string;
  readonly #find: FindAddress | undefined;
  #search: Search | undefined;

  /**
   * @param given The address, or what finds it.
   * @throws {ValueError} If it can't be one.
   */
  constructor(given: string | URL | FindAddress) {
    this.#find = typeof given === "function" ? given : undefined;
    this.#url = typeof given === "function" ? "" : checkedBaseUrl(given);
  }

  /** The address, without a slash at its end; empty until it was found. */
  get url(): string {
    return this.#url;
  }

  /** Moves to another address. */
  set url(url: string | URL) {
    this.#url = checkedBaseUrl(url);
  }

  /**
   * Finds the address: once for all calls that overlap, and again after a failure. A search that no
   * call waits for any more is aborted.
   */
  async find(signal?: AbortSignal): Promise<string> {
    signal?.throwIfAborted();
    const search = this.#search ??= this.#begin();
    search.waiting++;
    try {
      return await (signal ? abortable(search.found, signal) : search.found);
    } finally {
      if (--search.waiting === 0) {
        search.abort.abort();
        if (this.#search === search) this.#search = undefined;
      }
    }
  }

  #begin(): Search {
    const abort = new AbortController();
    const found = this.#found(abort.signal);
    found.catch(() => {}); // reported to those calls that wait
    return { abort, found, waiting: 0 };
  }

  /** What is found, unless the address was set meanwhile. */
  async #found(signal: AbortSignal): Promise<string> {
    const found = checkedBaseUrl(await this.#find?.(signal) ?? "");
    return this.#url ||= found;
  }
}

/**
 * A homeserver's address as the transport keeps it: without a slash at its end.
 *
 * @throws {ValueError} If it is no absolute `http` or `https` URL, or has more than a host and a
 *   path.
 */
export function checkedBaseUrl(url: string | URL): string {
  const parsed = URL.parse(url);
  if (parsed === null || (parsed.protocol !== "https:" && parsed.protocol !== "http:")) {
    throw new ValueError(`Cannot use the base URL${shown(url)}: it must be an absolute http or https URL`);
  }
  if (parsed.username !== "" || parsed.password !== "" || parsed.search !== "" || parsed.hash !== "") {
    throw new ValueError("Cannot use the base URL: it must have no user name, password, query or fragment");
  }
  if (/\/_matrix(?:\/|$)/.test(parsed.pathname)) {
    throw new ValueError("Cannot use the base URL: it must end where /_matrix begins; leave out the rest");
  }
  return `${parsed.origin}${parsed.pathname}`.replace(/(?<!\/)\/+$/, "");
}

/** What was given, if it looks like an address: else it may hold a password, or be a token. */
function shown(url: string | URL): string {
  const text = String(url);
  return /^[a-z\d.:/[\]-]{1,200}$/i.test(text) ? ` "${text}"` : "";
}
