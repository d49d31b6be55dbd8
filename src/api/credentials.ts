/**
 * The access token and how it is renewed.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#refreshing-access-tokens | Refreshing access tokens}
 * @module
 */

import type { Clock } from "../clock.ts";

/** A pair of tokens, as a login or a refresh gives it. */
export interface Tokens {
  /** Authorises requests. */
  accessToken: string;
  /** Buys the next pair; absent if the access token does not expire. */
  refreshToken?: string;
  /** How long the access token lives, in milliseconds; absent if it does not expire, or the server does not say. */
  expiresInMs?: number;
}

/** Asks the server for the next pair. */
export type RefreshTokens = (refreshToken: string) => Promise<Tokens>;

/** Persists a new pair; the old one is void from then on, so requests wait for the promise. */
export type OnTokensRefreshed = (tokens: Tokens) => void | Promise<void>;

/** Holds the tokens of one client; renews them one refresh at a time, whoever asks. */
export class Credentials {
  readonly #clock: Clock;
  readonly #onRefreshed: OnTokensRefreshed | undefined;
  #accessToken = "";
  #refreshToken: string | undefined;
  #expiresAt = Infinity;
  #refreshing: Promise<void> | undefined;

  /**
   * @param clock Tells when a token has expired.
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

  /** Whether there is a refresh token. */
  get renewable(): boolean {
    return this.#refreshToken !== undefined;
  }

  /** Whether the server said that the access token has expired by now. */
  get expired(): boolean {
    return this.#clock.now() >= this.#expiresAt;
  }

  /** Takes a pair of tokens. */
  set(tokens: Tokens): void {
    this.#accessToken = tokens.accessToken;
    this.#refreshToken = tokens.refreshToken;
    this.#expiresAt = this.#clock.now() + (tokens.expiresInMs ?? Infinity);
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
    this.set(tokens);
    await this.#onRefreshed?.(tokens);
  }
}
