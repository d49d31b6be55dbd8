/**
 * The errors of end-to-end encryption.
 *
 * @module
 */

import { MatrixError } from "./matrix_error.ts";

/** An event could not be encrypted; nothing was sent. */
export class EncryptionError extends MatrixError {
  /** Always `ENCRYPTION_ERROR`. */
  override readonly code = "ENCRYPTION_ERROR";
}

/** An event could not be decrypted; the message says why, and whether it may be later. */
export class DecryptionError extends MatrixError {
  /** Always `DECRYPTION_ERROR`. */
  override readonly code = "DECRYPTION_ERROR";
}
