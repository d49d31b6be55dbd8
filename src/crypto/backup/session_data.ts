/**
 * A room key in a backup, encrypted to the backup's public key.
 *
 * The encryption has no authenticity: its MAC covers nothing, which is an error that the format
 * can't lose. Whoever knows the public key can put keys into a backup, and the server does.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#backup-algorithm-mmegolm_backupv1curve25519-aes-sha2 | m.megolm_backup.v1.curve25519-aes-sha2}
 * @module
 */

import { type PkDecryption, type Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import type { KeyBackupData } from "../../types/api/key_backup.ts";
import { isJsonObject, parseObject } from "../../types/json.ts";
import { type ExportedSession, type ImportedRoomKey, readSessionJson, sessionJson } from "../megolm/mod.ts";
import type { MegolmSessionRef } from "../../types/session_ref.ts";

/** The longest ciphertext, in characters of base64: a key takes a thousand. */
const MAX_CIPHERTEXT = 65_536;

/** Encrypts a session for a backup. */
export function encryptSession(
  { pk }: Vodozemac,
  publicKey: string,
  session: ExportedSession,
): KeyBackupData {
  const { room_id: _room, session_id: _session, ...said } = sessionJson(session); // their names go beside
  return {
    first_message_index: session.firstIndex,
    // Servers prefer what is verified, and some what was forwarded less, to what reads more: neither may
    // take the better key out of the backup.
    forwarded_count: 0,
    is_verified: false,
    session_data: { ...pk.encrypt(publicKey, JSON.stringify(said)) },
  };
}

/**
 * Decrypts a room key of a backup, which is checked where it is imported.
 *
 * @param key The private key.
 * @param ref The session that the server says it is of.
 * @param data What the server shows, unchecked.
 * @returns Undefined if it can't be read.
 */
export function decryptSession(
  key: PkDecryption,
  { roomId, sessionId }: MegolmSessionRef,
  data: unknown,
): ImportedRoomKey | undefined {
  const { session_data } = isJsonObject(data) ? data : {};
  const { ephemeral, ciphertext, mac } = isJsonObject(session_data) ? session_data : {};
  if (typeof ephemeral !== "string" || typeof ciphertext !== "string" || typeof mac !== "string") {
    return undefined;
  }
  if (ciphertext.length > MAX_CIPHERTEXT) return undefined;
  const plaintext = decrypted(() => key.decrypt({ ephemeral, ciphertext, mac }));
  const object = plaintext && parseObject(plaintext);
  plaintext?.fill(0);
  const said = object && readSessionJson(object);
  return said && { roomId, sessionId, ...said, source: "backup" };
}

function decrypted(decrypt: () => Uint8Array): Uint8Array | undefined {
  try {
    return decrypt();
  } catch (error) {
    if (error instanceof VodozemacError && error.code !== "instance_dead") return undefined;
    throw error;
  }
}
