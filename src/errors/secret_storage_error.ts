/**
 * The errors of secret storage and of the backup of room keys.
 *
 * @module
 */

import { MatrixError } from "./matrix_error.ts";

/**
 * Why something can't be done with the secret storage:
 *
 * - `mistyped`: the text is no recovery key, so it has a typing error;
 * - `wrong-key`: it is a recovery key or passphrase, but not this key's;
 * - `no-passphrase`: the key was not made from a passphrase, so only its recovery key opens it;
 * - `absent`: there is no default key, or its description is gone;
 * - `exists`: there is a default key already;
 * - `unusable`: the description of a key is not what the specification says, or asks for more than
 *   is done;
 * - `unverifiable`: nothing shows whether the key is the right one;
 * - `damaged`: a secret was changed or cut off, or moved from another name;
 * - `other-keys`: a secret is there, but not for this key;
 * - `not-secret`: something else than a secret is kept under the name;
 * - `changed`: another client changed the keys meanwhile;
 * - `closed`: it was closed.
 */
export type SecretStorageProblem =
  | "mistyped"
  | "wrong-key"
  | "no-passphrase"
  | "absent"
  | "exists"
  | "unusable"
  | "unverifiable"
  | "damaged"
  | "other-keys"
  | "not-secret"
  | "changed"
  | "closed";

/** What makes a {@linkcode SecretStorageError}. */
export interface SecretStorageErrorInit extends ErrorOptions {
  /** What is wrong. */
  readonly problem: SecretStorageProblem;
}

/**
 * Something could not be done with the secret storage. Nothing was lost, and nothing was taken over
 * that is not proven. The message says what to do; it holds no secret.
 *
 * Mend: Do what the message says: `problem` names the case.
 */
export class SecretStorageError extends MatrixError {
  /** Always `SECRET_STORAGE_ERROR`. */
  override readonly code = "SECRET_STORAGE_ERROR";

  /** What is wrong with the secret storage, for programs. */
  readonly problem: SecretStorageProblem;

  /**
   * Makes an error.
   *
   * @param message What was asked, of what, and what to do.
   * @param init What is wrong, and the `cause`, if another error led to this one.
   */
  constructor(message: string, { problem, ...options }: SecretStorageErrorInit) {
    super(message, options);
    this.problem = problem;
  }
}

/**
 * Why something can't be done with the backup of room keys:
 *
 * - `absent`: there is none;
 * - `exists`: there is one already;
 * - `unusable`: it is not what the specification says, or of an algorithm that is not known;
 * - `untrusted`: nothing shows that the user has made it, or it was left for another, so it is not in use;
 * - `wrong-key`: the key is another one than that of the backup;
 * - `no-secret`: the secret storage does not have its key;
 * - `changed`: another client changed it meanwhile.
 */
export type KeyBackupProblem =
  | "absent"
  | "exists"
  | "unusable"
  | "untrusted"
  | "wrong-key"
  | "no-secret"
  | "changed";

/** What makes a {@linkcode KeyBackupError}. */
export interface KeyBackupErrorInit extends ErrorOptions {
  /** What is wrong. */
  readonly problem: KeyBackupProblem;
}

/**
 * Something could not be done with the backup of room keys. Nothing was lost, and no backup was
 * taken into use. The message says what to do; it holds no secret.
 *
 * Mend: Do what the message says: `problem` names the case.
 */
export class KeyBackupError extends MatrixError {
  /** Always `KEY_BACKUP_ERROR`. */
  override readonly code = "KEY_BACKUP_ERROR";

  /** What is wrong with the key backup, for programs. */
  readonly problem: KeyBackupProblem;

  /**
   * Makes an error.
   *
   * @param message What was asked, of what, and what to do.
   * @param init What is wrong, and the `cause`, if another error led to this one.
   */
  constructor(message: string, { problem, ...options }: KeyBackupErrorInit) {
    super(message, options);
    this.problem = problem;
  }
}
