/**
 * Identifiers of Matrix, as template-literal types.
 *
 * The types describe the sigil only: a room ID of room version 12 carries no domain, so nothing
 * here promises one. Values that come from a server are never checked by a type; `parseUserId()`
 * checks where a part is needed.
 *
 * @see {@link https://spec.matrix.org/v1.19/appendices/#identifier-grammar | Identifier grammar}
 * @module
 */

/** Fully qualified user ID: `@localpart:server_name`. */
export type UserID = `@${string}:${string}`;

/**
 * Room ID: `!opaque`, with a server name behind a colon up to room version 11 and without one from
 * 12 on.
 */
export type RoomID = `!${string}`;

/** Room alias: `#localpart:server_name`. */
export type RoomAlias = `#${string}:${string}`;

/** Event ID: `$opaque`. */
export type EventID = `$${string}`;

/** Content repository URI: `mxc://server_name/media_id`. */
export type ContentURI = `mxc://${string}`;

/** Device ID: opaque, chosen by the client or by the server at login. */
export type DeviceID = string;

/** Opaque token of sync or of pagination. */
export type SyncToken = string;

/** ID of a filter that was uploaded with `createFilter()`. */
export type FilterID = string;

/** Opaque token of the room directory's pages. */
export type DirectoryPaginationToken = string;

/** Transaction ID: makes a repeated `PUT` of the same request one request. */
export type TransactionID = string;
