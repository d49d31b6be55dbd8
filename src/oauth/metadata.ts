/**
 * The metadata of a homeserver's authorization server, of which each field is checked,
 * and what it says of where users manage their account and devices in a browser.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1auth_metadata | GET /auth_metadata}
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#oauth-20-account-management | Account management}
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4191 | MSC4191}
 *
 * @module
 */

import { CALL, endpoint, type HTTPAPI, jsonObject } from "../api/http/mod.ts";
import { isLoopback } from "../api/server/server.ts";
import { OAuthError } from "../errors/account_errcodes.ts";
import { asksFor } from "../errors/hints.ts";
import { UnrecognizedError } from "../errors/errcodes.ts";
import { MatrixRequestError } from "../errors/request_error.ts";
import type { DeviceID } from "../types/ids.ts";
import type { JsonObject } from "../types/json.ts";

/** The grants that a login may use, as they are called in the metadata. */
export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** The largest metadata, in bytes. */
export const MAX_METADATA = 1 << 16;
/** The longest address in it, in characters. */
const MAX_URL = 2_048;
/** The most values of a list in it, and the longest of them, in characters. */
const MAX_VALUES = 100;
const MAX_VALUE = 200;

/** What a homeserver says of its authorization server; the names are those of RFC 8414 and of Matrix. */
export interface AuthMetadata {
  /** Names the authorization server: an address without query and fragment. */
  readonly issuer: string;
  /** Gives tokens. */
  readonly token_endpoint: string;
  /** Where a user agrees, in a browser. Undefined: there is no login by authorization code. */
  readonly authorization_endpoint?: string;
  /** Registers clients. Undefined: a client needs an ID from the server's administration. */
  readonly registration_endpoint?: string;
  /** Ends sessions. Undefined: nothing does but the account management. */
  readonly revocation_endpoint?: string;
  /** Begins a login by device code. Undefined: there is none. */
  readonly device_authorization_endpoint?: string;
  /** Where a user manages the account, in a browser. Undefined: there is no such page. */
  readonly account_management_uri?: string;
  /** What that page can be opened for, like `org.matrix.device_view`. */
  readonly account_management_actions_supported?: readonly string[];
  /** The grants. Undefined: the server does not say. */
  readonly grant_types_supported?: readonly string[];
  /** The types of response, of which `code` is needed. Undefined: the server does not say. */
  readonly response_types_supported?: readonly string[];
  /** How the response comes, like `query`. Undefined: the server does not say. */
  readonly response_modes_supported?: readonly string[];
  /** The challenges of PKCE, of which `S256` is needed. Undefined: the server does not say. */
  readonly code_challenge_methods_supported?: readonly string[];
  /** The values of `prompt`, like `create`. Undefined: the server does not say. */
  readonly prompt_values_supported?: readonly string[];
  /** The scopes. Undefined: the server does not say. */
  readonly scopes_supported?: readonly string[];
  /** Whether the response of a login by authorization code names its issuer. Default: false. */
  readonly authorization_response_iss_parameter_supported?: boolean;
}

const OPTIONAL_ENDPOINTS = [
  ...["authorization_endpoint", "registration_endpoint", "revocation_endpoint"],
  ...["device_authorization_endpoint", "account_management_uri"],
];
const LISTS = [
  ...["account_management_actions_supported", "grant_types_supported", "response_types_supported"],
  ...["response_modes_supported", "code_challenge_methods_supported", "prompt_values_supported"],
  "scopes_supported",
];

const parse = (body: unknown, request: string): AuthMetadata => checkedMetadata(jsonObject(body, request));

const stable = endpoint("getAuthMetadata", "GET", "/_matrix/client/v1/auth_metadata", parse, { auth: false });
const unstable = endpoint(
  "getAuthMetadata",
  "GET",
  "/_matrix/client/unstable/org.matrix.msc2965/auth_metadata",
  parse,
  { auth: false },
);

/** The metadata, and how the server spells what was stable later. */
interface ServerMetadata {
  readonly metadata: AuthMetadata;
  /** Whether the server knows only the names from before the specification had them. */
  readonly isUnstable: boolean;
}

/**
 * Asks a homeserver for the metadata of its authorization server.
 *
 * @throws {OAuthError} If it has none, or a field can't be used.
 */
export async function readMetadata(http: HTTPAPI, signal?: AbortSignal): Promise<ServerMetadata> {
  for (const [path, isEarly] of [[stable, false], [unstable, true]] as const) {
    try {
      const metadata = await http[CALL](path, { path: {} }, { signal });
      return { metadata, isUnstable: isEarly || knowsOnlyUnstable(metadata) };
    } catch (error) {
      const isAbsent = error instanceof MatrixRequestError &&
        (error.status === 404 || error instanceof UnrecognizedError);
      if (!isAbsent) throw error;
    }
  }
  const error = new OAuthError(
    "Cannot log in by OAuth 2.0: the homeserver does not offer it; use client.login()",
    { code: "OAUTH_UNSUPPORTED" },
  );
  throw asksFor(error, "another login");
}

function knowsOnlyUnstable({ scopes_supported: scopes = [] }: AuthMetadata): boolean {
  return scopes.some((scope) => scope.startsWith("urn:matrix:org.matrix.msc2967.client:")) &&
    !scopes.some((scope) => scope.startsWith("urn:matrix:client:"));
}

/**
 * The fields of a server's metadata that are used here, each of which is what it has to be.
 *
 * @throws {OAuthError} If one is not, or is missing.
 */
function checkedMetadata(body: JsonObject): AuthMetadata {
  const issuer = checkedUrl("issuer", body.issuer);
  if (/[?#]/.test(issuer)) throw unusable("issuer", "has a query or a fragment");
  const mayBeClear = isLocal(issuer);
  const checked: Record<string, unknown> = {
    issuer,
    token_endpoint: checkedUrl("token_endpoint", body.token_endpoint, mayBeClear),
  };
  for (const name of OPTIONAL_ENDPOINTS) {
    const url = body[name];
    if (url !== undefined && url !== null) checked[name] = checkedUrl(name, url, mayBeClear);
  }
  for (const name of LISTS) {
    const list = body[name];
    if (list !== undefined && list !== null) checked[name] = checkedList(name, list);
  }
  const names = body.authorization_response_iss_parameter_supported ?? false;
  if (typeof names !== "boolean") {
    throw unusable("authorization_response_iss_parameter_supported", "is no boolean");
  }
  return { ...checked, authorization_response_iss_parameter_supported: names } as unknown as AuthMetadata;
}

function checkedUrl(name: string, value: unknown, mayBeClear = true): string {
  if (value === undefined || value === null) throw unusable(name, "is missing");
  if (typeof value !== "string") throw unusable(name, `is of type ${typeof value}, and no text`);
  if (value.length > MAX_URL) throw unusable(name, `has more than ${MAX_URL} characters`);
  const url = URL.parse(value);
  if (url === null) throw unusable(name, "is no absolute URL");
  if (url.protocol !== "https:" && !(mayBeClear && isLocal(value))) {
    throw unusable(name, "is not https: all on the way could read what goes there");
  }
  if (url.username !== "" || url.password !== "") throw unusable(name, "has a user name or a password");
  if (name !== "account_management_uri" && value.includes("#")) throw unusable(name, "has a fragment");
  return value;
}

/** Returns whether an address is of plain http, and of this machine. */
export function isLocal(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed?.protocol === "http:" && isLoopback(parsed.hostname);
}

function checkedList(name: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw unusable(name, "is no list");
  if (value.length > MAX_VALUES) throw unusable(name, `has more than ${MAX_VALUES} values`);
  if (!value.every((each) => typeof each === "string" && each.length <= MAX_VALUE)) {
    throw unusable(name, `has a value that is no text of at most ${MAX_VALUE} characters`);
  }
  return value;
}

function unusable(name: string, state: string): OAuthError {
  return new OAuthError(
    `Cannot use the metadata of the authorization server: ${name} ${state}; tell the homeserver's administrator`,
    { code: "OAUTH_METADATA" },
  );
}

/**
 * Makes sure that there is an endpoint.
 *
 * @throws {OAuthError} If the server has none.
 */
export function needsEndpoint(
  metadata: AuthMetadata,
  name: keyof AuthMetadata & `${string}_endpoint`,
  mend: string,
): void {
  if (metadata[name] === undefined) throw asksFor(lacking(name, mend), "another login");
}

/**
 * Makes sure that a list of the metadata has a value, or that there is no such list.
 *
 * @throws {OAuthError} If it has not.
 */
export function needsValue(
  metadata: AuthMetadata,
  name: keyof AuthMetadata & `${string}s_supported`,
  value: string,
  mend: string,
): void {
  if (metadata[name]?.includes(value) ?? true) return;
  throw asksFor(lacking(`${value} in ${name}`, mend), "another login");
}

/** Says what an authorization server has not, and what to do. */
export function lacking(what: string, mend: string): OAuthError {
  return new OAuthError(`Cannot use OAuth 2.0: the authorization server has no ${what}; ${mend}`, {
    code: "OAUTH_UNSUPPORTED",
  });
}

/** What the account management can be opened for; the names are the specification's. */
export type AccountManagementAction =
  | "org.matrix.profile"
  | "org.matrix.devices_list"
  | "org.matrix.device_view"
  | "org.matrix.device_delete"
  | "org.matrix.account_deactivate"
  | "org.matrix.cross_signing_reset";

/** Options of {@linkcode OAuthSession.getAccountManagementUrl}. */
export interface AccountManagementOptions {
  /** What to open it for. Default: its first page. */
  action?: AccountManagementAction;
  /** The device to show or to delete. Default: none. */
  deviceId?: DeviceID;
}

/** What actions were called before the specification had them. */
const UNSTABLE_ACTIONS: Readonly<Record<string, string>> = {
  "org.matrix.devices_list": "org.matrix.sessions_list",
  "org.matrix.device_view": "org.matrix.session_view",
  "org.matrix.device_delete": "org.matrix.session_end",
};

/** The address of the account management; undefined: there is none, or not for that. */
export function accountManagementUrl(
  metadata: AuthMetadata,
  options: AccountManagementOptions,
): string | undefined {
  const { action, deviceId } = options;
  if (metadata.account_management_uri === undefined) return undefined;
  const url = new URL(metadata.account_management_uri);
  if (action !== undefined) {
    const { account_management_actions_supported: all = [action] } = metadata;
    const name = [action, UNSTABLE_ACTIONS[action]].find((each) => each !== undefined && all.includes(each));
    if (name === undefined) return undefined;
    url.searchParams.set("action", name);
  }
  if (deviceId !== undefined) url.searchParams.set("device_id", deviceId);
  return url.href;
}
