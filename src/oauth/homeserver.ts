/**
 * The homeserver: whose authorization server is asked, and what a client takes to act there.
 *
 * @module
 */

import { type FindAddress, type FindTokens, HTTPAPI, type Tokens } from "../api/http/mod.ts";
import { homeserverOf } from "../api/server/server.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { DeviceID, UserID } from "../types/ids.ts";
import type { Transport } from "./authorization_server.ts";
import { type AuthMetadata, MAX_METADATA, readMetadata } from "./metadata.ts";

/** Where a homeserver is, and how it is asked. */
export interface OAuthServerOptions {
  /** The homeserver's address. Default: where the domain of `mxid` says. */
  baseUrl?: string | URL | FindAddress;
  /** The user who logs in. Default: the one who agrees, which is not checked then. */
  mxid?: UserID;
  /** What sends the requests. Default: the global `fetch`. */
  fetch?: typeof fetch;
  /** Where requests are logged, as of a client. */
  log?: Logger | false;
  /** Measures timeouts and waits. Default: the machine's clock. */
  clock?: Clock;
  /** The `User-Agent` of requests to the homeserver. Default: as a client's. */
  userAgent?: string;
  /** Ends the call. Default: nothing does. */
  signal?: AbortSignal;
}

/** The options of a client that acts with a session; the store and all else are up to the application. */
export interface OAuthClientOptions {
  /** The homeserver's address. */
  readonly baseUrl: OAuthServerOptions["baseUrl"];
  /** Whose session it is. */
  readonly mxid: UserID;
  /** The device that the tokens are for. */
  readonly deviceId: DeviceID;
  /** The access token of now. Secret. */
  readonly accessToken: string;
  /** How long that lives from now, in milliseconds; undefined: the server has not said. */
  readonly expiresIn: number | undefined;
  /** Refreshes the tokens. */
  readonly findTokens: FindTokens;
  /** Revokes the tokens when the client logs out. */
  readonly revokeTokens: () => Promise<void>;
}

/** The names of what finds a homeserver. */
export const SERVER: OptionNames<OAuthServerOptions> = {
  ...{ baseUrl: true, mxid: true, fetch: true, log: true, clock: true, userAgent: true, signal: true },
};

/**
 * The transport of requests to the homeserver.
 *
 * @throws {ValueError} If there is no homeserver.
 */
export function homeserver(
  { baseUrl, mxid, fetch, log, clock, userAgent }: OAuthServerOptions,
  tokens: Partial<Tokens> = {},
): HTTPAPI {
  if (baseUrl === undefined && mxid === undefined) {
    throw new ValueError("Cannot use OAuth 2.0: it needs a homeserver; give it baseUrl or mxid");
  }
  const transport = { fetch, log, clock, userAgent };
  return new HTTPAPI({
    ...transport,
    ...tokens,
    maxResponseSize: MAX_METADATA,
    baseUrl: baseUrl ?? ((signal) => homeserverOf(mxid ?? "", { ...transport, signal })),
  });
}

/** Makes the transport of requests to the authorization server. */
export function transportOf({ fetch: send, clock = systemClock }: OAuthServerOptions): Transport {
  return { fetch: send ?? ((input, init) => fetch(input, init)), clock };
}

/**
 * Asks a homeserver for the metadata of its authorization server.
 *
 * @param options The homeserver.
 * @returns The fields that are used here, each of them checked:
 *   addresses are of https (or of this machine, if the issuer is), nothing is longer than it need be.
 * @throws {OAuthError} If the homeserver does not offer OAuth 2.0 (`OAUTH_UNSUPPORTED`), or a field can't be
 *   used (`OAUTH_METADATA`).
 * @throws {NetworkError} If the homeserver can't be reached.
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1auth_metadata | GET /auth_metadata}
 * @example
 * ```ts
 * import { getAuthMetadata } from "@greenroom/matrix/oauth";
 *
 * const { account_management_uri } = await getAuthMetadata({
 *   baseUrl: "https://matrix.example.org",
 *   fetch: () =>
 *     Promise.resolve(Response.json({
 *       issuer: "https://account.example.org/",
 *       token_endpoint: "https://account.example.org/token",
 *       account_management_uri: "https://account.example.org/manage",
 *     })),
 * });
 * console.assert(account_management_uri === "https://account.example.org/manage");
 * ```
 */
export async function getAuthMetadata(options: OAuthServerOptions): Promise<AuthMetadata> {
  checkOptions(options, SERVER, "read the metadata");
  return (await readMetadata(homeserver(options), options.signal)).metadata;
}
