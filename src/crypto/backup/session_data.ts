/**
 * The backup of room keys as plain data: what goes into the engine and comes out, its private key,
 * and a room key in it, encrypted to the public key.
 *
 * The encryption has no authenticity: its MAC covers nothing, which is an error that the format
 * can't lose. Anybody who knows the public key can put keys into a backup, and the server does.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#backup-algorithm-mmegolm_backupv1curve25519-aes-sha2 | m.megolm_backup.v1.curve25519-aes-sha2}
 * @module
 */

import { type PkDecryption, type Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import type { KeyBackupData, KeyBackupDefinition, KeyBackupRooms } from "../../types/api/device_keys.ts";
import { objectOf, parseObject } from "../../types/json.ts";
import { type ExportedSession, type ImportedRoomKey, readSessionJson, sessionJson } from "../megolm/mod.ts";
import type { MegolmSessionRef, ShownVersion } from "../../types/identifiers.ts";
import { encodeBase64 } from "../../types/base64.ts";

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
  const { session_data } = objectOf(data);
  const { ephemeral, ciphertext, mac } = objectOf(session_data);
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

/** The secret that holds it in secret storage. */
export const BACKUP_SECRET = "m.megolm_backup.v1";

/** Writes it as a secret. */
export function backupSecret(privateKey: Uint8Array): string {
  return encodeBase64(privateKey);
}

/** The public key, in unpadded base64. */
export function publicBackupKey({ pk }: Vodozemac, privateKey: Uint8Array): string {
  using key = pk.importDecryption(privateKey);
  return key.publicKey;
}

/** A request about the backup that the engine asks for. */
export type BackupRequest =
  | {
    /** Its unique ID. */
    readonly id: string;
    /** Room keys are put into the backup. */
    readonly kind: "backupUpload";
    readonly version: string;
    readonly keys: KeyBackupRooms;
  }
  | {
    /** Its unique ID. */
    readonly id: string;
    /** Which version the backup has now. */
    readonly kind: "backupVersion";
  }
  | {
    /** Its unique ID. */
    readonly id: string;
    /** A room key is read from the backup. */
    readonly kind: "backupDownload";
    readonly version: string;
    /** The key's session. */
    readonly session: MegolmSessionRef;
  };

/** A room key in the backup, as the server shows it. */
export interface RestoredKey extends MegolmSessionRef {
  /** The key, encrypted and unchecked; undefined: it is not in the backup. */
  readonly data: unknown;
}

/** Room keys of the backup. */
export interface RestoredKeys {
  /** The version that they are in. */
  readonly version: string;
  readonly keys: readonly RestoredKey[];
}

/**
 * How it is with the backup that is in use: `on`; `asking`: the server does not take keys for the
 * version, so it is asked which one there is now; `replaced`: there is another, which is not
 * trusted; `deleted`: there is none any more.
 */
export type BackupPhase = "on" | "asking" | "replaced" | "deleted";

/** The backup that is in use. */
export interface BackupState {
  readonly version: string;
  readonly publicKey: string;
  /** Whether its private key is there, so that it can be read. */
  readonly isReadable: boolean;
  /** How it is with it. */
  readonly phase: BackupPhase;
  /** Whether all sessions that were there are in it. */
  readonly isComplete: boolean;
  /** The public key of a backup that is being made, whose key may be nowhere else; undefined: none is. */
  readonly pending?: string;
}

/** Asks for a backup that is to be made. */
export interface NewBackupInput {
  /** The public key of the latest version on the server; undefined: there is none that has one. */
  readonly latest: string | undefined;
  /** Whether it is another one than that in use. */
  readonly isNew: boolean;
  /** Its private key, which is kept somewhere already, as a secret. Default: a new one. */
  readonly secret?: string;
}

/** A backup that is to be made; its key is durable until it is adopted or forgotten. */
export interface NewBackup {
  /** What makes its version, the same each time. */
  readonly definition: KeyBackupDefinition;
  readonly publicKey: string;
  /** Its private key, as a secret. */
  readonly secret: string;
  /** Whether the latest version on the server is it. */
  readonly isThere: boolean;
  /** Whether a backup with its key was left for another, or forgotten. */
  readonly isLeft: boolean;
}

/** A version that is to be used from now on. */
export interface AdoptInput {
  readonly shown: ShownVersion;
  /** Its private key, as a secret. Default: that of the backup in use. */
  readonly secret?: string;
  /** Whether the user has given the key itself, so that a backup that was left is used again. */
  readonly isChosen?: boolean;
}

/**
 * What has become of a version: `adopted`; `mismatch`: its public key is that of another private
 * key; `left`: it was left for another, or forgotten; `unusable`: it is of another algorithm, or has
 * no public key.
 */
export type AdoptOutcome = "adopted" | "mismatch" | "left" | "unusable";
