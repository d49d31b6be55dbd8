/**
 * What clients ask a person for, and what they get for the answer: device codes, authorization codes, and
 * tokens as the Matrix Authentication Service gives them, and as Synapse asks it about them.
 *
 * A refresh token works once. The last one that was used works again as long as neither of the tokens that it
 * was answered with has been used: that answer may have been lost. So it is in the Matrix Authentication
 * Service (`crates/handlers/src/oauth2/token.rs`, read at commit 682b8d26).
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc8628 | RFC 8628}
 * @see {@link https://www.rfc-editor.org/rfc/rfc7636 | RFC 7636}
 *
 * Over 300 lines because what is asked for and the tokens for it are one story.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { UserID } from "../../types/ids.ts";
import type { IdGenerator } from "../homeserver_options.ts";
import { Failure } from "../json/json.ts";
import type { Device, Session, User } from "../users/mod.ts";
import {
  type OAuthClient,
  type OAuthClients,
  OAuthRefusal,
  problemOf,
  redirectUriOf,
  refusal,
} from "./clients.ts";

/** What a client asks a person for. */
interface Asked {
  readonly client: OAuthClient;
  readonly scope: string;
}

/** What a client gets its tokens for. */
export interface Approved extends Asked {
  readonly user: User;
}

/** A device code. */
interface DeviceAuthorization extends Asked {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly expiresAt: number;
  state: "pending" | "denied" | "approved" | "exchanged";
  /** Who has approved it. */
  user: User | undefined;
  /** How long the client waits before it asks again, in milliseconds. */
  interval: number;
  /** When it asked last. */
  askedAt: number;
}

interface AuthorizationCode extends Approved {
  readonly redirectUri: string;
  readonly challenge: string;
  readonly approvedAt: number;
  isExchanged: boolean;
}

/** What a client adds to its interval when it has asked too soon. */
const SLOWER = 5_000;
/** How long an authorization code can be exchanged, in milliseconds. */
const CODE_LIFETIME = 600_000;

/** All device codes. */
export class DeviceAuthorizations {
  readonly #ids: IdGenerator;
  readonly #byDeviceCode = new Map<string, DeviceAuthorization>();

  /** Makes an empty set. */
  constructor(ids: IdGenerator) {
    this.#ids = ids;
  }

  /** Makes a device code. */
  add(asked: Asked, { expiresAt, interval }: { expiresAt: number; interval: number }): DeviceAuthorization {
    const authorization: DeviceAuthorization = {
      ...asked,
      deviceCode: this.#ids.next("device_code", 32),
      userCode: this.#ids.next("user_code", 6).toUpperCase(),
      expiresAt,
      state: "pending",
      user: undefined,
      interval,
      askedAt: -Infinity,
    };
    this.#byDeviceCode.set(authorization.deviceCode, authorization);
    return authorization;
  }

  /** Those that wait for a person. */
  pending(now: number): DeviceAuthorization[] {
    return [...this.#byDeviceCode.values()].filter(({ state, expiresAt }) =>
      state === "pending" && now < expiresAt
    );
  }

  /** Exchanges a device code, or says why it can't be exchanged now. */
  exchange(client: OAuthClient, deviceCode: string, now: number): Approved {
    const authorization = this.#byDeviceCode.get(deviceCode);
    if (authorization?.client !== client) throw invalidGrant();
    if (now >= authorization.expiresAt) throw not("expired_token", "The device code has expired");
    const isTooSoon = now < authorization.askedAt + authorization.interval;
    authorization.askedAt = now;
    const { state, user, scope } = authorization;
    if (state === "denied") throw not("access_denied", "The person has denied the request");
    if (state === "pending" && isTooSoon) {
      authorization.interval += SLOWER;
      throw not("slow_down", "The client asks too often");
    }
    if (state === "pending") throw not("authorization_pending", "The authorization request is still pending");
    if (state === "exchanged" || user === undefined) throw invalidGrant();
    authorization.state = "exchanged";
    return { client, user, scope };
  }
}

/** The Matrix Authentication Service says 403 here, where RFC 8628 has 400. */
function not(error: string, description: string): OAuthRefusal {
  return new OAuthRefusal(403, error, description);
}

/** All authorization codes. */
export class AuthorizationCodes {
  readonly #ids: IdGenerator;
  readonly #codes = new Map<string, AuthorizationCode>();

  /** Makes an empty set. */
  constructor(ids: IdGenerator) {
    this.#ids = ids;
  }

  /** Makes a code. */
  add(code: Omit<AuthorizationCode, "isExchanged">): string {
    const value = this.#ids.next("authorization_code", 32);
    this.#codes.set(value, { ...code, isExchanged: false });
    return value;
  }

  /** Exchanges a code, once. */
  async exchange(client: OAuthClient, form: URLSearchParams, now: number): Promise<Approved> {
    const verifier = form.get("code_verifier");
    if (verifier === null) throw refusal("invalid_request", "missing code_verifier");
    const challenge = await challengeOf(verifier);
    const code = this.#codes.get(form.get("code") ?? "");
    if (code === undefined || code.isExchanged || now > code.approvedAt + CODE_LIFETIME) throw invalidGrant();
    if (code.client !== client) {
      throw new OAuthRefusal(401, "unauthorized_client", "This code is another client's");
    }
    if (code.redirectUri !== form.get("redirect_uri")) throw invalidGrant("redirect_uri is another one");
    if (challenge !== code.challenge) throw invalidGrant("PKCE verification failed");
    code.isExchanged = true;
    return code;
  }
}

async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return new Uint8Array(digest).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Refuses what a person could not approve. */
export function requireApprovable(scope: string, user: User | undefined): User {
  const problem = user === undefined || user.deactivated ? "there is no such user" : problemOf(scope);
  if (problem === undefined && user !== undefined) return user;
  throw new ValueError(`Cannot approve the login: ${problem}`);
}

/** A request of a browser that the authorization endpoint has understood. */
export interface BrowserRequest {
  readonly client: OAuthClient;
  readonly redirectUri: string;
  readonly query: URLSearchParams;
}

/** Reads what a browser asks for, and refuses on the spot what it can't be redirected for. */
export function readBrowserRequest({ searchParams: query }: URL, clients: OAuthClients): BrowserRequest {
  const client = clients.get(query.get("client_id") ?? undefined);
  const redirectUri = redirectUriOf(client, query.get("redirect_uri") ?? undefined);
  if (redirectUri === undefined) {
    throw refusal("invalid_request", "The client has not registered this redirect_uri");
  }
  const mode = query.get("response_mode") ?? "query";
  if (mode !== "query" && mode !== "fragment") throw refusal("invalid_request", "invalid response mode");
  return { client, redirectUri, query };
}

/** Says what is wrong with a request of a browser, for the client. */
export function refusalOf({ client, query }: BrowserRequest): Record<string, string> | undefined {
  if (query.get("response_type") !== "code") return { error: "unsupported_response_type" };
  if (query.get("prompt") === "none") return { error: "login_required" };
  if (!client.grantTypes.includes("authorization_code")) return { error: "unauthorized_client" };
  if (
    query.get("code_challenge_method") !== "S256" || !/^[\w-]{43}$/.test(query.get("code_challenge") ?? "")
  ) {
    return { error: "invalid_request", error_description: "PKCE with S256 is needed" };
  }
  return undefined;
}

/** Returns the address to which a browser takes an answer for the client. */
export function backTo({ redirectUri, query }: BrowserRequest, answer: Record<string, string>): string {
  const state = query.get("state");
  const params = new URLSearchParams({ ...answer, ...(state !== null && { state }) });
  const url = new URL(redirectUri);
  if (query.get("response_mode") === "fragment") url.hash = params.toString();
  else for (const [name, value] of params) url.searchParams.append(name, value);
  return url.href;
}

/** For how long Synapse believes what it was answered about an access token, in milliseconds. */
const BELIEVED = 120_000;

/** A login: what all of its tokens have in common. */
interface OAuthLogin {
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
const invalidGrant = (description = "The grant is invalid, expired or revoked"): Failure =>
  refusal("invalid_grant", description);
