/**
 * What identifiers may look like that others have chosen, asked where they come in: what is kept is found by them.
 *
 * Everything is let through that the specification has clients accept: historical user IDs, room IDs and event IDs may have any
 * characters but NUL, control characters too. Servers refuse what is longer than 255 bytes.
 *
 * @see {@link https://spec.matrix.org/v1.16/appendices/#identifier-grammar | Identifier grammar}
 * @module
 */

import type { EventID, RoomAlias, RoomID, UserID } from "../ids.ts";

/** How long types, state keys and identifiers may be, in bytes. */
export const MAX_ID_BYTES = 255;

const encoder = new TextEncoder();

/** Whether a value is a text that is no longer than types, state keys and identifiers are. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_ID_BYTES &&
    (value.length <= MAX_ID_BYTES / 3 || encoder.encode(value).length <= MAX_ID_BYTES);
}

/** Whether a value looks like a user ID. Whether there can be such a server is not asked. */
export function looksLikeUserId(value: unknown): value is UserID {
  return isIdentifier(value, AT) && value.includes(":");
}

/** Whether a value looks like a room ID; those of room version 12 name no server. */
export function looksLikeRoomId(value: unknown): value is RoomID {
  return isIdentifier(value, BANG);
}

/** Whether a value looks like an event ID. */
export function looksLikeEventId(value: unknown): value is EventID {
  return isIdentifier(value, DOLLAR);
}

/** Whether a value looks like a room alias. */
export function looksLikeRoomAlias(value: unknown): value is RoomAlias {
  return isIdentifier(value, HASH) && value.includes(":");
}

/**
 * Whether a value can name a device, a session or a request. The specification says nothing of what such a name is made of; no
 * client makes one with control characters.
 */
export function isOpaqueId(value: unknown): value is string {
  return isName(value) && PRINTABLE.test(value);
}

function isIdentifier(value: unknown, sigil: number): value is string {
  return isName(value) && value.charCodeAt(0) === sigil && !value.includes("\0") && value.isWellFormed();
}

const PRINTABLE = /^[^\p{Cc}\p{Cs}]+$/u;
const AT = "@".charCodeAt(0);
const BANG = "!".charCodeAt(0);
const DOLLAR = "$".charCodeAt(0);
const HASH = "#".charCodeAt(0);
