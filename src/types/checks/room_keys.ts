/**
 * What names room keys: their sessions, and versions of a backup, which say what their algorithm and public key are.
 *
 * Nothing of a version is trusted for being there: the server can make one whose private key it has. It is trusted
 * if its public key is that of a private key that is known, or if it carries a signature of a key that is trusted.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#server-side-key-backups | Server-side key backups}
 *
 * @module
 */

import { isKey, unpadded } from "../base64.ts";
import { isReceivedRoomId } from "../identifiers.ts";
import type { RoomID } from "../ids.ts";
import { isJsonObject, type JsonObject } from "../json.ts";

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
