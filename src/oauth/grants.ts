/**
 * The three logins in a browser: OAuth 2.0 by authorization code, where the browser comes back with a code;
 * OAuth 2.0 by device code, where the user agrees in the browser of another device; and single sign-on of
 * servers without OAuth 2.0, where the browser comes back with a login token.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#authorization-code-flow | Authorization code flow}
 * @see {@link https://www.rfc-editor.org/rfc/rfc7636 | Proof key for code exchange (PKCE)}
 * @see {@link https://www.rfc-editor.org/rfc/rfc8628 | Device authorization grant}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#sso-client-loginauthentication | SSO client login}
 *
 * Over 300 lines because the three logins in a browser are read beside each other.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import { checkedBaseUrl, fillPath, queryString, type Tokens } from "../api/http/mod.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import type { Client } from "../client/mod.ts";
import { OAuthError } from "../errors/account_errcodes.ts";
import { checkFunction, checkOptions } from "../errors/known_names.ts";
import { printable, ValueError } from "../errors/matrix_error.ts";
import { NetworkError } from "../errors/request_error.ts";
import type { LoginResponse } from "../types/api/login.ts";
import type { DeviceID } from "../types/ids.ts";
import { type AuthorizationServer, strange } from "./authorization_server.ts";
import { beginLogin, type Beginning, listen, LOGIN, type OAuthLoginOptions } from "./login.ts";
import { type AuthMetadata, DEVICE_GRANT, isLocal, needsEndpoint, needsValue } from "./metadata.ts";
import type { OAuthSession } from "./session.ts";

/** Options of {@linkcode loginByAuthorizationCode}. */
export interface AuthorizationCodeLoginOptions extends OAuthLoginOptions {
  /**
   * Sends the user's browser to an address. With `redirectUri` it returns the address that the browser has
   * come back to, with its query; without, what it returns is not read.
   */
  onAuthorizationUrl: (url: string) => unknown;
  /**
   * Where browsers come back to, if the application waits for that itself. Default: a server on this machine.
   */
  redirectUri?: string;
  /** The port of the server on this machine. Default: any that is free. */
  port?: number;
}

/** What is registered for a server on this machine: its port is added when it is known, as RFC 8252 says. */
const LOOPBACK = "http://127.0.0.1/";

/**
 * Logs in by a browser on this machine, or by one that comes back to an address of the application's.
 *
 * The session is kept in the store, and is that of a new device.
 *
 * @param options The homeserver, the store, and what opens the browser.
 * @returns The session, when the user has agreed.
 * @throws {OAuthError} If the user refuses (`access_denied`, with `OAUTH_REFUSED`); if the server has no such
 *   login (`OAUTH_UNSUPPORTED`); if the response is not that to this login, or not of this server
 *   (`OAUTH_RESPONSE`).
 * @throws {NetworkError} If a server can't be reached.
 * @throws {MissingPermissionError} If Deno may not listen on this machine.
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#authorization-code-flow | Authorization code flow}
 * @example
 * ```ts
 * import { Client, type Store } from "@greenroom/matrix";
 * import { loginByAuthorizationCode } from "@greenroom/matrix/oauth";
 *
 * export async function login(store: Store): Promise<Client> {
 *   const session = await loginByAuthorizationCode({
 *     baseUrl: "https://matrix.example.org",
 *     store,
 *     clientUri: "https://example.org/bot",
 *     onAuthorizationUrl: (url) => console.log(`Open ${url}`),
 *     signal: AbortSignal.timeout(600_000),
 *   });
 *   return new Client({ ...session.clientOptions, store, encryption: true });
 * }
 * ```
 */
export async function loginByAuthorizationCode(
  options: AuthorizationCodeLoginOptions,
): Promise<OAuthSession> {
  const action = "log in by authorization code";
  checkOptions(options, { ...LOGIN, onAuthorizationUrl: true, redirectUri: true, port: true }, action);
  const { onAuthorizationUrl, redirectUri, port = 0, ...login } = options;
  checkFunction(onAuthorizationUrl, action, "onAuthorizationUrl");
  if (redirectUri !== undefined && URL.parse(redirectUri) === null) {
    throw new ValueError(`Cannot ${action}: redirectUri is no absolute URL`);
  }
  return await beginLogin(
    login,
    { check, redirectUris: redirectUri === undefined ? [LOOPBACK, "http://[::1]/"] : [redirectUri] },
    (beginning) =>
      redirectUri === undefined
        ? byLoopback(beginning, { port, signal: login.signal, onAuthorizationUrl })
        : byOwnRedirect(beginning, { redirectUri, signal: login.signal, onAuthorizationUrl }),
  );
}

function check(metadata: AuthMetadata): void {
  needsEndpoint(metadata, "authorization_endpoint", "use loginByDeviceCode()");
  needsValue(metadata, "grant_types_supported", "authorization_code", "use loginByDeviceCode()");
  needsValue(metadata, "response_types_supported", "code", "use loginByDeviceCode()");
  needsValue(metadata, "response_modes_supported", "query", "use loginByDeviceCode()");
  needsValue(metadata, "code_challenge_methods_supported", "S256", "use loginByDeviceCode()");
}

type OnAuthorizationUrl = AuthorizationCodeLoginOptions["onAuthorizationUrl"];

async function byLoopback(
  { server, scope, finish }: Beginning,
  { port, signal, onAuthorizationUrl }: {
    readonly port: number;
    readonly signal: AbortSignal | undefined;
    readonly onAuthorizationUrl: OnAuthorizationUrl;
  },
): Promise<OAuthSession> {
  const begun: { state?: string } = {};
  await using loopback = await listen(port, ({ searchParams }) => searchParams.get("state") === begun.state);
  const authorization = await server.authorizationUrl(scope, loopback.redirectUri);
  begun.state = authorization.state;
  await onAuthorizationUrl(authorization.url);
  const redirected = signal === undefined ? loopback.redirected : abortable(loopback.redirected, signal);
  return await finish(await server.redeemCode(await redirected, authorization, signal));
}

async function byOwnRedirect(
  { server, scope, finish }: Beginning,
  { redirectUri, signal, onAuthorizationUrl }: {
    readonly redirectUri: string;
    readonly signal: AbortSignal | undefined;
    readonly onAuthorizationUrl: OnAuthorizationUrl;
  },
): Promise<OAuthSession> {
  const authorization = await server.authorizationUrl(scope, redirectUri);
  const redirected = URL.parse(String(await onAuthorizationUrl(authorization.url)));
  if (redirected === null) {
    throw strange("log in", "onAuthorizationUrl did not return the address that the browser came back to");
  }
  return await finish(await server.redeemCode(redirected, authorization, signal));
}

/** What a user needs to agree to a login; the names are those of RFC 8628. */
export interface DeviceAuthorization {
  /** What the user types in at `verification_uri`. */
  readonly user_code: string;
  /** The page where to agree. */
  readonly verification_uri: string;
  /** The same with the code in it, for a link or a QR code. Undefined: the server gives none. */
  readonly verification_uri_complete?: string;
  /** How long the code lives, in seconds. */
  readonly expires_in: number;
}

/** Options of {@linkcode loginByDeviceCode}. */
export interface DeviceCodeLoginOptions extends OAuthLoginOptions {
  /** Shows the user where to agree, and with which code. */
  onUserCode: (authorization: DeviceAuthorization) => void | Promise<void>;
}

/** How often the server is asked if it does not say, and the least and the most, in milliseconds. */
const INTERVAL = 5_000;
const MIN_INTERVAL = 1_000;
const MAX_INTERVAL = 60_000;
/** By how much the server is asked less often when it wants that. */
const SLOWER = 5_000;
/** The longest life of a code, in milliseconds. */
const MAX_LIFE = 86_400_000;
/** The longest code for a user, and the longest address, in characters. */
const MAX_USER_CODE = 100;
const MAX_URL = 2_048;

/**
 * Logs in where there is no browser: the user agrees on another device.
 *
 * The session is kept in the store, and is that of a new device.
 *
 * @param options The homeserver, the store, and what shows the code.
 * @returns The session, when the user has agreed.
 * @throws {OAuthError} If the user refuses (`access_denied`) or the code expires (`expired_token`), both
 *   with `OAUTH_REFUSED`; if the server has no such login (`OAUTH_UNSUPPORTED`), or answers with
 *   something else than was asked for.
 * @throws {NetworkError} If a server can't be reached.
 * @see {@link https://www.rfc-editor.org/rfc/rfc8628 | Device authorization grant}
 * @example
 * ```ts
 * import { Client, type Store } from "@greenroom/matrix";
 * import { loginByDeviceCode } from "@greenroom/matrix/oauth";
 *
 * export async function login(store: Store): Promise<Client> {
 *   const session = await loginByDeviceCode({
 *     baseUrl: "https://matrix.example.org",
 *     store,
 *     clientUri: "https://example.org/bot",
 *     onUserCode({ verification_uri, user_code }) {
 *       console.log(`Open ${verification_uri} and type in ${user_code}`);
 *     },
 *   });
 *   return new Client({ ...session.clientOptions, store, encryption: true });
 * }
 * ```
 */
export async function loginByDeviceCode(options: DeviceCodeLoginOptions): Promise<OAuthSession> {
  const action = "log in by device code";
  checkOptions(options, { ...LOGIN, onUserCode: true }, action);
  const { onUserCode, signal, clock = systemClock, ...login } = options;
  checkFunction(onUserCode, action, "onUserCode");
  const begun = await beginLogin({ ...login, signal, clock }, {
    check(metadata) {
      needsEndpoint(metadata, "device_authorization_endpoint", "use loginByAuthorizationCode()");
      needsValue(metadata, "grant_types_supported", DEVICE_GRANT, "use loginByAuthorizationCode()");
    },
    redirectUris: ["http://127.0.0.1/", "http://[::1]/"],
  }, async ({ server, scope, finish }) => {
    return { server, finish, answer: await server.authorizeDevice(scope, signal) };
  });
  const { server, finish, answer } = begun;
  const expiresAt = clock.now() + Math.min(answer.expires_in * 1_000, MAX_LIFE);
  await onUserCode(checkedAuthorization(answer, { mayBeClear: isLocal(server.metadata.issuer) }));
  const { device_code: code, interval } = answer;
  return await finish(await poll({ server, code, interval, expiresAt }, clock, signal));
}

function checkedAuthorization(
  { user_code, verification_uri, verification_uri_complete, expires_in }: DeviceAuthorization,
  { mayBeClear }: { readonly mayBeClear: boolean },
): DeviceAuthorization {
  for (const url of [verification_uri, verification_uri_complete]) {
    if (url === undefined) continue;
    const isSafe = URL.parse(url)?.protocol === "https:" || (mayBeClear && isLocal(url));
    if (!isSafe || url.length > MAX_URL) {
      throw strange("log in by device code", "the page where the user is to agree is no https address");
    }
  }
  if (user_code.length > MAX_USER_CODE || printable(user_code) !== user_code) {
    throw strange("log in by device code", "the code for the user is none that can be typed in");
  }
  const href = (url: string) => new URL(url).href; // without what moves a terminal's cursor
  return {
    user_code,
    verification_uri: href(verification_uri),
    verification_uri_complete: verification_uri_complete && href(verification_uri_complete),
    expires_in,
  };
}

/** A code that the user was shown. */
interface Shown {
  readonly server: AuthorizationServer;
  readonly code: string;
  readonly interval: number | undefined;
  readonly expiresAt: number;
}

/** Asks again and again whether the user has agreed. */
async function poll(
  { server, code, interval, expiresAt }: Shown,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<Tokens> {
  let wait = Math.min(Math.max((interval ?? INTERVAL / 1_000) * 1_000, MIN_INTERVAL), MAX_INTERVAL);
  while (clock.now() + wait < expiresAt) {
    await clock.delay(wait, { signal });
    try {
      return await server.redeemDeviceCode(code, signal);
    } catch (error) {
      const refusal = error instanceof OAuthError ? error.error : undefined;
      if (refusal === "slow_down") wait += SLOWER;
      else if (error instanceof NetworkError) wait = Math.min(2 * wait, MAX_INTERVAL);
      else if (refusal !== "authorization_pending") throw error;
    }
  }
  throw new OAuthError(
    "Cannot log in by device code: nobody has agreed before the code expired; begin the login again",
    { code: "OAUTH_REFUSED", error: "expired_token" },
  );
}

/** Options of {@linkcode getSsoRedirectUrl}. */
export interface SsoRedirectOptions {
  /** Where the browser comes back to, with `loginToken` in its query. */
  redirectUrl: string;
  /** One of the `identity_providers` of the flow `m.login.sso`. Default: the user chooses. */
  idpId?: string;
  /** Whether the user wants to log in or to register. Default: not said. */
  action?: "login" | "register";
}

/**
 * Where a browser begins a login by single sign-on.
 *
 * @param baseUrl The homeserver's address.
 * @param options Where the browser comes back to.
 * @returns The address.
 * @throws {ValueError} If an option can't be used.
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3loginssoredirect | GET /login/sso/redirect}
 * @example
 * ```ts
 * import { getSsoRedirectUrl } from "@greenroom/matrix/oauth";
 *
 * const url = getSsoRedirectUrl("https://matrix.example.org", { redirectUrl: "https://example.org/back" });
 * console.assert(url.endsWith("/login/sso/redirect?redirectUrl=https%3A%2F%2Fexample.org%2Fback"));
 * ```
 */
export function getSsoRedirectUrl(baseUrl: string | URL, options: SsoRedirectOptions): string {
  checkOptions(options, { redirectUrl: true, idpId: true, action: true }, "begin the login");
  const { redirectUrl, idpId, action } = options;
  const all = "/_matrix/client/v3/login/sso/redirect";
  const path = idpId === undefined ? all : fillPath(`${all}/{idpId}`, { idpId });
  return `${checkedBaseUrl(baseUrl)}${path}${queryString({ redirectUrl, action })}`;
}

/** Options of {@linkcode loginBySso}. */
export interface SsoLoginOptions {
  /** Sends the user's browser to an address. */
  onRedirectUrl: (url: string) => unknown;
  /** One of the `identity_providers` of the flow `m.login.sso`. Default: the user chooses. */
  idpId?: string;
  /** The device. Default: the client's; if it has none, the server makes one up. */
  deviceId?: DeviceID;
  /** The name of the new device. Default: none. */
  deviceName?: string;
  /** The port of the server on this machine that the browser comes back to. Default: any that is free. */
  port?: number;
  /** Ends the login. Default: nothing does. */
  signal?: AbortSignal;
}

/**
 * Logs in by single sign-on (`m.login.sso`), by a browser on this machine.
 * The client then acts as the session.
 *
 * @param client The client; its homeserver's address is known.
 * @param options What opens the browser.
 * @returns The server's answer, tokens included: keep it secret.
 * @throws {ForbiddenError} If the server refuses the token that the browser came back with.
 * @throws {MissingPermissionError} If Deno may not listen on this machine.
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#sso-client-loginauthentication | SSO client login}
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { loginBySso } from "@greenroom/matrix/oauth";
 *
 * export async function login(): Promise<Client> {
 *   const client = new Client({ baseUrl: "https://matrix.example.org" });
 *   await loginBySso(client, { onRedirectUrl: (url) => console.log(`Open ${url}`) });
 *   return client;
 * }
 * ```
 */
export async function loginBySso(
  client: Pick<Client, "api" | "login">,
  options: SsoLoginOptions,
): Promise<LoginResponse> {
  const action = "log in by single sign-on";
  checkOptions(
    options,
    { onRedirectUrl: true, idpId: true, deviceId: true, deviceName: true, port: true, signal: true },
    action,
  );
  const { onRedirectUrl, idpId, deviceId, deviceName, port = 0, signal } = options;
  checkFunction(onRedirectUrl, action, "onRedirectUrl");
  const state = crypto.randomUUID();
  await using loopback = await listen(port, ({ searchParams }) => {
    return searchParams.get("state") === state && searchParams.has("loginToken");
  });
  const redirectUrl = `${loopback.redirectUri}?state=${state}`;
  await onRedirectUrl(getSsoRedirectUrl(client.api.baseUrl, { redirectUrl, idpId }));
  const { searchParams } = await (signal ? abortable(loopback.redirected, signal) : loopback.redirected);
  const loginToken = searchParams.get("loginToken");
  if (loginToken === null) throw strange(action, "the browser came back without a token");
  return await client.login({ loginType: "m.login.token", loginToken, deviceId, deviceName, signal });
}
