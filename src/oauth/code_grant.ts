/**
 * The login by authorization code: the user agrees in a browser, which comes back with a code.
 *
 * @see {@link https://spec.matrix.org/v1.18/client-server-api/#authorization-code-flow | Authorization code flow}
 * @see {@link https://www.rfc-editor.org/rfc/rfc7636 | Proof key for code exchange (PKCE)}
 * @module
 */

import { abortable } from "@std/async/abortable";
import { checkFunction, checkOptions } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import { strange } from "./authorization_server.ts";
import { beginLogin, type Beginning, LOGIN, type OAuthLoginOptions } from "./login.ts";
import { listen } from "./loopback.ts";
import { type AuthMetadata, needsEndpoint, needsValue } from "./metadata.ts";
import type { OAuthSession } from "./session.ts";

/** Options of {@linkcode loginByAuthorizationCode}. */
export interface AuthorizationCodeLoginOptions extends OAuthLoginOptions {
  /**
   * Sends the user's browser to an address. With `redirectUri` it returns the address that the browser has come
   * back to, with its query; without, what it returns is not read.
   */
  onAuthorizationUrl: (url: string) => unknown;
  /** Where browsers come back to, if the application waits for that itself. Default: a server on this machine. */
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
 * {@link https://spec.matrix.org/v1.18/client-server-api/#authorization-code-flow | Authorization code flow}
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
