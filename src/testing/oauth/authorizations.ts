/**
 * What clients ask a person for, and what they get for the answer: device codes and authorization codes.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc8628 | RFC 8628}
 * @see {@link https://www.rfc-editor.org/rfc/rfc7636 | RFC 7636}
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import type { IdGenerator } from "../homeserver_options.ts";
import type { User } from "../users/mod.ts";
import {
  type OAuthClient,
  type OAuthClients,
  OAuthRefusal,
  problemOf,
  redirectUriOf,
  refusal,
} from "./clients.ts";
import { invalidGrant } from "./tokens.ts";

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
export interface DeviceAuthorization extends Asked {
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
