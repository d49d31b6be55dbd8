/**
 * What the logins in a browser have in common: the homeserver, its authorization server, a client that is
 * registered there, the scopes of a device, the session that comes of it, and a server on this machine that
 * takes one redirect of the browser.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#oauth-20-api | OAuth 2.0 API}
 * @see {@link https://www.rfc-editor.org/rfc/rfc8252#section-7.3 | Loopback interface redirection}
 *
 * @module
 */

import { type HTTPAPI, Session, type Tokens } from "../api/http/mod.ts";
import { platform, type PlatformServer } from "../base/platform/mod.ts";
import { OAuthError, UnknownTokenError } from "../errors/account_errcodes.ts";
import { asksFor } from "../errors/hints.ts";
import type { OptionNames } from "../errors/known_names.ts";
import { missingPermission, ValueError } from "../errors/matrix_error.ts";
import type { Store } from "../store/base/mod.ts";
import type { DeviceID } from "../types/ids.ts";
import { AuthorizationServer, register, strange } from "./authorization_server.ts";
import { homeserver, type OAuthServerOptions, SERVER, transportOf } from "./homeserver.ts";
import { type AuthMetadata, DEVICE_GRANT, needsEndpoint, readMetadata } from "./metadata.ts";
import { BEGIN, OAuthSession } from "./session.ts";

/** Options that all logins by OAuth 2.0 have. */
export interface OAuthLoginOptions extends OAuthServerOptions {
  /**
   * Where the session is kept: the one that the client gets, so that it survives the process. The tokens are
   * in it as they are; `SealedStore` encrypts them.
   */
  store: Store;
  /**
   * The ID of the client at the authorization server, if its administration has given one. Default:
   * the client is registered, once for each server and store.
   */
  clientId?: string;
  /**
   * An https page about the client, which servers show when a user is to agree. Registration needs it. The
   * Matrix Authentication Service takes no port and no query, and in the path only letters, digits and `/.-`.
   */
  clientUri?: string;
  /** The name of the client, which servers show when a user is to agree. Default: `Greenroom`. */
  clientName?: string;
  /** The device. Default: a new one. */
  deviceId?: DeviceID;
}

/** The names of what all logins take. */
export const LOGIN: OptionNames<OAuthLoginOptions> = {
  ...SERVER,
  ...{ store: true, clientId: true, clientUri: true, clientName: true, deviceId: true },
};

/** The characters of a device ID that need no escape in a scope, and how many there may be. */
const DEVICE_ID = /^[\w.~-]{1,255}$/;

/** A login that is about to begin. */
export interface Beginning {
  /** Gives the tokens. */
  readonly server: AuthorizationServer;
  /** What the user is to agree to. */
  readonly scope: string;
  /** Makes the session of the tokens. */
  readonly finish: (tokens: Tokens) => Promise<OAuthSession>;
}

/** What differs between the logins. */
interface Login {
  /** Refuses servers that do not offer it. */
  readonly check: (metadata: AuthMetadata) => void;
  /** Where the response goes. */
  readonly redirectUris: readonly string[];
}

/**
 * Finds the authorization server, registers the client, and has a login begin. If the server does not know a
 * client any more that was registered, or the scopes, it begins once more with others.
 *
 * @param begin Begins it: the first request that the server may refuse.
 */
export async function beginLogin<Begun>(
  options: OAuthLoginOptions,
  login: Login,
  begin: (beginning: Beginning) => Promise<Begun>,
): Promise<Begun> {
  const { deviceId = newDeviceId(), signal } = options;
  if (!DEVICE_ID.test(deviceId)) {
    throw new ValueError("Cannot log in: deviceId must be of letters, digits and - . _ ~; leave it out");
  }
  if (typeof options.store?.commit !== "function") {
    throw new ValueError("Cannot log in: it needs a store, where the session is kept; give it store");
  }
  const http = homeserver(options);
  const { metadata, isUnstable } = await readMetadata(http, signal);
  login.check(metadata);
  const spellings = isUnstable ? [true] : [false, true];
  const tried = { registration: false };
  for (;;) {
    const clientId = await clientIdFor(metadata, options, { ...login, isNew: tried.registration });
    const server = new AuthorizationServer(metadata, clientId, transportOf(options));
    try {
      return await begin({
        server,
        scope: scopeOf(deviceId, { isUnstable: spellings[0] ?? true }),
        finish: (tokens) => finish({ tokens, server, deviceId, http }, options),
      });
    } catch (error) {
      const refusal = error instanceof OAuthError ? error.error : undefined;
      if (refusal === "invalid_scope" && spellings.length > 1) spellings.shift();
      else if (
        /^(invalid|unauthorized)_client$/.test(refusal ?? "") && !tried.registration &&
        options.clientId === undefined
      ) tried.registration = true;
      else throw error;
    }
  }
}

function newDeviceId(): DeviceID {
  return `GR${crypto.randomUUID().replaceAll("-", "").slice(0, 12).toUpperCase()}`;
}

function scopeOf(deviceId: DeviceID, { isUnstable }: { readonly isUnstable: boolean }): string {
  const client = isUnstable ? "urn:matrix:org.matrix.msc2967.client" : "urn:matrix:client";
  return `${client}:api:* ${client}:device:${deviceId}`;
}

/** The client's ID: as given, as registered before, or of a registration. */
async function clientIdFor(
  metadata: AuthMetadata,
  options: OAuthLoginOptions,
  { redirectUris, isNew }: Login & { readonly isNew: boolean },
): Promise<string> {
  const { store, clientId, clientUri, clientName = "Greenroom", signal } = options;
  if (clientId !== undefined) return clientId;
  if (clientUri === undefined) {
    const message =
      "Cannot register the client: servers need an https page about it; give the login clientUri, or a clientId";
    throw asksFor(new ValueError(message), "another login");
  }
  needsEndpoint(metadata, "registration_endpoint", "give the login a clientId of its administration");
  const grants = ["authorization_code", "refresh_token"];
  if (metadata.device_authorization_endpoint !== undefined) grants.push(DEVICE_GRANT);
  const client = {
    client_name: clientName,
    client_uri: clientUri,
    redirect_uris: redirectUris,
    grant_types: grants,
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: "native",
  };
  const key = ["greenroom.oauth", "client", await hashOf(JSON.stringify([metadata.issuer, client]))];
  const [kept] = await store.getMany([key]);
  if (kept !== undefined && !isNew) return (kept.value as { clientId: string }).clientId;
  const registered = await register(metadata, client, transportOf(options), signal);
  await store.commit([{ type: "set", key, value: { clientId: registered } }]);
  return registered;
}

async function hashOf(text: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toHex();
}

/** Makes sure whose the tokens are, and keeps them. What comes to nothing is revoked: nobody will use it. */
async function finish(
  { tokens, server, deviceId, http }: {
    readonly tokens: Tokens;
    readonly server: AuthorizationServer;
    readonly deviceId: DeviceID;
    readonly http: HTTPAPI;
  },
  options: OAuthLoginOptions,
): Promise<OAuthSession> {
  try {
    const { baseUrl } = http;
    const { mxid, signal } = options;
    const { accessToken } = tokens;
    const own = new Session(homeserver({ ...options, baseUrl }, { accessToken }));
    const { user_id: user, device_id: device = "of no name" } = await own.whoami({ signal });
    if (device !== deviceId) {
      throw strange("log in", `the token is that of device ${device}, not of ${deviceId}`);
    }
    if (mxid !== undefined && user !== mxid) {
      throw strange("log in", `the token is that of user ${user}, not of ${mxid}`);
    }
    const { metadata: { issuer }, clientId } = server;
    const session = { baseUrl, mxid: user, deviceId, issuer, clientId, tokens };
    return await OAuthSession[BEGIN](session, options);
  } catch (error) {
    await server.revokeAll(tokens).catch(() => {});
    throw error instanceof UnknownTokenError
      ? strange(
        "log in",
        "the homeserver does not accept the token; its server may not know the scopes of Matrix",
      )
      : error;
  }
}

/** What waits for a redirect. */
interface Loopback extends AsyncDisposable {
  /** Where browsers are to be sent. */
  readonly redirectUri: string;
  /** The address that a browser has come to. */
  readonly redirected: Promise<URL>;
}

const DONE = "You are logged in, as far as this page knows: you can close it.\n";
const NOT_MINE = "This is not the login that was begun here.\n";

/**
 * Waits for a redirect.
 *
 * @param port The port; 0 for any that is free.
 * @param isMine Whether an address is that of the login that was begun:
 *   any other program can send a browser here.
 * @throws {MissingPermissionError} If Deno may not listen.
 */
export async function listen(port: number, isMine: (url: URL) => boolean): Promise<Loopback> {
  const { promise: redirected, resolve } = Promise.withResolvers<URL>();
  const server = await serve(port, (request) => {
    const url = new URL(request.url);
    if (request.method !== "GET" || url.pathname !== "/") return page(404, NOT_MINE);
    if (!isMine(url)) return page(400, NOT_MINE);
    resolve(url);
    return page(200, DONE);
  });
  return {
    redirectUri: `http://127.0.0.1:${server.port}/`,
    redirected,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function serve(port: number, handler: (request: Request) => Response): Promise<PlatformServer> {
  try {
    return await platform.serve({ hostname: "127.0.0.1", port }, handler);
  } catch (error) {
    throw missingPermission(error, "wait for the browser") ?? error;
  }
}

function page(status: number, text: string): Response {
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "connection": "close",
    "referrer-policy": "no-referrer",
  };
  return new Response(text, { status, headers });
}
