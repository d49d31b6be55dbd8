/**
 * The error of the backup of room keys.
 *
 * @module
 */

import { MatrixError } from "./matrix_error.ts";

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
interface KeyBackupErrorInit extends ErrorOptions {
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

  /** What is wrong. */
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
