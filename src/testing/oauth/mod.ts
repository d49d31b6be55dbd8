/**
 * The authorization server of the in-process homeserver: its clients, logins and tokens, what its endpoints
 * do, and the person at the browser.
 *
 * It answers as the Matrix Authentication Service does, as of its sources at commit 682b8d26. It differs
 * where the README of `src/testing/` says so.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc6749 | RFC 6749}
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type {
  AuthorizationServer,
  AuthorizationServerOptions,
  PendingAuthorization,
} from "../authorization_server.ts";
import type { IdGenerator } from "../homeserver_options.ts";
import { Device, type Session, type User } from "../users/mod.ts";
import {
  type Approved,
  AuthorizationCodes,
  backTo,
  type BrowserRequest,
  DeviceAuthorizations,
  OAuthTokens,
  readBrowserRequest,
  refusalOf,
  requireApprovable,
} from "./authorizations.ts";
import {
  allowsApi,
  DEVICE_CODE,
  deviceOf,
  type OAuthClient,
  OAuthClients,
  OAuthRefusal,
  refusal,
  requireGrantType,
} from "./clients.ts";

export { NO_STORE, readMetadata, refusal } from "./clients.ts";

/** The homeserver that it belongs to. */
interface OAuthHost {
  readonly settings: {
    readonly clock: Clock;
    readonly ids: IdGenerator;
    readonly accessTokenLifetime: number;
  };
  readonly baseUrl: string;
  readonly users: ReadonlyMap<UserID, User>;
  addDevice(user: User, id: string | undefined, displayName: string | undefined): Device;
  deleteDevice(user: User, id: string): void;
}

/** The interval of the Matrix Authentication Service, and of RFC 8628 where a server says none. */
const INTERVAL = 5_000;
const DEVICE_CODE_LIFETIME = 1_200_000;
/** For how long keys can be replaced, in milliseconds. */
const RESET_TIME = 600_000;

/** The state of the authorization server. */
export class OAuthServer implements AuthorizationServer {
  browserUser: UserID | undefined = undefined;
  /** All tokens. */
  readonly tokens: OAuthTokens;
  readonly #host: OAuthHost;
  readonly #options: AuthorizationServerOptions;
  readonly #clients: OAuthClients;
  readonly #devices: DeviceAuthorizations;
  readonly #codes: AuthorizationCodes;
  readonly #resets = new Map<User, number>();

  /** Makes one that knows no client. */
  constructor(host: OAuthHost, options: AuthorizationServerOptions) {
    const { ids } = host.settings;
    this.#host = host;
    this.#options = options;
    this.tokens = new OAuthTokens(host);
    this.#clients = new OAuthClients(ids);
    this.#devices = new DeviceAuthorizations(ids);
    this.#codes = new AuthorizationCodes(ids);
  }

  get issuer(): string {
    return `${this.#host.baseUrl}/`;
  }

  get pending(): readonly PendingAuthorization[] {
    return this.#devices.pending(this.tokens.now).map(({ userCode, client, scope }) => ({
      userCode,
      clientId: client.id,
      clientName: client.name,
      scope,
      deviceId: deviceOf(scope),
    }));
  }

  /** The page of the account. */
  get accountUrl(): string {
    return `${this.issuer}account/`;
  }

  /** What it says of itself. */
  get metadata(): JsonObject {
    const { issuer } = this;
    const { deviceGrant = true } = this.#options;
    return {
      issuer,
      authorization_endpoint: `${issuer}authorize`,
      token_endpoint: `${issuer}oauth2/token`,
      registration_endpoint: `${issuer}oauth2/registration`,
      revocation_endpoint: `${issuer}oauth2/revoke`,
      ...(deviceGrant && { device_authorization_endpoint: `${issuer}oauth2/device` }),
      scopes_supported: ["openid", "email"],
      response_types_supported: ["code"],
      response_modes_supported: ["query", "fragment"],
      grant_types_supported: ["authorization_code", "refresh_token", ...(deviceGrant ? [DEVICE_CODE] : [])],
      token_endpoint_auth_methods_supported: ["none"],
      revocation_endpoint_auth_methods_supported: ["none"],
      code_challenge_methods_supported: ["S256"],
      prompt_values_supported: ["login"],
      account_management_uri: this.accountUrl,
      account_management_actions_supported: ACTIONS,
    };
  }

  /** Registers a client. */
  register(metadata: JsonObject): JsonObject {
    return this.#clients.register(metadata, this.tokens.now);
  }

  /** Answers a client that asks for a device code. */
  authorizeDevice(form: URLSearchParams): JsonObject {
    if (this.#options.deviceGrant === false) {
      throw refusal("invalid_request", "The Device Authorization Grant is disabled on this server");
    }
    const client = this.#clientOf(form);
    requireGrantType(client, DEVICE_CODE);
    const { deviceCodeLifetime = DEVICE_CODE_LIFETIME, interval = INTERVAL } = this.#options;
    const expiresAt = this.tokens.now + deviceCodeLifetime;
    const { deviceCode, userCode } = this.#devices.add({ client, scope: form.get("scope") ?? "" }, {
      expiresAt,
      interval: interval ?? INTERVAL,
    });
    const page = `${this.issuer}link`;
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?code=${encodeURIComponent(userCode)}`,
      expires_in: Math.floor(deviceCodeLifetime / 1000),
      ...(interval !== null && { interval: Math.ceil(interval / 1000) }),
    };
  }

  /** Answers a client that asks for tokens. */
  async token(form: URLSearchParams): Promise<JsonObject> {
    const client = this.#clientOf(form);
    const grantType = required(form, "grant_type");
    const isKnown = grantType === DEVICE_CODE
      ? this.#options.deviceGrant !== false
      : grantType === "authorization_code" || grantType === "refresh_token";
    if (!isKnown) throw refusal("unsupported_grant_type", `There is no grant type ${grantType}`);
    requireGrantType(client, grantType);
    if (grantType === "refresh_token") {
      return this.tokens.refresh(client.id, required(form, "refresh_token"));
    }
    return this.#logIn(
      grantType === DEVICE_CODE
        ? this.#devices.exchange(client, required(form, "device_code"), this.tokens.now)
        : await this.#codes.exchange(client, form, this.tokens.now),
    );
  }

  /** Answers a client that logs out. */
  revoke(form: URLSearchParams): void {
    const client = this.#clientOf(form);
    const hint = form.get("token_type_hint") ?? undefined;
    if (hint !== undefined && hint !== "access_token" && hint !== "refresh_token") {
      throw refusal("unsupported_token_type", `There is no type of token ${hint}`);
    }
    this.tokens.revoke(client.id, required(form, "token"), hint);
  }

  /**
   * Answers a browser at the authorization endpoint.
   *
   * @returns Where it goes next; undefined if nobody is signed in.
   */
  authorize(url: URL): string | undefined {
    const request = readBrowserRequest(url, this.#clients);
    const refused = refusalOf(request);
    if (refused !== undefined) return backTo(request, refused);
    return this.browserUser === undefined ? undefined : this.#approveBrowser(request, this.browserUser);
  }

  approve(request: string | URL, userId: UserID): string {
    const asked = this.#shown(request, "approve");
    if ("redirectUri" in asked) {
      const refused = refusalOf(asked);
      return refused === undefined ? this.#approveBrowser(asked, userId) : backTo(asked, refused);
    }
    asked.user = requireApprovable(asked.scope, this.#host.users.get(userId));
    asked.state = "approved";
    return `${this.issuer}link`;
  }

  deny(request: string | URL): string {
    const asked = this.#shown(request, "deny");
    if ("redirectUri" in asked) return backTo(asked, { error: "access_denied" });
    asked.state = "denied";
    return `${this.issuer}link`;
  }

  allowCrossSigningReset(userId: UserID): void {
    const user = this.#host.users.get(userId);
    if (user === undefined) {
      throw new ValueError(`Cannot allow ${userId} to replace keys: there is no such user`);
    }
    this.#resets.set(user, this.tokens.now + RESET_TIME);
  }

  /** Returns whether a user may replace the keys of cross-signing now. */
  mayReplaceKeys(user: User): boolean {
    return this.tokens.now < (this.#resets.get(user) ?? -Infinity);
  }

  /** Ends that: the user has new ones. */
  keysReplaced(user: User): void {
    this.#resets.delete(user);
  }

  /** The session of an access token; undefined if it is none of these. */
  find(token: string | undefined): Session | undefined {
    return token === undefined ? undefined : this.tokens.find(token);
  }

  #shown(request: string | URL, verb: string) {
    const url = URL.parse(request);
    if (url?.pathname === "/authorize") {
      try {
        return readBrowserRequest(url, this.#clients);
      } catch (error) {
        if (!(error instanceof OAuthRefusal)) throw error;
        throw new ValueError(`Cannot ${verb} the login: ${error.message}`, { cause: error });
      }
    }
    const userCode = url?.searchParams.get("code") ?? String(request);
    const found = this.#devices.pending(this.tokens.now).find((pending) => pending.userCode === userCode);
    if (found !== undefined) return found;
    throw new ValueError(
      `Cannot ${verb} the login: no client has asked for ${userCode}, or it is over; see oauth.pending`,
    );
  }

  #approveBrowser(request: BrowserRequest, userId: UserID): string {
    const { client, redirectUri, query } = request;
    const scope = query.get("scope") ?? "";
    const code = this.#codes.add({
      client,
      scope,
      redirectUri,
      challenge: query.get("code_challenge") ?? "",
      user: requireApprovable(scope, this.#host.users.get(userId)),
      approvedAt: this.tokens.now,
    });
    return backTo(request, { code });
  }

  #clientOf(form: URLSearchParams): OAuthClient {
    return this.#clients.get(form.get("client_id") ?? undefined);
  }

  #logIn({ client, user, scope }: Approved): JsonObject {
    const id = deviceOf(scope);
    const device = id === undefined
      ? new Device("", undefined)
      : this.#host.addDevice(user, id, client.name ?? client.id);
    return this.tokens.open({ clientId: client.id, user, device, scope, opensApi: allowsApi(scope) });
  }
}

function required(form: URLSearchParams, name: string): string {
  const value = form.get(name);
  if (value === null) throw refusal("invalid_request", `missing ${name}`);
  return value;
}

const ACTIONS: readonly string[] = [
  ...["org.matrix.profile", "org.matrix.devices_list", "org.matrix.device_view", "org.matrix.device_delete"],
  ...["org.matrix.cross_signing_reset", "org.matrix.sessions_list", "org.matrix.session_view"],
  "org.matrix.session_end",
];
