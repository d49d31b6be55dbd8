/**
 * The access token and how it is renewed.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#refreshing-access-tokens | Refreshing access tokens}
 * @module
 */

import { type Clock, elapsed } from "../../base/clock.ts";
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
 */
export type OnTokensRefreshed = (tokens: Tokens) => void | Promise<void>;

/** Stores the tokens of one client, and renews them one refresh at a time. */
export class Credentials {
  readonly #clock: Clock;
  readonly #onRefreshed: OnTokensRefreshed | undefined;
  #accessToken = "";
  #refreshToken: string | undefined;
  #takenAt = 0;
  #expiresInMs: number | undefined;
  #refreshing: Promise<void> | undefined;
  #isDead = false;

  /**
   * @param clock By which a token expires.
   * @param onRefreshed Persists a new pair.
   */
  constructor(clock: Clock, onRefreshed: OnTokensRefreshed | undefined) {
    this.#clock = clock;
    this.#onRefreshed = onRefreshed;
  }

  /** The access token; empty if there is none. */
  get accessToken(): string {
    return this.#accessToken;
  }

  /** All tokens that there are. */
  get all(): readonly string[] {
    return [this.#accessToken, this.#refreshToken ?? ""];
  }

  /** Whether there is a refresh token. */
  get renewable(): boolean {
    return this.#refreshToken !== undefined;
  }

  /**
   * Whether the server said that the access token has expired by now, and there is a way to a new
   * one.
   */
  get stale(): boolean {
    const expiresInMs = this.#expiresInMs;
    return this.renewable && expiresInMs !== undefined &&
      elapsed(this.#clock.now(), this.#takenAt) >= expiresInMs;
  }

  /** Whether the server does not know the access token any more, and there is no new one. */
  get isDead(): boolean {
    return this.#isDead;
  }

  /** Notes that the server does not know a token. */
  died(token: string): void {
    this.#isDead ||= token === this.#accessToken;
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
    this.#isDead &&= tokens.accessToken === this.#accessToken;
    this.#accessToken = tokens.accessToken;
    this.#refreshToken = tokens.refreshToken;
    this.#takenAt = this.#clock.now();
    this.#expiresInMs = tokens.expiresInMs;
  }

  /**
   * Renews the access token, unless that has happened since `used` was read.
   *
   * @param used The token that turned out to be void.
   */
  async renew(used: string, refresh: RefreshTokens): Promise<void> {
    const refreshToken = this.#refreshToken;
    if (used !== this.#accessToken || refreshToken === undefined) return;
    this.#refreshing ??= this.#renew(refreshToken, refresh).finally(() => this.#refreshing = undefined);
    await this.#refreshing;
  }

  async #renew(refreshToken: string, refresh: RefreshTokens): Promise<void> {
    const tokens = { refreshToken, ...await refresh(refreshToken) };
    await this.#onRefreshed?.(tokens);
    // Used only now: the first use makes the old pair void.
    if (this.#refreshToken === refreshToken) this.set(tokens);
  }
}
