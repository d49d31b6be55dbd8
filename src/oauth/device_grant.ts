/**
 * The login by device code: the user agrees on another device, in a browser.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc8628 | Device authorization grant}
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4341 | MSC4341}
 * @module
 */

import type { Tokens } from "../api/http/mod.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { checkFunction, checkOptions } from "../errors/known_names.ts";
import { printable } from "../errors/matrix_error.ts";
import { OAuthError } from "../errors/oauth_error.ts";
import { NetworkError } from "../errors/request_error.ts";
import { type AuthorizationServer, strange } from "./authorization_server.ts";
import { beginLogin, LOGIN, type OAuthLoginOptions } from "./login.ts";
import { DEVICE_GRANT, isLocal, needsEndpoint, needsValue } from "./metadata.ts";
import type { OAuthSession } from "./session.ts";

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
 * @throws {OAuthError} If the user refuses (`access_denied`) or the code expires (`expired_token`), both with
 *   `OAUTH_REFUSED`; if the server has no such login (`OAUTH_UNSUPPORTED`), or answers with something else than
 *   was asked for.
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
