/**
 * The backup of room keys, as the server keeps it.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#server-side-key-backups | Server-side key backups}
 * @module
 */

import {
  CALL,
  DOWNLOAD,
  endpoint,
  field,
  fields,
  nothing,
  type RequestOptions,
  type Session,
} from "../http/mod.ts";
import type {
  KeyBackupChange,
  KeyBackupData,
  KeyBackupDefinition,
  KeyBackupRooms,
  KeyBackupVersion,
} from "../../types/api/device_keys.ts";
import type { RoomID } from "../../types/ids.ts";
import type { MegolmSessionRef } from "../../types/identifiers.ts";
import { mediaDownload } from "../media/media.ts";

const VERSION = {
  algorithm: "string",
  auth_data: "object",
  version: "string",
  count: "number?",
  etag: "string?",
} as const;
const UNCOUNTED = { count: 0, etag: "" };

const getLatest = endpoint(
  "getKeyBackupVersion",
  "GET",
  "/_matrix/client/v3/room_keys/version",
  fields<KeyBackupVersion>(VERSION, UNCOUNTED),
);

const getVersion = endpoint(
  "getKeyBackupVersion",
  "GET",
  "/_matrix/client/v3/room_keys/version/{version}",
  fields<KeyBackupVersion>(VERSION, UNCOUNTED),
);

const createVersion = endpoint(
  "createKeyBackupVersion",
  "POST",
  "/_matrix/client/v3/room_keys/version",
  field<string>("version", "string"),
);

const updateVersion = endpoint(
  "updateKeyBackupVersion",
  "PUT",
  "/_matrix/client/v3/room_keys/version/{version}",
  nothing,
);

const deleteVersion = endpoint(
  "deleteKeyBackupVersion",
  "DELETE",
  "/_matrix/client/v3/room_keys/version/{version}",
  nothing,
);

const putKeys = endpoint(
  "uploadRoomKeys",
  "PUT",
  "/_matrix/client/v3/room_keys/keys",
  fields<KeyBackupChange>({ count: "number?", etag: "string?" }),
);

const getKey = endpoint(
  "getRoomKey",
  "GET",
  "/_matrix/client/v3/room_keys/keys/{roomId}/{sessionId}",
  fields<KeyBackupData>({
    first_message_index: "number",
    forwarded_count: "number?",
    is_verified: "boolean?",
    session_data: "object",
  }, { forwarded_count: 0, is_verified: false }),
);

const getKeys = endpoint("downloadRoomKeys", "GET", "/_matrix/client/v3/room_keys/keys", nothing);

const getKeysOfRoom = endpoint(
  "downloadRoomKeys",
  "GET",
  "/_matrix/client/v3/room_keys/keys/{roomId}",
  nothing,
);

const deleteKey = endpoint(
  "deleteRoomKey",
  "DELETE",
  "/_matrix/client/v3/room_keys/keys/{roomId}/{sessionId}",
  fields<KeyBackupChange>({ count: "number?", etag: "string?" }),
);

/** Options of {@link RoomKeysAPI.getKeyBackupVersion}. */
export interface GetKeyBackupVersionOptions extends RequestOptions {
  /** The version. Default: the latest, into which keys can be put. */
  version?: string;
}

/** Options of {@link RoomKeysAPI.downloadRoomKeys}. */
export interface DownloadRoomKeysOptions extends RequestOptions {
  /** Those of one room: the stream is then what a {@link KeyBackupRooms} has of it. Default: all. */
  roomId?: RoomID;
}

/**
 * The backup of room keys on the server. `client.crypto.backup` uses these operations, and does what
 * makes a backup safe: they only pass on what they are given, and check nothing of it.
 */
export interface RoomKeysAPI {
  /**
   * Asks for a version of the backup.
   *
   * @param options The version to ask for, and request options.
   * @returns The version, of which nothing is proven: the server could have made it.
   * @throws {NotFoundError} If there is no such version.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3room_keysversion | GET /room_keys/version}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function backedUp(client: Client): Promise<number> {
   *   const { count } = await client.raw.getKeyBackupVersion();
   *   return count;
   * }
   * ```
   */
  getKeyBackupVersion(options?: GetKeyBackupVersionOptions): Promise<KeyBackupVersion>;

  /**
   * Makes a new version of the backup. Keys can be put into the latest only.
   *
   * @param definition Its algorithm, and what that needs.
   * @param options Request options.
   * @returns The version's name.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3room_keysversion | POST /room_keys/version}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function makeVersion(client: Client, publicKey: string): Promise<string> {
   *   return await client.raw.createKeyBackupVersion({
   *     algorithm: "m.megolm_backup.v1.curve25519-aes-sha2",
   *     auth_data: { public_key: publicKey },
   *   });
   * }
   * ```
   */
  createKeyBackupVersion(definition: KeyBackupDefinition, options?: RequestOptions): Promise<string>;

  /**
   * Changes what a version says of itself, to add a signature for example.
   *
   * @param version The version's name.
   * @param definition Its algorithm, which must stay, and what that needs.
   * @param options Request options.
   * @throws {NotFoundError} If there is no such version.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3room_keysversionversion | PUT /room_keys/version/(version)}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { Signatures } from "@greenroom/matrix/types";
   *
   * export async function sign(client: Client, signatures: Signatures): Promise<void> {
   *   const { version, algorithm, auth_data } = await client.raw.getKeyBackupVersion();
   *   await client.raw.updateKeyBackupVersion(version, { algorithm, auth_data: { ...auth_data, signatures } });
   * }
   * ```
   */
  updateKeyBackupVersion(
    version: string,
    definition: KeyBackupDefinition,
    options?: RequestOptions,
  ): Promise<void>;

  /**
   * Deletes a version, with all keys in it. The one before becomes the latest.
   *
   * @param version The version's name.
   * @param options Request options.
   * @throws {NotFoundError} If there is no such version.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#delete_matrixclientv3room_keysversionversion | DELETE /room_keys/version/(version)}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function deleteLatest(client: Client): Promise<void> {
   *   const { version } = await client.raw.getKeyBackupVersion();
   *   await client.raw.deleteKeyBackupVersion(version);
   * }
   * ```
   */
  deleteKeyBackupVersion(version: string, options?: RequestOptions): Promise<void>;

  /**
   * Puts keys into the backup. The server keeps of two keys of a session one that is verified, then
   * the one that begins earlier, then the one that was passed on less often.
   *
   * @param version The latest version.
   * @param keys The keys, encrypted.
   * @param options Request options.
   * @returns How many keys the backup has now.
   * @throws {WrongRoomKeysVersionError} If there is a later version.
   * @throws {NotFoundError} If there is no backup.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3room_keyskeys | PUT /room_keys/keys}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { KeyBackupRooms } from "@greenroom/matrix/types";
   *
   * export async function putKeys(client: Client, version: string, keys: KeyBackupRooms): Promise<void> {
   *   const { count } = await client.raw.uploadRoomKeys(version, keys);
   *   console.log(`${count} keys are in the backup`);
   * }
   * ```
   */
  uploadRoomKeys(version: string, keys: KeyBackupRooms, options?: RequestOptions): Promise<KeyBackupChange>;

  /**
   * Asks for the key of a session.
   *
   * @param version The version.
   * @param roomId The session's room.
   * @param sessionId The session.
   * @param options Request options.
   * @returns The key, encrypted.
   * @throws {NotFoundError} If it is not in the backup, or there is no such version.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3room_keyskeysroomidsessionid | GET /room_keys/keys/(roomId)/(sessionId)}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function firstIndex(client: Client, roomId: RoomID, sessionId: string): Promise<number> {
   *   const { version } = await client.raw.getKeyBackupVersion();
   *   const key = await client.raw.getRoomKey(version, { roomId, sessionId });
   *   return key.first_message_index;
   * }
   * ```
   */
  getRoomKey(
    version: string,
    session: MegolmSessionRef,
    options?: RequestOptions,
  ): Promise<KeyBackupData>;

  /**
   * Asks for all keys: of a large account that are some hundred megabytes, so that they come as a
   * stream.
   *
   * @param version The version.
   * @param options Whether those of one room, and request options.
   * @returns The bytes of a {@link KeyBackupRooms} in JSON, unchecked. The stream must be read to its
   *   end or cancelled.
   * @throws {NotFoundError} If there is no such version.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3room_keyskeys | GET /room_keys/keys}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function save(client: Client, roomId: RoomID): Promise<void> {
   *   const { version } = await client.raw.getKeyBackupVersion();
   *   await Deno.writeFile("keys.json", await client.raw.downloadRoomKeys(version, { roomId }));
   * }
   * ```
   */
  downloadRoomKeys(
    version: string,
    options?: DownloadRoomKeysOptions,
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;

  /**
   * Deletes the key of a session. Does nothing if it is not in the backup.
   *
   * @param version The version.
   * @param session The session, by its room and its ID.
   * @param options Request options.
   * @returns How many keys the backup has now.
   * @throws {NotFoundError} If there is no such version.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#delete_matrixclientv3room_keyskeysroomidsessionid | DELETE /room_keys/keys/(roomId)/(sessionId)}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function forget(client: Client, roomId: RoomID, sessionId: string): Promise<void> {
   *   const { version } = await client.raw.getKeyBackupVersion();
   *   await client.raw.deleteRoomKey(version, { roomId, sessionId });
   * }
   * ```
   */
  deleteRoomKey(
    version: string,
    session: MegolmSessionRef,
    options?: RequestOptions,
  ): Promise<KeyBackupChange>;
}

/** Makes the operations on the backup of room keys. */
export function roomKeysAPI({ http }: Session): RoomKeysAPI {
  return {
    getKeyBackupVersion: ({ version, ...options } = {}) =>
      version === undefined
        ? http[CALL](getLatest, { path: {} }, options)
        : http[CALL](getVersion, { path: { version } }, options),
    createKeyBackupVersion: (definition, options) =>
      http[CALL](createVersion, { path: {}, body: definition }, options),
    updateKeyBackupVersion: (version, definition, options) =>
      http[CALL](updateVersion, { path: { version }, body: definition }, options),
    deleteKeyBackupVersion: (version, options) => http[CALL](deleteVersion, { path: { version } }, options),
    uploadRoomKeys: (version, keys, options) =>
      http[CALL](putKeys, { path: {}, query: { version }, body: keys }, options),
    getRoomKey: (version, { roomId, sessionId }, options) =>
      http[CALL](getKey, { path: { roomId, sessionId }, query: { version } }, options),
    async downloadRoomKeys(version, { roomId, ...options } = {}) {
      const query = { version };
      const read = (answer: Parameters<typeof mediaDownload>[0]) =>
        Promise.resolve(mediaDownload(answer, undefined, undefined).stream);
      return roomId === undefined
        ? await http[DOWNLOAD](getKeys, { path: {}, query }, options, read)
        : await http[DOWNLOAD](getKeysOfRoom, { path: { roomId }, query }, options, read);
    },
    deleteRoomKey: (version, { roomId, sessionId }, options) =>
      http[CALL](deleteKey, { path: { roomId, sessionId }, query: { version } }, options),
  };
}
