/**
 * `@greenroom/matrix/oauth`: log in where a homeserver wants a browser, by OAuth 2.0 or by single sign-on.
 *
 * {@linkcode loginByDeviceCode} is for servers and terminals, {@linkcode loginByAuthorizationCode} for
 * programs beside a browser. What they return is an {@linkcode OAuthSession}, which is kept in a store: the
 * next start finds it there, and a client with its options refreshes its tokens.
 *
 * @example
 * ```ts
 * import { Client, MemoryStore } from "@greenroom/matrix";
 * import { loginByDeviceCode, OAuthSession } from "@greenroom/matrix/oauth";
 *
 * export async function open(): Promise<Client> {
 *   const store = new MemoryStore(); // one that lasts: SqliteStore, KvStore
 *   const session = await OAuthSession.resume({ store }) ?? await loginByDeviceCode({
 *     baseUrl: "https://matrix.example.org",
 *     store,
 *     clientUri: "https://example.org/bot",
 *     onUserCode: ({ verification_uri, user_code }) => console.log(verification_uri, user_code),
 *   });
 *   return new Client({ ...session.clientOptions, store, encryption: true });
 * }
 * ```
 *
 * @module
 */

import { callSite, endOwnCode } from "../base/own_code.ts"; // first: bundles begin with it

export { OAuthError, type OAuthErrorInit } from "../errors/account_errcodes.ts";
export type { AccountManagementAction, AccountManagementOptions } from "./metadata.ts";
export {
  type AuthorizationCodeLoginOptions,
  type DeviceAuthorization,
  type DeviceCodeLoginOptions,
  loginByAuthorizationCode,
  loginByDeviceCode,
} from "./grants.ts";
export { getAuthMetadata, type OAuthClientOptions, type OAuthServerOptions } from "./homeserver.ts";
export type { OAuthLoginOptions } from "./login.ts";
export type { AuthMetadata } from "./metadata.ts";
export { OAuthSession, type OAuthSessionOptions } from "./session.ts";
export { getSsoRedirectUrl, loginBySso, type SsoLoginOptions, type SsoRedirectOptions } from "./grants.ts";

endOwnCode(() => callSite());
