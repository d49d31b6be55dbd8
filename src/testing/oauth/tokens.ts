/**
 * Tokens as the Matrix Authentication Service gives them, and as Synapse asks it about them.
 *
 * A refresh token works once. The last one that was used works again as long as neither of the tokens that
 * it was answered with has been used: that answer may have been lost. So it is in the Matrix Authentication
 * Service (`crates/handlers/src/oauth2/token.rs`, read at commit 682b8d26).
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { UserID } from "../../types/ids.ts";
import type { IdGenerator } from "../homeserver_options.ts";
import { Failure } from "../json/json.ts";
import type { Device, Session, User } from "../users/mod.ts";
import { OAuthRefusal, refusal } from "./clients.ts";

/** For how long Synapse believes what it was answered about an access token, in milliseconds. */
const BELIEVED = 120_000;

/** A login: what all of its tokens have in common. */
export interface OAuthLogin {
  readonly clientId: string;
  readonly user: User;
  readonly device: Device;
  readonly scope: string;
  /** Whether the scope allows to use the client-server API. */
  readonly opensApi: boolean;
  /** Whether its tokens have been revoked. */
  isOver: boolean;
}

interface AccessToken extends Session {
  readonly login: OAuthLogin;
  expiresAt: number;
  isRevoked: boolean;
  wasUsed: boolean;
  /** What Synapse believes, and until when. */
  believed: { readonly isActive: boolean; readonly until: number };
}

interface RefreshToken {
  readonly value: string;
  readonly login: OAuthLogin;
  readonly access: AccessToken;
  state: "fresh" | "used" | "revoked";
  /** What it was exchanged for last. */
  next: RefreshToken | undefined;
}

/** What the tokens need of the homeserver. */
interface TokenHost {
  readonly settings: {
    readonly clock: Clock;
    readonly ids: IdGenerator;
    readonly accessTokenLifetime: number;
  };
  deleteDevice(user: User, id: string): void;
}

/** All tokens of an authorization server. */
export class OAuthTokens {
  readonly #host: TokenHost;
  readonly #logins = new Set<OAuthLogin>();
  readonly #access = new Map<string, AccessToken>();
  readonly #refresh = new Map<string, RefreshToken>();

  /** Makes an empty set. */
  constructor(host: TokenHost) {
    this.#host = host;
  }

  /** Begins a login with its first tokens. */
  open(init: Omit<OAuthLogin, "isOver">): Record<string, unknown> {
    const login = { ...init, isOver: false };
    this.#logins.add(login);
    return this.#answer(this.#issue(login));
  }

  /** The session of an access token as Synapse sees it; undefined if this is none of these tokens. */
  find(value: string): Session | undefined {
    const token = this.#access.get(value);
    if (token === undefined) return undefined;
    const { now } = this;
    if (now >= token.believed.until) {
      const isActive = !token.isRevoked && !token.login.isOver && now < token.expiresAt;
      token.believed = { isActive, until: now + BELIEVED };
      if (isActive) token.wasUsed = true;
    }
    const { user, device } = token;
    const isThere = device.id === "" || user.devices.has(device.id);
    if (!token.believed.isActive || now >= token.expiresAt || !isThere) {
      throw unknownToken("Token is not active");
    }
    if (token.login.opensApi) return token;
    throw unknownToken("Token doesn't grant access to the Matrix C-S API");
  }

  /** Finds the user of an access token, whether or not it still works. */
  userOf(value: string): UserID | undefined {
    return this.#access.get(value)?.user.id;
  }

  /** Exchanges a refresh token for new tokens. */
  refresh(clientId: string, value: string): Record<string, unknown> {
    const token = this.#refresh.get(value);
    if (token === undefined || token.login.isOver || token.login.clientId !== clientId) throw invalidGrant();
    if (token.state !== "fresh") {
      const { next } = token;
      if (next?.state !== "fresh" || next.access.wasUsed) throw invalidGrant();
      next.state = "revoked";
      next.access.isRevoked = true;
    }
    token.state = "used";
    token.access.isRevoked = true;
    token.next = this.#issue(token.login);
    return this.#answer(token.next);
  }

  /**
   * Ends the login of a token, and deletes its device. A token that does not work any more, or is of the
   * other kind than the client says, ends nothing.
   */
  revoke(clientId: string, value: string, kind: string | undefined): void {
    const access = kind === "refresh_token" ? undefined : this.#access.get(value);
    const refresh = kind === "access_token" ? undefined : this.#refresh.get(value);
    const works = access !== undefined && !access.isRevoked && this.now < access.expiresAt ||
      refresh?.state === "fresh";
    const login = access?.login ?? refresh?.login;
    if (login === undefined || login.isOver || !works) return;
    if (login.clientId !== clientId) {
      throw new OAuthRefusal(401, "unauthorized_client", "This token is another client's");
    }
    this.end(login);
  }

  /** Ends all logins of a user. */
  endAll(user: User): void {
    for (const login of this.#logins) if (login.user === user) this.end(login);
  }

  /** Ends a login, and deletes its device, unless another login has it too. */
  end(login: OAuthLogin): void {
    login.isOver = true;
    this.#logins.delete(login);
    const { user, device } = login;
    if ([...this.#logins].some((other) => other.user === user && other.device.id === device.id)) return;
    if (user.devices.has(device.id)) this.#host.deleteDevice(user, device.id);
  }

  /** Makes the access tokens of a user expire now. */
  expire(user: User): void {
    for (const token of this.#access.values()) {
      if (token.user === user) token.expiresAt = Math.min(token.expiresAt, this.now);
    }
  }

  /** The time, in milliseconds since the epoch. */
  get now(): number {
    return this.#host.settings.clock.now();
  }

  #issue(login: OAuthLogin): RefreshToken {
    const { ids, accessTokenLifetime } = this.#host.settings;
    const access: AccessToken = {
      login,
      user: login.user,
      device: login.device,
      token: `mat_${ids.next("access_token", 32)}`,
      refreshToken: undefined,
      expiresAt: this.now + accessTokenLifetime,
      isRevoked: false,
      wasUsed: false,
      believed: { isActive: false, until: -Infinity },
    };
    const value = `mar_${ids.next("refresh_token", 32)}`;
    const refresh: RefreshToken = { value, login, access, state: "fresh", next: undefined };
    this.#access.set(access.token, access);
    this.#refresh.set(value, refresh);
    return refresh;
  }

  #answer({ access, value, login }: RefreshToken): Record<string, unknown> {
    return {
      access_token: access.token,
      token_type: "Bearer",
      expires_in: Math.floor((access.expiresAt - this.now) / 1000),
      refresh_token: value,
      scope: login.scope,
    };
  }
}

function unknownToken(message: string): Failure {
  return new Failure(401, "M_UNKNOWN_TOKEN", message, { extra: { soft_logout: false } });
}

/** What was to be exchanged is worth nothing. */
export const invalidGrant = (description = "The grant is invalid, expired or revoked"): Failure =>
  refusal("invalid_grant", description);
