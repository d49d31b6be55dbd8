/**
 * What tests set about the authorization server of the in-process homeserver, and do with it. What it does
 * itself is in `oauth/`.
 *
 * @module
 */

import type { DeviceID, UserID } from "../types/ids.ts";
import { checkOptions, type OptionNames } from "../errors/known_names.ts";

/** Options of the authorization server of a {@linkcode Homeserver}. */
export interface AuthorizationServerOptions {
  /**
   * How often a client may ask whether a person has approved its device code, in milliseconds. One that asks
   * sooner is answered `slow_down`, and from then on has to wait five seconds longer. With `null` the client
   * is not told, which means five seconds.
   *
   * @default {5_000}
   */
  readonly interval?: number | null;
  /**
   * How long a device code can be approved and exchanged, in milliseconds.
   *
   * @default {1_200_000}
   */
  readonly deviceCodeLifetime?: number;
  /**
   * Whether it has the device authorization grant.
   *
   * @default {true}
   */
  readonly deviceGrant?: boolean;
}

const OPTIONS: OptionNames<AuthorizationServerOptions> = {
  ...{ interval: true, deviceCodeLifetime: true, deviceGrant: true },
};

/** Refuses options that an authorization server has not. */
export function checkAuthorizationServerOptions(options: boolean | AuthorizationServerOptions): void {
  if (typeof options === "object") checkOptions(options, OPTIONS, "make a homeserver", "oauth.");
}

/** A device code that nobody has approved or denied yet. */
export interface PendingAuthorization {
  /** What a person types in, or compares. */
  readonly userCode: string;
  /** The client that asks. */
  readonly clientId: string;
  /** What the client calls itself. */
  readonly clientName: string | undefined;
  /** What it asks for. */
  readonly scope: string;
  /** The device in the scope. */
  readonly deviceId: DeviceID | undefined;
}

/**
 * The OAuth 2.0 authorization server of a homeserver made with `oauth`: it answers as the Matrix
 * Authentication Service does, and you are the person in front of the browser.
 *
 * Access tokens live as long as the homeserver's `accessTokenLifetime` says, by its clock. Faults reach its
 * endpoints too: `/oauth2/registration`, `/oauth2/device`, `/oauth2/token`, `/oauth2/revoke` and
 * `/authorize`.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#oauth-20-api | OAuth 2.0 API}
 *
 * @example Logging in by a device code
 * ```ts
 * import { Homeserver } from "@greenroom/matrix/testing";
 * import { assertEquals } from "@std/assert";
 *
 * await using homeserver = new Homeserver({ oauth: true });
 * const { oauth, fetch } = homeserver;
 * const { userId } = homeserver.createUser("bot");
 * const grantType = "urn:ietf:params:oauth:grant-type:device_code";
 *
 * // What a client does:
 * const post = async (path: string, body: BodyInit) =>
 *   await (await fetch(`${oauth.issuer}oauth2/${path}`, { method: "POST", body })).json();
 * const { client_id } = await post("registration", JSON.stringify({
 *   client_uri: "https://bot.example/",
 *   grant_types: [grantType, "refresh_token"],
 *   token_endpoint_auth_method: "none",
 * }));
 * const scope = "urn:matrix:client:api:* urn:matrix:client:device:BOTSDEVICE";
 * const asked = await post("device", new URLSearchParams({ client_id, scope }));
 *
 * // What a person does:
 * oauth.approve(asked.user_code, userId);
 *
 * // And the client again:
 * const { device_code } = asked;
 * const tokens = await post("token", new URLSearchParams({ client_id, grant_type: grantType, device_code }));
 * const whoami = await fetch(`${homeserver.baseUrl}/_matrix/client/v3/account/whoami`, {
 *   headers: { authorization: `Bearer ${tokens.access_token}` },
 * });
 * assertEquals((await whoami.json()).device_id, "BOTSDEVICE");
 * ```
 */
export interface AuthorizationServer {
  /** Its URL, with a slash at the end. */
  readonly issuer: string;
  /** The device codes that wait for a person, oldest first. */
  readonly pending: readonly PendingAuthorization[];
  /**
   * Who is signed in at the browser, and approves each authorization request at once: the authorization
   * endpoint redirects back with a code. Without, it answers with a page. Defaults to nobody.
   */
  browserUser: UserID | undefined;
  /**
   * Approves a login, as a person does who signs in at the browser.
   *
   * @param request What the client shows to the person: the user code, the URL that has it, or the URL of
   *   the authorization endpoint.
   * @param userId Who approves.
   * @returns Where the browser goes next: the redirect URI with the code, or a page that says it is done.
   * @throws {ValueError} If there is no such user or request, or the person would see an error in place of a
   *   question: for a scope that nobody can have, for example.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   * import { assertThrows } from "@std/assert";
   *
   * await using homeserver = new Homeserver({ oauth: true });
   * const { userId } = homeserver.createUser("bot");
   * assertThrows(() => homeserver.oauth.approve("ABCDEF", userId), Error, "no client has asked");
   * ```
   */
  approve(request: string | URL, userId: UserID): string;
  /**
   * Denies a login, as a person does who has not asked for it.
   *
   * @param request What the client shows to the person, as in {@linkcode AuthorizationServer.approve}.
   * @returns Where the browser goes next.
   * @throws {ValueError} If there is no such request.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver({ oauth: true });
   * for (const { userCode } of homeserver.oauth.pending) homeserver.oauth.deny(userCode);
   * ```
   */
  deny(request: string | URL): string;
  /**
   * Lets a user replace the keys of cross-signing, for ten minutes or once: what a person allows at the
   * account management page after the homeserver has asked for the stage `m.oauth`.
   *
   * @param userId The user.
   * @throws {ValueError} If there is no such user.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver({ oauth: true });
   * const { userId } = homeserver.createUser("alice");
   * homeserver.oauth.allowCrossSigningReset(userId);
   * ```
   */
  allowCrossSigningReset(userId: UserID): void;
}
