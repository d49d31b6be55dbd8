/**
 * The registration of an application service: what it and its homeserver know of each other; and a ping,
 * which tries that.
 *
 * @see {@link https://spec.matrix.org/v1.19/application-service-api/#registration | Registration}
 * @see {@link https://spec.matrix.org/v1.19/application-service-api/#pinging | Pinging}
 *
 * Over 300 lines because a ping tries what the registration says.
 *
 * @module
 */

import { parse, stringify } from "yaml";
import type { HTTPAPI } from "../api/http/mod.ts";
import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import { MatrixError, ValueError } from "../errors/matrix_error.ts";
import { UnrecognizedError } from "../errors/errcodes.ts";
import { MatrixRequestError } from "../errors/request_error.ts";
import { isJsonObject } from "../types/json.ts";

/** Identifiers that an application service is interested in. */
export interface Namespace {
  /** A regular expression that the whole beginning of an identifier has to match. */
  regex: string;
  /** Whether nobody else may make such a user or alias. */
  exclusive: boolean;
}

/** The namespaces of an application service. */
export interface Namespaces {
  /** User IDs. */
  users?: Namespace[];
  /** Room aliases. */
  aliases?: Namespace[];
  /** Room IDs. */
  rooms?: Namespace[];
}

/** What is in the file that the administrator of the homeserver adds to its configuration. */
export interface Registration {
  /** Names the application service, and never changes. */
  id: string;
  /** Where the homeserver reaches it; null: nowhere. */
  url: string | null;
  /** What the application service shows to the homeserver: keep it secret. */
  as_token: string;
  /** What the homeserver shows to the application service: keep it secret. */
  hs_token: string;
  /**
   * The part before the colon of the ID of the user that it is for the homeserver, which is its own
   * user unless `greenroom.bot` says otherwise.
   */
  sender_localpart: string;
  /** The users, aliases and rooms that it is interested in. */
  namespaces: Namespaces;
  /** Whether its users are limited in how fast they send. Default: true, and never for the sender. */
  rate_limited?: boolean;
  /** The networks that it bridges to. */
  protocols?: string[];
  /** Whether it is sent typing, receipts and presence. Default: false. */
  receive_ephemeral?: boolean;
  /**
   * The part before the colon of the ID of its own user, if that is none of the homeserver's making.
   * With encryption it has to be: Synapse does not let `sender_localpart` read what was sent to its
   * device while the application service was down.
   */
  "greenroom.bot"?: string;
  /** Whatever else the file says. */
  [key: string]: unknown;
}

/** What a new registration is made of. */
export interface CreateRegistrationOptions {
  /** Names the application service, and never changes. */
  id: string;
  /** Where the homeserver reaches it; null: nowhere. */
  url: string | null;
  /** The part behind the colon of its users' IDs. */
  serverName: string;
  /** The part before the colon of the ID of its own user. Default: the `id`. */
  senderLocalpart?: string;
  /** What the IDs of its other users begin with, after the `@`. Default: `_`, the `id` and `_`. */
  userPrefix?: string;
  /** What its aliases begin with, after the `#`. Default: none are its own. */
  aliasPrefix?: string;
  /** Networks that it bridges to. Default: none. */
  protocols?: string[];
  /** Whether its users encrypt: see {@linkcode AppserviceOptions.encryption}. Default: false. */
  encryption?: boolean;
}

const OPTIONS: OptionNames<CreateRegistrationOptions> = {
  ...{ id: true, url: true, serverName: true, senderLocalpart: true, userPrefix: true },
  ...{ aliasPrefix: true, protocols: true, encryption: true },
};
const TEXTS = ["id", "as_token", "hs_token", "sender_localpart"] as const;
/** What a header can have, and is read of one. */
const TOKEN = /^[\x21-\x7e]{1,1000}$/;
/** The longest registration, in characters. */
const MAX_LENGTH = 1_000_000;

/**
 * Makes a registration, with new tokens.
 *
 * @param options What it is made of.
 * @returns The registration: keep its tokens secret.
 * @throws {ValueError} If an option can't be used.
 * @example
 * ```ts
 * import { createRegistration, registrationToYaml } from "@greenroom/matrix/appservice";
 *
 * const registration = createRegistration({
 *   id: "echo",
 *   url: "http://localhost:9000",
 *   serverName: "example.org",
 * });
 * console.assert(registrationToYaml(registration).includes("sender_localpart: echo"));
 * ```
 */
export function createRegistration(options: CreateRegistrationOptions): Registration {
  checkOptions(options, OPTIONS, "make a registration");
  const {
    id,
    url,
    serverName,
    senderLocalpart = id,
    userPrefix = `_${id}_`,
    aliasPrefix,
    protocols,
    encryption,
  } = options;
  const own = (sign: string, prefix: string): Namespace[] => [
    { regex: `${sign}${escaped(prefix)}.*:${escaped(serverName)}`, exclusive: true },
  ];
  const bot = { regex: `@${escaped(senderLocalpart)}:${escaped(serverName)}$`, exclusive: true };
  return checkRegistration({
    id,
    url,
    as_token: randomToken(),
    hs_token: randomToken(),
    sender_localpart: encryption ? `${senderLocalpart}_service` : senderLocalpart,
    namespaces: {
      users: [...own("@", userPrefix), ...encryption ? [bot] : []],
      aliases: aliasPrefix === undefined ? [] : own("#", aliasPrefix),
      rooms: [],
    },
    rate_limited: false,
    receive_ephemeral: true,
    ...(protocols && { protocols }),
    ...(encryption && {
      "org.matrix.msc3202": true,
      "io.element.msc4190": true,
      "greenroom.bot": senderLocalpart,
    }),
  });
}

/**
 * Writes a registration as homeservers read it.
 *
 * @param registration The registration.
 * @returns YAML: keep it secret.
 * @throws {ValueError} If something is missing, or of the wrong kind.
 */
export function registrationToYaml(registration: Registration): string {
  return stringify(checkRegistration(registration));
}

/**
 * Reads a registration.
 *
 * @param text YAML, or JSON.
 * @returns The registration.
 * @throws {ValueError} If it is no YAML, or something is missing, or of the wrong kind.
 */
export function parseRegistration(text: string): Registration {
  if (text.length > MAX_LENGTH) {
    throw new ValueError(`Cannot read the registration: it has more than ${MAX_LENGTH} characters`);
  }
  let value: unknown;
  try {
    value = parse(text, { logLevel: "silent" });
  } catch {
    // Why is not said: the parser quotes the line, and a token may be in it.
    throw new ValueError("Cannot read the registration: it is no YAML");
  }
  return checkRegistration(value);
}

/**
 * Refuses what is no registration, or lacks something of one.
 *
 * @throws {ValueError} If something is missing, or of the wrong kind.
 */
export function checkRegistration(value: unknown): Registration {
  if (!isJsonObject(value)) throw wrong("it must be an object");
  for (const name of TEXTS) {
    if (typeof value[name] === "string" && value[name] !== "") continue;
    const camel = name.replace(/_(.)/, (_, letter) => letter.toUpperCase());
    const hint = camel !== name && Object.hasOwn(value, camel) ? `, and is named so, not ${camel}` : "";
    throw wrong(`${name} must be a text${hint}`);
  }
  const { url, namespaces, sender_localpart, as_token, hs_token } = value;
  if (![as_token, hs_token].every((token) => TOKEN.test(String(token)))) {
    throw wrong("as_token and hs_token may have no spaces, nothing but ASCII, and 1,000 characters");
  }
  if (url !== null && !(typeof url === "string" && URL.canParse(url))) {
    throw wrong("url must be an address, or null");
  }
  for (const name of ["sender_localpart", "greenroom.bot"]) {
    const { [name]: localpart = sender_localpart } = value;
    if (encodeURIComponent(String(localpart)) !== localpart) {
      throw wrong(`${name} must need no escaping in a URL`);
    }
  }
  if (as_token === hs_token) throw wrong("as_token and hs_token must not be the same");
  if (!isJsonObject(namespaces)) throw wrong("namespaces must be an object");
  for (const kind of ["users", "aliases", "rooms"]) checkNamespaces(kind, namespaces[kind] ?? []);
  return value as unknown as Registration; // checked
}

function checkNamespaces(kind: string, list: unknown): void {
  if (!Array.isArray(list)) throw wrong(`namespaces.${kind} must be a list`);
  for (const each of list as unknown[]) {
    if (!isJsonObject(each) || typeof each.regex !== "string" || typeof each.exclusive !== "boolean") {
      throw wrong(`each of namespaces.${kind} must have a regex and exclusive`);
    }
    try {
      new RegExp(each.regex);
    } catch (cause) {
      throw wrong(`a regex of namespaces.${kind} can't be used`, cause);
    }
  }
}

function wrong(what: string, cause?: unknown): ValueError {
  return new ValueError(`Cannot use the registration: ${what}`, { cause });
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** 256 random bits. */
function randomToken(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toHex();
}

/**
 * The homeserver and the application service do not find each other, or do not have the same
 * registration. Its message says what to do, its `cause` what the homeserver said.
 *
 * Mend: Compare the registration with the homeserver's, its `url` with where the application
 * service listens, and restart the homeserver.
 */
export class AppservicePingError extends MatrixError {
  /** Always `APPSERVICE_PING`. */
  override readonly code = "APPSERVICE_PING";
}

/**
 * Has the homeserver ping the application service.
 *
 * @param http The way to the homeserver, with the application service's token.
 * @param options Whom it pings.
 * @returns How long the homeserver's request took, in milliseconds; undefined if the homeserver
 *   can't be asked so.
 * @throws {AppservicePingError} If it does not get through.
 */
export async function pingAppservice(
  http: HTTPAPI,
  { id, url }: Registration,
  hasPinged: (id: string) => boolean,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const pingId = crypto.randomUUID();
  const { clock } = http;
  const start = clock.now();
  try {
    const answer = await http.request<{ duration_ms?: unknown }>(
      "POST",
      "/_matrix/client/v1/appservice/{appserviceId}/ping",
      { path: { appserviceId: id }, body: { transaction_id: pingId }, signal },
    );
    return Number(answer.duration_ms);
  } catch (error) {
    if (error instanceof UnrecognizedError) return undefined;
    if (!(error instanceof MatrixRequestError)) throw error;
    // Synapse fails after it has got through, if it was about to send a transaction again.
    if (hasPinged(pingId)) return clock.now() - start;
    const mend = mendOf(error, String(url));
    if (mend === undefined) throw error;
    throw new AppservicePingError(`Cannot reach the application service ${id}: ${mend}`, { cause: error });
  }
}

function mendOf({ code, body }: MatrixRequestError, url: string): string | undefined {
  switch (code) {
    case "M_UNKNOWN_TOKEN":
      return "the homeserver does not know its as_token; load the same registration there, and restart it";
    case "M_FORBIDDEN":
      return "its as_token belongs to another registration of the homeserver; give each its own";
    case "M_URL_NOT_SET":
      return "its registration on the homeserver has no url; set it there";
    case "M_CONNECTION_FAILED":
      return `the homeserver could not connect to ${url}; serve fetch there, where the homeserver finds it`;
    case "M_CONNECTION_TIMEOUT":
      return `nothing answered the homeserver in time at ${url}; serve fetch there`;
    case "M_BAD_STATUS":
      return body.status === 401 || body.status === 403
        ? "it refused the homeserver's hs_token; use the same registration on both sides"
        : `what answered the homeserver at ${url} said ${String(body.status)}; serve fetch there`;
    default:
      return undefined;
  }
}
