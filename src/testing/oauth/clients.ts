/**
 * Registered clients and what they may ask for, with the checks of the policy that the Matrix Authentication
 * Service has by default; and how it refuses.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc7591 | RFC 7591}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#client-registration | Client registration}
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { IdGenerator } from "../homeserver_options.ts";
import { canonicalJson, Failure, stringAt } from "../json/json.ts";

/** The grant type for devices that have no browser. */
export const DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code";

export interface OAuthClient {
  /** The ID that it got. */
  readonly id: string;
  /** What it calls itself. */
  readonly name: string | undefined;
  readonly grantTypes: readonly string[];
  readonly redirectUris: readonly string[];
}

/** Hosts that are this machine, whatever the port. */
const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** All clients of an authorization server. */
export class OAuthClients {
  readonly #ids: IdGenerator;
  readonly #clients = new Map<string, OAuthClient>();
  readonly #byMetadata = new Map<string, OAuthClient>();

  /** Makes an empty set. */
  constructor(ids: IdGenerator) {
    this.#ids = ids;
  }

  /** Registers a client, and returns what it is answered. The same metadata get the same client. */
  register(metadata: JsonObject, now: number): JsonObject {
    const grantTypes = list(metadata, "grant_types") ?? ["authorization_code"];
    const redirectUris = list(metadata, "redirect_uris");
    checkClient(metadata, grantTypes, redirectUris);
    const key = canonicalJson(metadata);
    const client = this.#byMetadata.get(key) ?? {
      id: this.#ids.next("client", 26).toUpperCase(),
      name: stringAt(metadata, "client_name"),
      grantTypes,
      redirectUris: redirectUris ?? [],
    };
    this.#byMetadata.set(key, client);
    this.#clients.set(client.id, client);
    return {
      ...metadata,
      grant_types: grantTypes,
      client_id: client.id,
      client_id_issued_at: Math.floor(now / 1000),
    };
  }

  /** The client that a request is from. */
  get(id: string | undefined): OAuthClient {
    const client = id === undefined ? undefined : this.#clients.get(id);
    if (client === undefined) throw new OAuthRefusal(401, "invalid_client", "Client authentication failed.");
    return client;
  }
}

/** Refuses unless a client may ask for tokens in a way. */
export function requireGrantType(client: OAuthClient, grantType: string): void {
  if (client.grantTypes.includes(grantType)) return;
  throw new OAuthRefusal(401, "unauthorized_client", `The client is not registered for ${grantType}`);
}

/** The address that a browser is to be sent to; undefined if the client has not registered it. */
export function redirectUriOf(client: OAuthClient, asked: string | undefined): string | undefined {
  if (asked === undefined) return client.redirectUris.length === 1 ? client.redirectUris[0] : undefined;
  return client.redirectUris.some((uri) => uri === asked || fitsLoopback(uri, asked)) ? asked : undefined;
}

/** On loopback any port will do: RFC 8252, section 7.3. */
function fitsLoopback(registered: string, asked: string): boolean {
  const [one, other] = [URL.parse(registered), URL.parse(asked)];
  if (one === null || other === null || one.protocol !== "http:" || !LOOPBACK.has(one.hostname)) return false;
  other.port = one.port;
  return one.href === other.href;
}

function list(metadata: JsonObject, name: string): readonly string[] | undefined {
  const value = metadata[name];
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw invalid(`${name} must be an array of strings`);
}

function checkClient(
  metadata: JsonObject,
  grantTypes: readonly string[],
  redirectUris: readonly string[] | undefined,
): void {
  const clientUri = stringAt(metadata, "client_uri");
  if (clientUri === undefined) throw invalid("missing client_uri");
  const client = secureUrl(clientUri);
  if (client === undefined) throw invalid("invalid client_uri");
  for (const name of ["logo_uri", "tos_uri", "policy_uri"]) {
    const uri = stringAt(metadata, name);
    if (uri === undefined) continue;
    const url = secureUrl(uri);
    if (url === undefined) throw invalid(`invalid ${name}`);
    if (!isWithin(url, client)) throw invalid(`${name} not on the same host as the client_uri`);
  }
  if (stringAt(metadata, "token_endpoint_auth_method") !== "none") {
    throw invalid("token_endpoint_auth_method must be none");
  }
  if (grantTypes.includes("authorization_code") && !redirectUris?.length) {
    throw refusal("invalid_redirect_uri", "missing redirect_uris");
  }
  const isNative = metadata.application_type === "native";
  for (const uri of redirectUris ?? []) {
    const url = secureUrl(uri);
    const isFine = isNative && isNativeRedirect(uri, client) || url !== undefined && isWithin(url, client);
    if (!isFine || uri.includes("#")) throw refusal("invalid_redirect_uri", `invalid redirect_uri ${uri}`);
  }
}

function invalid(description: string): OAuthRefusal {
  return refusal("invalid_client_metadata", description);
}

/**
 * An address as the policy of the Matrix Authentication Service takes it: a plain path, and no port or query.
 */
function secureUrl(uri: string): URL | undefined {
  const [, host = ""] = /^https:\/\/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)\/[A-Za-z0-9/.-]*$/.exec(uri) ?? [];
  return host === "" || host === "0.0.0.0" || LOOPBACK.has(host) ? undefined : new URL(uri);
}

function isWithin(url: URL, client: URL): boolean {
  return url.hostname === client.hostname || url.hostname.endsWith(`.${client.hostname}`);
}

/** An application on someone's machine listens on loopback, or has a scheme that is its domain, reversed. */
function isNativeRedirect(uri: string, client: URL): boolean {
  const url = URL.parse(uri);
  if (url === null || url.protocol === "https:") return false;
  if (url.protocol === "http:") return LOOPBACK.has(url.hostname);
  const domain = client.hostname.split(".").reverse().join(".");
  return url.host === "" && `${url.protocol.slice(0, -1)}.`.startsWith(`${domain}.`);
}

/** The metadata that a registration request carries. */
export function readMetadata(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw invalid("The metadata of a client must be a JSON object");
  return value;
}

/** Both spellings, with what stands behind them. */
const MATRIX =
  /^urn:matrix:(?:org\.matrix\.msc2967\.)?client:(?:(api:\*)|device:([A-Za-z0-9._~!$&'()*+,;=:@/-]{10,}))$/;
const UNSTABLE = "urn:matrix:org.matrix.msc2967.client:";
const STABLE = "urn:matrix:client:";
const OTHERS: ReadonlySet<string> = new Set(["openid", "email"]);

/** The scopes of a text. */
function scopesOf(scope: string): readonly string[] {
  return scope.split(" ").filter((part) => part !== "");
}

export function deviceOf(scope: string): string | undefined {
  return scopesOf(scope).map((part) => MATRIX.exec(part)?.[2]).find((id) => id !== undefined);
}

/** Says why nobody can approve a scope, as the policy of the Matrix Authentication Service has it. */
export function problemOf(scope: string): string | undefined {
  const parts = scopesOf(scope);
  const strange = parts.find((part) => !MATRIX.test(part) && !OTHERS.has(part));
  if (strange !== undefined) return `scope '${strange}' not allowed`;
  const matrix = parts.map((part) => MATRIX.exec(part)).filter((match) => match !== null);
  const devices = matrix.filter((match) => match[2] !== undefined);
  if (devices.length > 1) return "only one device scope is allowed at a time";
  if (devices.length > 0 && !matrix.some((match) => match[1] !== undefined)) {
    return "device scopes are only allowed when the client-server API scope is requested";
  }
  const [unstable, stable] = [UNSTABLE, STABLE].map((start) => parts.some((part) => part.startsWith(start)));
  return unstable && stable ? "request cannot mix unstable and stable scopes" : undefined;
}

/** Returns whether a scope allows to use the client-server API. */
export function allowsApi(scope: string): boolean {
  return scopesOf(scope).some((part) => MATRIX.exec(part)?.[1] !== undefined);
}

/** A refusal of the authorization server. */
export class OAuthRefusal extends Failure {
  override readonly body: JsonObject;

  /** Makes a refusal. */
  constructor(status: number, error: string, description: string) {
    super(status, error, description, { headers: NO_STORE });
    this.body = { error, error_description: description };
  }
}

/** What keeps an answer out of caches. */
export const NO_STORE: Readonly<Record<string, string>> = { "cache-control": "no-store", pragma: "no-cache" };

/** 400, as most refusals are. */
export const refusal = (error: string, description: string): OAuthRefusal =>
  new OAuthRefusal(400, error, description);
