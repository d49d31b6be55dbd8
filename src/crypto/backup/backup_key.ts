/**
 * The private key of a backup of room keys: who has it reads the backup.
 *
 * @module
 */

import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import { decodeBase64, encodeBase64 } from "../../types/base64.ts";
import { KEY_BYTES } from "../secrets/mod.ts";

/** The secret that holds it in secret storage. */
export const BACKUP_SECRET = "m.megolm_backup.v1";

/** Writes it as a secret. */
export function backupSecret(privateKey: Uint8Array): string {
  return encodeBase64(privateKey);
}

/**
 * Reads it from a secret.
 *
 * @returns The 32 bytes, which are the caller's to wipe; undefined if the secret is none.
 */
export function readBackupSecret(secret: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = decodeBase64(secret);
  return bytes?.length === KEY_BYTES ? bytes : undefined;
}

/** The public key, in unpadded base64. */
export function publicBackupKey({ pk }: Vodozemac, privateKey: Uint8Array): string {
  using key = pk.importDecryption(privateKey);
  return key.publicKey;
}
