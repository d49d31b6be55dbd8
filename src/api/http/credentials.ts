/**
 * The access token and how it is renewed.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#refreshing-access-tokens | Refreshing access tokens}
 * @module
 */

import { type Clock, elapsed } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { UnknownTokenError } from "../../errors/account_errcodes.ts";
import { ForbiddenError } from "../../errors/request_errcodes.ts";
import { ValueError } from "../../errors/value_error.ts";
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
  expiresInMs?: number;
}

/** Asks the server for the next pair. */
export type RefreshTokens = (refreshToken: string) => Promise<Tokens>;

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
   * - `expired`: the access token has expired; the refresh token is used next, if nothing is found.
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

/** What the tokens of a client are renewed with. */
export interface CredentialsOptions {
  /** By which a token expires. */
  readonly clock: Clock;
  /** Asks the server for the next pair. */
  readonly refresh: RefreshTokens;
  /** Persists a new pair. */
  readonly onRefreshed: OnTokensRefreshed | undefined;
  /** Finds other tokens. */
  readonly find: FindTokens | undefined;
  /** Logs what is not an error of a request. */
  readonly log: Logger;
}

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
  readonly #options: CredentialsOptions;
  #tokens: Tokens = { accessToken: "" };
  #takenAt = 0;
  #renewing: Promise<Renewal> | undefined;
  #isDead = false;

  /** @param options What they are renewed with. */
  constructor(options: CredentialsOptions) {
    this.#options = options;
  }

  /** The access token; empty if there is none. */
  get accessToken(): string {
    return this.#tokens.accessToken;
  }

  /** All tokens that there are. */
  get all(): readonly string[] {
    return [this.#tokens.accessToken, this.#tokens.refreshToken ?? ""];
  }

  /** Whether there is a refresh token. */
  get renewable(): boolean {
    return this.#tokens.refreshToken !== undefined;
  }

  /**
   * Whether the server said that the access token has expired by now, and there is a way to a new
   * one.
   */
  get stale(): boolean {
    const { expiresInMs } = this.#tokens;
    return this.renewable && expiresInMs !== undefined &&
      elapsed(this.#options.clock.now(), this.#takenAt) >= expiresInMs;
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
        "Cannot use the access token: it holds characters that no token has, like a line break",
      );
    }
    this.#isDead &&= tokens.accessToken === this.accessToken;
    const { accessToken, refreshToken, expiresInMs } = tokens;
    this.#tokens = { accessToken, refreshToken, expiresInMs };
    this.#takenAt = this.#options.clock.now();
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
    const { find } = this.#options;
    const found = await find?.({ tokens: { ...tokens }, end });
    if (found !== undefined && found.accessToken !== tokens.accessToken) {
      this.#replace(tokens, found);
      return "found";
    }
    if (end !== "expired" || tokens.refreshToken === undefined) return "none";
    return await this.#refresh(tokens, tokens.refreshToken);
  }

  async #refresh(used: Tokens, refreshToken: string): Promise<Renewal> {
    const { refresh, onRefreshed, log } = this.#options;
    let tokens: Tokens;
    try {
      tokens = { refreshToken, ...await refresh(refreshToken) };
    } catch (error) {
      if (!(error instanceof UnknownTokenError || error instanceof ForbiddenError)) throw error;
      const { status, errcode } = error;
      log.warn("The homeserver refuses the refresh token", { status, errcode });
      if (this.#tokens === used) this.#tokens = { ...used, refreshToken: undefined }; // it is of no use again
      return "none";
    }
    const others = await onRefreshed?.(tokens, { ...used });
    // Used only now: the first use makes the old pair void.
    this.#replace(used, others ?? tokens);
    return "refreshed";
  }

  /** Takes tokens, unless there are others by now, as of a login. */
  #replace(used: Tokens, tokens: Tokens): void {
    if (this.#tokens === used) this.set(tokens);
  }
}
