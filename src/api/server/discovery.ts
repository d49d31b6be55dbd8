/**
 * From a server name to the address of its homeserver.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#server-discovery | Server discovery}
 *
 * A homeserver, by its address or its server name. The domain of a server name is asked
 * without its port, as the specification says; if it has no discovery file (404), the
 * homeserver is at the name itself, with the port.
 *
 * Over 300 lines because what is found and the way to it are described together.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { MatrixError, MissingPermissionError, ValueError } from "../../errors/matrix_error.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import {
  WellKnownError,
  WellKnownInvalidIdentityServerError,
  WellKnownInvalidVersionsError,
  WellKnownMissingHomeserverError,
  WellKnownNotJsonError,
  WellKnownNotUrlError,
  WellKnownUnreachableError,
  WellKnownUnsupportedSchemeError,
} from "../../errors/service_response_error.ts";
import { isUserId, parseServerName, parseUserId } from "../../types/identifiers.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import {
  CALL,
  checkActOptions,
  checkedBaseUrl,
  DOWNLOAD,
  endpoint,
  type FindAddress,
  HTTPAPI,
  type HTTPAPIOptions,
  isVersion,
  nothing,
  readBytes,
  type RequestOptions,
  Session,
} from "../http/mod.ts";

const wellKnown = endpoint("discover", "GET", "/.well-known/matrix/client", nothing, { auth: false });
const identity = endpoint("discover", "GET", "/_matrix/identity/v2", nothing, { auth: false });

/** What the identity server is called in a discovery file. */
const IDENTITY = "m.identity_server";

/** What a domain says is read up to here, in bytes. */
export const MAX_SIZE = 1 << 18;

/** Options of {@link discover}. */
export interface DiscoverOptions extends RequestOptions {
  /** What sends the requests. Default: the global `fetch`. */
  fetch?: typeof fetch;
  /** Where requests are logged, as of a client. */
  log?: Logger | false;
  /** Measures timeouts and waits. Default: the machine's clock. */
  clock?: Clock;
  /** The `User-Agent` of the requests. Default: as a client's. */
  userAgent?: string;
}

/**
 * Finds the homeserver of a domain, as the part of a user ID behind the colon names it, and makes
 * sure that it is one. If the domain names an identity server, that has to be one too, as the
 * specification says.
 *
 * @param domain The server name, or the ID of a user there. A port is left out, as the
 *   specification says.
 * @param options What sends the requests, and request options.
 * @returns The homeserver's address, for `baseUrl`; undefined if the domain has no discovery file
 *   (404).
 * @throws {WellKnownError} If the discovery file can't be had or used, or no homeserver or identity
 *   server is where it says.
 * @throws {ValueError} If the domain can't be one.
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#getwell-knownmatrixclient | GET /.well-known/matrix/client}
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 *
 * const answers: Record<string, unknown> = {
 *   "https://example.org/.well-known/matrix/client": { "m.homeserver": { base_url: "https://hs.example.org/" } },
 *   "https://hs.example.org/_matrix/client/versions": { versions: ["v1.16"] },
 * };
 * const baseUrl = await Client.discover("example.org", {
 *   fetch: (url) => Promise.resolve(Response.json(answers[String(url)])),
 * });
 * console.assert(baseUrl === "https://hs.example.org");
 * ```
 */
export async function discover(domain: string, options: DiscoverOptions = {}): Promise<string | undefined> {
  const own = { fetch: true, log: true, clock: true, userAgent: true } as const;
  checkActOptions(options, own, "discover the homeserver");
  return await lookUp(domain, options, () => {});
}

/**
 * Finds the homeserver of a user whose token will be sent there: its address must be one of https.
 *
 * @param whose The user; or a server name, which is that of the homeserver if it has no discovery file.
 * @param options What sends the requests, and request options.
 * @throws {WellKnownError} If the domain of a user does not say where that is, or a domain names an address
 *   of plain http, unless both are on this machine; and as {@link discover}.
 */
export async function homeserverOf(whose: string, options: DiscoverOptions): Promise<string> {
  const baseUrl = await lookUp(whose, options, checkSecrecy).catch((error) => {
    throw error.cause instanceof MissingPermissionError ? error.cause : error; // which no other address mends
  });
  if (baseUrl !== undefined) return baseUrl;
  if (!isUserId(whose)) return `https://${whose}`;
  throw new WellKnownError(
    `Cannot discover the homeserver of ${whose}: the domain has no discovery file; give the client a baseUrl`,
  );
}

function checkSecrecy(homeserver: URL, host: string): void {
  if (homeserver.protocol === "https:" || (isLoopback(homeserver.hostname) && isLoopback(host))) return;
  throw new WellKnownUnsupportedSchemeError(
    `Cannot discover the homeserver of ${host}: its base_url is plain http, which all on the way can read; ` +
      "give the client a baseUrl to go there all the same",
  );
}

/** Returns whether a host is this machine. */
export function isLoopback(host: string): boolean {
  return /^(.*\.)?localhost$|^127(\.\d{1,3}){3}$|^\[::1\]$/.test(host);
}

async function lookUp(
  domain: string,
  options: DiscoverOptions,
  check: (homeserver: URL, host: string) => void,
): Promise<string | undefined> {
  const host = parseServerName(isUserId(domain) ? parseUserId(domain)[1] : domain)?.host;
  if (host === undefined) {
    throw new ValueError(
      "Cannot discover the homeserver: the domain must be a server name like example.org, or a user ID",
    );
  }
  const { fetch: send, log, clock, userAgent, ...requestOptions } = options;
  const transport = { fetch: send, log, clock, userAgent, maxResponseSize: MAX_SIZE };
  const domainHttp = new HTTPAPI({ ...transport, fetch: encryptedOnly(send), baseUrl: `https://${host}` });
  const text = await wellKnownFile(domainHttp, requestOptions);
  if (text === undefined) return undefined;
  const file = discoveryFile(text, host);
  const baseUrl = homeserverUrl(file, host);
  check(new URL(baseUrl), host);
  await checkHomeserver(new Session(new HTTPAPI({ ...transport, baseUrl })), host, requestOptions);
  if (Object.hasOwn(file, IDENTITY)) {
    await checkIdentityServer(
      file,
      host,
      (url) => new HTTPAPI({ ...transport, baseUrl: url })[CALL](identity, { path: {} }, requestOptions),
    );
  }
  return baseUrl;
}

/**
 * A `fetch` that does not follow a redirect to plain http: an eavesdropper could name any homeserver
 * there, or anything else.
 */
export function encryptedOnly(
  send: typeof fetch = fetch,
  action: string = "discover the homeserver",
): typeof fetch {
  return async (input, init) => {
    if (String(input).startsWith("https:")) return await send(input, init);
    throw new WellKnownUnreachableError(`Cannot ${action}: the domain redirects to plain http`);
  };
}

/** The text of the discovery file; undefined if there is none. */
async function wellKnownFile(http: HTTPAPI, options: RequestOptions): Promise<string | undefined> {
  try {
    return await http[DOWNLOAD](wellKnown, { path: {} }, options, async (answer) => {
      const { status } = answer.response;
      if (status !== 200) {
        throw new WellKnownUnreachableError(`Cannot use the answer to discover: status ${status}`);
      }
      return new TextDecoder().decode(await readBytes(answer, MAX_SIZE));
    });
  } catch (error) {
    if (error instanceof MatrixRequestError && error.status === 404) return undefined;
    if (!(error instanceof MatrixError) || error instanceof ValueError) throw error;
    const reason = error.message.replace(/^Cannot [^:(]*(?:\([^)]*\))?: /, "");
    throw new WellKnownUnreachableError(
      `Cannot discover the homeserver: ${http.baseUrl} gives no discovery file: ${reason}`,
      { cause: error },
    );
  }
}

/** The discovery file, if it is one. */
function discoveryFile(text: string, host: string): JsonObject {
  const file = parsed(text);
  if (isJsonObject(file)) return file;
  throw new WellKnownNotJsonError(
    `Cannot discover the homeserver of ${host}: the discovery file is no JSON object`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The address that a discovery file has of a server; undefined if it has none. */
function addressIn(file: JsonObject, name: string): string | undefined {
  const server = file[name];
  return isJsonObject(server) && typeof server.base_url === "string" ? server.base_url : undefined;
}

function homeserverUrl(file: JsonObject, host: string): string {
  const url = addressIn(file, "m.homeserver");
  if (url === undefined) {
    throw new WellKnownMissingHomeserverError(
      `Cannot discover the homeserver of ${host}: the discovery file has no m.homeserver.base_url`,
    );
  }
  const parsed = URL.parse(url);
  if (parsed === null) {
    throw new WellKnownNotUrlError(
      `Cannot discover the homeserver of ${host}: its base_url is no absolute URL`,
    );
  }
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:") {
    throw new WellKnownUnsupportedSchemeError(
      `Cannot discover the homeserver of ${host}: its base_url is neither https nor http`,
    );
  }
  try {
    return checkedBaseUrl(parsed);
  } catch (cause) {
    throw new WellKnownNotUrlError(
      `Cannot discover the homeserver of ${host}: its base_url has more than a host and a path`,
      { cause },
    );
  }
}

async function checkHomeserver(session: Session, host: string, options: RequestOptions): Promise<void> {
  let cause: unknown;
  try {
    const { versions } = await session.versions(options);
    if (versions.some(isVersion)) return;
  } catch (error) {
    if (!(error instanceof MatrixError)) throw error;
    cause = error;
  }
  throw new WellKnownInvalidVersionsError(
    `Cannot discover the homeserver of ${host}: no homeserver answers at ${session.http.baseUrl}`,
    { cause },
  );
}

async function checkIdentityServer(
  file: JsonObject,
  host: string,
  ask: (url: string) => Promise<void>,
): Promise<void> {
  const url = addressIn(file, IDENTITY);
  let cause: unknown;
  try {
    if (url !== undefined) return await ask(url);
  } catch (error) {
    if (!(error instanceof MatrixError)) throw error;
    cause = error;
  }
  const why = url === undefined
    ? "its discovery file names an identity server without base_url"
    : "no identity server answers where its discovery file says; leave m.identity_server out of it";
  throw new WellKnownInvalidIdentityServerError(`Cannot discover the homeserver of ${host}: ${why}`, {
    cause,
  });
}

const SERVER_NAME =
  /^(?:localhost|[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,20}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** Returns whether a text is the address of a homeserver. */
export function isAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}

/** Returns whether a text is a server name: one without a dot is more likely a token, but for `localhost`. */
export function isServerName(text: string): boolean {
  return SERVER_NAME.test(text);
}

/** The homeserver, as it is given in one of these ways; and what asks the domain of a server name. */
interface HomeserverOptions
  extends Pick<HTTPAPIOptions, "fetch" | "log" | "clock" | "retry" | "requestTimeout" | "userAgent"> {
  readonly homeserver?: string;
  readonly baseUrl?: string | URL | FindAddress;
  readonly api?: HTTPAPI;
}

/**
 * Where requests find the homeserver; undefined: no way says it.
 *
 * @param action What is made with it, as the error has it.
 * @throws {ValueError} If that is said in two ways, or can't be one.
 */
export function homeserverAddress(
  { homeserver, baseUrl, api, fetch, log, clock, retry, requestTimeout, userAgent }: HomeserverOptions,
  action: string,
): string | URL | FindAddress | undefined {
  if (homeserver === undefined) return baseUrl;
  const other = baseUrl !== undefined ? "baseUrl" : api !== undefined ? "api" : undefined;
  if (other !== undefined) {
    throw new ValueError(`Cannot ${action}: it has both homeserver and ${other}; leave out one of them`);
  }
  if (typeof homeserver === "string") {
    if (isAddress(homeserver)) return homeserver;
    const options = { fetch, log, clock, retry, requestTimeout, userAgent };
    if (isServerName(homeserver)) {
      return (signal) => homeserverOf(homeserver, { ...options, signal });
    }
  }
  throw new ValueError(
    `Cannot ${action}: homeserver must be an address like https://matrix.example.org, or a server name like ` +
      "example.org",
  );
}
