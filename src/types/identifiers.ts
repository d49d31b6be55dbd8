/**
 * What identifiers must look like, those of room keys' sessions and of versions of a backup among them.
 *
 * There are two rules. What others chose is checked where it is received (`isReceivedUserId()` and
 * its like): everything passes that the specification has clients accept, with historical user IDs
 * of any characters. What the application gives is checked before anything is sent (`isUserId()`,
 * `checkIdentifier()` and their like): the name of a server in it must be one, too.
 *
 * A version of a backup is not trusted for being there: the server can make one whose private key it
 * has. It is trusted if its public key is that of a private key that is known, or if it carries a
 * signature of a key that is trusted.
 *
 * @see {@link https://spec.matrix.org/v1.19/appendices/#identifier-grammar | Identifier grammar}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#server-side-key-backups | Server-side key backups}
 *
 * Over 300 lines because each kind of identifier has its rule.
 *
 * @module
 */

import { ValueError } from "../errors/matrix_error.ts";
import { isKey, unpadded } from "./base64.ts";
import type { EventID, RoomAlias, RoomID, UserID } from "./ids.ts";
import { isJsonObject, type JsonObject } from "./json.ts";

/** How long types, state keys and identifiers may be, in bytes. Servers refuse longer ones. */
const MAX_ID_BYTES = 255;

const encoder = new TextEncoder();

/** Returns whether a value is a string that is no longer than types, state keys and identifiers are. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_ID_BYTES &&
    (value.length <= MAX_ID_BYTES / 3 || encoder.encode(value).length <= MAX_ID_BYTES);
}

const PRINTABLE = /^[^\p{Cc}\p{Cs}]+$/u;

/**
 * Returns whether a value can name a device, a session or a request. The specification does not limit the
 * characters of such a name; no client uses control characters.
 */
export function isOpaqueId(value: unknown): value is string {
  return isName(value) && PRINTABLE.test(value);
}

// What others chose.

const AT = "@".charCodeAt(0);
const BANG = "!".charCodeAt(0);
const DOLLAR = "$".charCodeAt(0);
const HASH = "#".charCodeAt(0);

function isReceivedId(value: unknown, sigil: number): value is string {
  return isName(value) && value.charCodeAt(0) === sigil && !value.includes("\0") && value.isWellFormed();
}

/** Returns whether a received value is a user ID, whatever its server is named. */
export function isReceivedUserId(value: unknown): value is UserID {
  return isReceivedId(value, AT) && value.includes(":");
}

/** Returns whether a received value is a room ID; those of room version 12 name no server. */
export function isReceivedRoomId(value: unknown): value is RoomID {
  return isReceivedId(value, BANG);
}

export function isReceivedEventId(value: unknown): value is EventID {
  return isReceivedId(value, DOLLAR);
}

/** Returns whether a received value is a room alias, whatever its server is named. */
export function isReceivedRoomAlias(value: unknown): value is RoomAlias {
  return isReceivedId(value, HASH) && value.includes(":");
}

// Server names.

/** The server of a user ID, as it is written there. */
export function serverOf(userId: UserID): string {
  return userId.slice(userId.indexOf(":") + 1);
}

/** A DNS name or an IPv4 address, or an IPv6 address in brackets; and a port. */
const SERVER_NAME = /^([0-9A-Za-z.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::(\d{1,5}))?$/;
/** The largest port that there is. */
export const MAX_PORT = 65_535;

/** The parts of a server name. */
interface ServerName {
  /** The host, an IPv6 address in its brackets. */
  readonly host: string;
  /** The port; undefined if the name has none. */
  readonly port: number | undefined;
}

/** Splits a server name; undefined if the grammar refuses it. */
export function parseServerName(name: string): ServerName | undefined {
  const [, host, digits] = SERVER_NAME.exec(name) ?? [];
  const port = digits === undefined ? undefined : Number(digits);
  if (host === undefined || (port ?? 0) > MAX_PORT) return undefined;
  if (host.startsWith("[") && !URL.canParse(`https://${host}`)) return undefined;
  return { host, port };
}

// What the application gives.

/** The parts of a user ID. */
export type UserIDParts = [localpart: string, serverName: string];

/**
 * Splits a user ID or a room alias at its first colon. Of the local part only what no server ever
 * allowed is refused: colons and NUL. It may be empty.
 */
function parseQualifiedId(sigil: "@" | "#", id: unknown): UserIDParts | undefined {
  if (!isReceivedId(id, sigil.charCodeAt(0))) return undefined;
  const colon = id.indexOf(":");
  if (colon < 0) return undefined;
  const serverName = id.slice(colon + 1);
  return parseServerName(serverName) && [id.slice(1, colon), serverName];
}

/**
 * Returns whether a value is a user ID on a server that can exist.
 *
 * @param value What came from outside: a variable of the environment, JSON, the keys of an object.
 * @example
 * ```ts
 * import { isUserId } from "@greenroom/matrix";
 *
 * const admins = "@alice:example.org, bob".split(", ").filter(isUserId);
 * console.assert(admins.length === 1);
 * ```
 */
export function isUserId(value: unknown): value is UserID {
  return parseQualifiedId("@", value) !== undefined;
}

/** Returns whether a value is a room ID; one of room version 12 names no server. */
export function isRoomId(value: unknown): value is RoomID {
  return typeof value === "string" && /^!./s.test(value);
}

/** Tells event IDs from all other values. */
export function isEventId(value: unknown): value is EventID {
  return typeof value === "string" && /^\$./s.test(value);
}

/** Returns whether a value is a room alias on a server that can exist. */
export function isRoomAlias(value: unknown): value is RoomAlias {
  return parseQualifiedId("#", value) !== undefined;
}

/**
 * Splits a user ID.
 *
 * The local part may be any that the historical grammar allows: all characters but `:` and NUL; it
 * may be empty. The server name must be one by the grammar, its port at most 65535, and the whole
 * at most 255 bytes long.
 *
 * @param mxid The user ID.
 * @returns The local part and the server name.
 * @throws {ValueError} If it is no user ID.
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 *
 * const [localpart, serverName] = Client.parseUserId("@alice:example.org");
 * console.assert(localpart === "alice" && serverName === "example.org");
 * ```
 */
export function parseUserId(mxid: string): UserIDParts {
  const parts = parseQualifiedId("@", mxid);
  if (parts !== undefined) return parts;
  const given = typeof mxid === "string" ? JSON.stringify(mxid.slice(0, MAX_ID_BYTES)) : `a ${typeof mxid}`;
  throw new ValueError(`Cannot take ${given} for a user ID: it must look like @localpart:server.name`);
}

/** A server, and an ID of characters that can neither leave a path nor mean anything in it. */
const CONTENT_URI = /^mxc:\/\/([^/]+)\/([0-9A-Za-z_-]{1,255})$/;

/**
 * Splits a content URI.
 *
 * @param url The content URI.
 * @throws {ValueError} If it is none.
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#matrix-content-mxc-uris | Matrix content (mxc://) URIs}
 */
export function parseContentUri(url: string): { readonly serverName: string; readonly mediaId: string } {
  const [, serverName, mediaId] = CONTENT_URI.exec(url) ?? [];
  const isServer = serverName !== undefined && parseServerName(serverName) !== undefined;
  if (!isServer || mediaId === undefined || /^\.{1,2}$/.test(serverName)) {
    throw new ValueError("Cannot use the content URI: it must look like mxc://server.name/media_id");
  }
  return { serverName, mediaId };
}

/**
 * What an identifier must be, by the name of the parameter that carries it. The server checks the
 * rest.
 */
const KINDS: Readonly<Record<IdentifierName, readonly [is: (id: string) => boolean, description: string]>> = {
  roomId: [isRoomId, "a room ID: !opaque"],
  roomAlias: [isRoomAlias, "a room alias: #localpart:server.name"],
  roomIdOrAlias: [
    (id) => isRoomId(id) || isRoomAlias(id),
    "a room ID or a room alias: !opaque or #localpart:server.name",
  ],
  userId: [isUserId, "a user ID: @localpart:server.name"],
  eventId: [isEventId, "an event ID: $opaque"],
  aliasLocalpart: [
    (localpart) => /^[^#:\0][^:\0]*$/.test(localpart),
    "the local part of a room alias, without # in front and without colon",
  ],
};

/** The parameters whose values {@link checkIdentifier} checks. */
export type IdentifierName =
  | "roomId"
  | "roomAlias"
  | "roomIdOrAlias"
  | "userId"
  | "eventId"
  | "aliasLocalpart";

/** Returns whether a value is an identifier of a kind. */
export function isIdentifier(name: IdentifierName, value: unknown): boolean {
  return typeof value === "string" && KINDS[name][0](value);
}

/**
 * Checks an identifier that the application gives.
 *
 * @param name The parameter that carries it; a value of a parameter with any other name passes.
 * @param value The identifier.
 * @returns The identifier.
 * @throws {ValueError} If it can't be of the kind that its parameter takes.
 */
export function checkIdentifier<Value>(
  name: IdentifierName | (string & Record<never, never>),
  value: Value,
): Value {
  const known = Object.hasOwn(KINDS, name) ? KINDS[name as IdentifierName] : undefined;
  if (known === undefined || (typeof value === "string" && known[0](value))) return value;
  const given = typeof value === "string"
    ? JSON.stringify(value.slice(0, MAX_ID_BYTES))
    : `a value of type ${typeof value}`;
  throw new ValueError(`Cannot use ${given} as ${name}: it must be ${known[1]}`);
}

/**
 * Takes text for a user ID.
 *
 * @param text What came from outside, such as a variable of the environment.
 * @throws {ValueError} If it is none.
 */
export function toUserId(text: string | undefined): UserID {
  return checkIdentifier("userId", text) as UserID;
}

/**
 * Takes text for a room ID.
 *
 * @param text What came from outside, such as a variable of the environment.
 * @throws {ValueError} If it is none.
 * @example
 * ```ts
 * import { type Client, toRoomId } from "@greenroom/matrix";
 *
 * async function report(client: Client, text: string): Promise<void> {
 *   await client.sendText(toRoomId(Deno.env.get("REPORTS_ROOM")), text);
 * }
 * ```
 */
export function toRoomId(text: string | undefined): RoomID {
  return checkIdentifier("roomId", text) as RoomID;
}

/**
 * Takes text for an event ID.
 *
 * @param text What came from outside, such as a link.
 * @throws {ValueError} If it is none.
 */
export function toEventId(text: string | undefined): EventID {
  return checkIdentifier("eventId", text) as EventID;
}

/**
 * Takes text for a room alias.
 *
 * @param text What came from outside, such as what a user has written.
 * @throws {ValueError} If it is none.
 */
export function toRoomAlias(text: string | undefined): RoomAlias {
  return checkIdentifier("roomAlias", text) as RoomAlias;
}

/** The name of a Megolm session, and of the room key that belongs to it. */
export interface MegolmSessionRef {
  /** The room that it is used in. */
  readonly roomId: RoomID;
  /** Identifies it in the room. */
  readonly sessionId: string;
}

/** Reads the name of a session; undefined if no session can have it. */
export function readSessionRef(roomId: unknown, sessionId: unknown): MegolmSessionRef | undefined {
  return isReceivedRoomId(roomId) && isKey(sessionId) ? { roomId, sessionId } : undefined;
}

/** The algorithm of backups. */
export const BACKUP_ALGORITHM = "m.megolm_backup.v1.curve25519-aes-sha2";

/** How long the name of a version may be: it is kept, and part of the address of requests. */
const MAX_VERSION = 255;

/**
 * Reads the public key of a version.
 *
 * @param shown The version, unchecked.
 * @returns The key in unpadded base64; undefined if the version can't be used.
 */
export function readPublicKey({ version, algorithm, auth_data }: ShownVersion): string | undefined {
  if (version.length > MAX_VERSION || algorithm !== BACKUP_ALGORITHM || !isJsonObject(auth_data)) {
    return undefined;
  }
  const { public_key } = auth_data;
  return isKey(public_key) ? unpadded(public_key) : undefined;
}

/**
 * Makes what a new version says of itself.
 *
 * @param publicKey Its public key.
 * @param sign Signs it for the own device, so that others see who made it.
 */
export function newAuthData(publicKey: string, sign: (object: JsonObject) => JsonObject): JsonObject {
  return sign({ public_key: publicKey });
}

/** A version that the server shows. */
export interface ShownVersion {
  /** Its name. */
  readonly version: string;
  /** Its algorithm, unchecked. */
  readonly algorithm: unknown;
  /** What it says of itself, unchecked. */
  readonly auth_data: unknown;
}
