/**
 * What goes into the engine about the backup of room keys, and what comes out: plain data.
 *
 * @module
 */

import type { KeyBackupDefinition, KeyBackupRooms } from "../../types/api/key_backup.ts";
import type { MegolmSessionRef } from "../../types/session_ref.ts";
import type { ShownVersion } from "../../types/checks/backup_version.ts";

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
