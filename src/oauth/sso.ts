/**
 * The login by single sign-on of servers without OAuth 2.0: a browser comes back with a login token.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#sso-client-loginauthentication | SSO client login}
 * @module
 */

import { abortable } from "@std/async/abortable";
import { checkedBaseUrl, fillPath, queryString } from "../api/http/mod.ts";
import type { Client } from "../client/mod.ts";
import { checkFunction, checkOptions } from "../errors/known_names.ts";
import { strange } from "./authorization_server.ts";
import { listen } from "./login.ts";
import type { LoginResponse } from "../types/api/login.ts";
import type { DeviceID } from "../types/ids.ts";

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
 * {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv3loginssoredirect | GET /login/sso/redirect}
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
 * Logs in by single sign-on (`m.login.sso`), by a browser on this machine. The client then acts as the session.
 *
 * @param client The client; its homeserver's address is known.
 * @param options What opens the browser.
 * @returns The server's answer, tokens included: keep it secret.
 * @throws {ForbiddenError} If the server refuses the token that the browser came back with.
 * @throws {MissingPermissionError} If Deno may not listen on this machine.
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#sso-client-loginauthentication | SSO client login}
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
