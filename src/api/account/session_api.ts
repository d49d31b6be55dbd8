/**
 * Logging in and out, and asking who one is and what the server can do.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#client-authentication | Client authentication}
 * @module
 */

import {
  CALL,
  calledAs,
  checkRequestOptions,
  endpoint,
  field,
  fields,
  isVersion,
  nothing,
  type RequestOptions,
  type Session,
} from "../http/mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type {
  LoginFlow,
  LoginResponse,
  LoginTokenResponse,
  ServerFeature,
  UserIdentifier,
  VersionsResponse,
  WhoamiResponse,
} from "../../types/api/login.ts";
import { LoginType, type Open } from "../../types/enums.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import {
  accountPage,
  authenticated,
  type AuthenticationOptions,
  endLogin,
  followLogin,
  otherLogin,
  storeLogin,
  throwExplained,
} from "./uia.ts";

const LOGIN = "/_matrix/client/v3/login";
const loginResponse = fields<LoginResponse>({
  user_id: "string",
  access_token: "string",
  device_id: "string",
  refresh_token: "string?",
  expires_in_ms: "number?",
  well_known: "object?",
});

const flows = endpoint("getLoginFlows", "GET", LOGIN, field<LoginFlow[]>("flows", "array"), { auth: false });
const login = endpoint("login", "POST", LOGIN, loginResponse, { auth: false });
// The service's token is the credential.
const loginAsService = endpoint("login", "POST", LOGIN, loginResponse);
const logout = endpoint("logout", "POST", "/_matrix/client/v3/logout", nothing);
const logoutAll = endpoint("logoutAll", "POST", "/_matrix/client/v3/logout/all", nothing);
const loginToken = endpoint(
  "getLoginToken",
  "POST",
  "/_matrix/client/v1/login/get_token",
  fields<LoginTokenResponse>({ login_token: "string", expires_in_ms: "number" }),
);

/** A name of `unstable_features`: words with dots between them. */
const FEATURE = /^(?!v[\d.]+$)[a-z][\w-]*(?:\.[\w-]+)+$/i;

/** Options of {@link SessionAPI.login}. */
export interface LoginOptions extends RequestOptions {
  /**
   * Who logs in: a user ID, its local part, or another identifier. Default: the client's user; none
   * with a login token.
   */
  identifier?: UserIdentifier | UserID | (string & Record<never, never>);
  /** How to prove it. Default: `m.login.password`. */
  loginType?: Open<LoginType>;
  /** The name of the new device; passed over if the device is known. Default: none. */
  deviceName?: string;
  /** The device. Default: the client's; if it has none, the server makes one up. */
  deviceId?: DeviceID;
  /** The password, which `m.login.password` needs. */
  password?: string;
  /**
   * The login token, which `m.login.token` needs, or the JSON Web Token of `org.matrix.login.jwt`.
   */
  loginToken?: string;
  /** What other types of login need; goes into the body as it is. Default: nothing. */
  extraFields?: Readonly<JsonObject>;
  /** Whether to ask for an access token that expires and is renewed on the way. Default: false. */
  withRefreshToken?: boolean;
  /** Whether the client acts as the new session from then on. Default: true. */
  storeAccessToken?: boolean;
  /**
   * Whether the client moves to the homeserver's address that the response names, if it names a
   * usable one. Default: false.
   */
  updateHsUrl?: boolean;
}

/** Options of the operations that log out. */
export interface LogoutOptions extends RequestOptions {
  /** Whether the client forgets its token and device; it keeps the user. Default: true. */
  clearAccessToken?: boolean;
}

/** Operations on the session. */
export interface SessionAPI {
  /**
   * Asks what the homeserver supports.
   *
   * @param options Request options.
   * @returns The versions of the specification, and experimental features.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientversions | GET /versions}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function speaks(client: Client, version: string): Promise<boolean> {
   *   return (await client.versions()).versions.includes(version);
   * }
   * ```
   */
  versions(options?: RequestOptions): Promise<VersionsResponse>;

  /**
   * Returns whether the homeserver supports a version of the specification, or a feature of a proposal. The
   * client remembers the answer of the homeserver; {@linkcode SessionAPI.versions} asks again.
   *
   * @param feature A version, such as `v1.11`: then a later one counts, too. Or the name of a feature, which
   *   counts if the homeserver says that it is on.
   * @param options Request options.
   * @throws {ValueError} If it is neither a version nor the name of a feature;
   *   the message says what to write.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientversions | GET /versions}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function canDelay(client: Client): Promise<boolean> {
   *   return await client.supports("org.matrix.msc4140");
   * }
   * ```
   */
  supports(feature: ServerFeature, options?: RequestOptions): Promise<boolean>;

  /**
   * Gets the user ID and the device ID that the access token belongs to.
   *
   * @param options Request options.
   * @returns The user and the device.
   * @throws {UnknownTokenError} If the token is void.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3accountwhoami | GET /account/whoami}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function isTokenOf(client: Client, userId: string): Promise<boolean> {
   *   return (await client.whoami()).user_id === userId;
   * }
   * ```
   */
  whoami(options?: RequestOptions): Promise<WhoamiResponse>;

  /**
   * Lists the ways to log in that the homeserver offers.
   *
   * @param options Request options.
   * @returns The ways.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3login | GET /login}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function takesPasswords(client: Client): Promise<boolean> {
   *   return (await client.getLoginFlows()).some(({ type }) => type === "m.login.password");
   * }
   * ```
   */
  getLoginFlows(options?: RequestOptions): Promise<LoginFlow[]>;

  /**
   * Logs in. The client then acts as this session, by default.
   *
   * @param options Who, how, as which device, and request options.
   * @returns The server's answer, tokens included: keep it secret.
   * @throws {ForbiddenError} If the password or token is wrong.
   * @throws {UserDeactivatedError} If there is no such user any more.
   * @throws {UnrecognizedError} If the server offers OAuth 2.0 only; the message says so. See
   *   `loginByDeviceCode()` of `@greenroom/matrix/oauth`.
   * @throws {ValueError} If a password login has no password or no user.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3login | POST /login}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * await homeserver.createUser("alice", { password: "curtain" });
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch });
   * await client.login({ identifier: "@alice:localhost", password: "curtain", deviceName: "Stage door" });
   * console.assert((await client.whoami()).user_id === "@alice:localhost");
   * ```
   */
  login(options?: LoginOptions): Promise<LoginResponse>;

  /**
   * Logs out: the token, the device and its keys become void. If the client syncs, that ends
   * before, and `start()` resolves; should the server refuse, it goes on. A session by OAuth 2.0 has its
   * tokens revoked.
   *
   * @param options Whether to forget the token, and request options.
   * @throws {UnknownTokenError} If the token is void already.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3logout | POST /logout}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function leaveStage(client: Client): Promise<void> {
   *   await client.stop();
   *   await client.logout();
   * }
   * ```
   */
  logout(options?: LogoutOptions): Promise<void>;

  /**
   * Logs out everywhere: all tokens, devices and device keys of the user become void. If the client
   * syncs, that ends as by {@linkcode SessionAPI.logout}.
   *
   * @param options Whether to forget the token, and request options.
   * @throws {UnknownTokenError} If the token is void already.
   * @throws {UnrecognizedError} If the server offers OAuth 2.0 only;
   *   the message says where sessions are ended.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3logoutall | POST /logout/all}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function endStolenSessions(client: Client): Promise<void> {
   *   await client.logoutAll();
   * }
   * ```
   */
  logoutAll(options?: LogoutOptions): Promise<void>;

  /**
   * Gets a token with which another device of the user can log in once, by `m.login.token`.
   *
   * @param options How to authenticate, and request options.
   * @returns The token and how long it is good.
   * @throws {AuthenticationNeededError} If the server wants an authentication that `authentication`
   *   does not cover.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv1loginget_token | POST /login/get_token}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function tokenForPhone(client: Client, password: string): Promise<string> {
   *   const { login_token } = await client.getLoginToken({ authentication: { password } });
   *   return login_token;
   * }
   * ```
   */
  getLoginToken(options?: AuthenticationOptions): Promise<LoginTokenResponse>;
}

/** Makes the operations on the session. */
export function sessionAPI(session: Session): SessionAPI {
  const { http } = session;
  return {
    versions: (options) => session.versions(options),
    async supports(feature, options) {
      if (typeof feature !== "string" || !(isVersion(feature) || FEATURE.test(feature))) {
        throw (await import("./wrong_feature.ts")).wrongFeature(feature);
      }
      const asked = calledAs(options, "supports");
      checkRequestOptions(asked, "supports"); // also of what is remembered
      return await session.supports(feature, feature, asked);
    },
    whoami: (options) => session.whoami(options),
    getLoginFlows: (options) => http[CALL](flows, { path: {} }, options),
    async login(options = {}) {
      const { storeAccessToken = true, updateHsUrl = false, ...rest } = options;
      const [body, requestOptions] = loginBody(session, rest);
      const asService = body.type === LoginType.APPLICATION_SERVICE;
      const response = await http[CALL](
        asService ? loginAsService : login,
        { path: {}, body },
        requestOptions,
      ).catch((error) => throwExplained(error, http, otherLogin));
      if (updateHsUrl) followLogin(session, response);
      if (storeAccessToken) storeLogin(session, response);
      return response;
    },
    async logout({ clearAccessToken = true, ...options } = {}) {
      await (http.revokeTokens?.() ?? http[CALL](logout, { path: {} }, options));
      endLogin(session, { forgets: clearAccessToken });
    },
    async logoutAll({ clearAccessToken = true, ...options } = {}) {
      await http[CALL](logoutAll, { path: {} }, options)
        .catch((error) => throwExplained(error, http, accountPage));
      endLogin(session, { forgets: clearAccessToken });
    },
    getLoginToken: (options) => authenticated(session, loginToken, { path: {} }, options),
  };
}

/** The body of a login, and what is left of its options. */
function loginBody(
  session: Session,
  options: Omit<LoginOptions, "storeAccessToken" | "updateHsUrl">,
): [body: JsonObject, options: RequestOptions] {
  const {
    identifier,
    loginType = LoginType.PASSWORD,
    deviceName,
    deviceId = session.deviceId,
    password,
    loginToken: token,
    extraFields,
    withRefreshToken: refreshToken,
    ...requestOptions
  } = options;
  const who = identifier ?? (loginType === LoginType.TOKEN ? undefined : session.mxid || undefined);
  if (loginType === LoginType.PASSWORD && !password) {
    throw new ValueError("Cannot log in: a login by password needs the option password");
  }
  if (loginType === LoginType.PASSWORD && !who) {
    throw new ValueError("Cannot log in: it is not known who; set the option identifier");
  }
  const body = {
    ...extraFields,
    type: loginType,
    identifier: typeof who === "string" ? { type: "m.id.user", user: who } : who,
    password,
    token,
    initial_device_display_name: deviceName,
    device_id: deviceId,
    refresh_token: refreshToken || undefined,
  };
  return [body, requestOptions];
}
