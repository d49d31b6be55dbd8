/**
 * The error for bad input.
 *
 * @module
 */

import { MatrixError } from "./matrix_error.ts";

/**
 * An argument can't be used. Thrown before anything is sent or stored.
 *
 * Mend: Correct the argument that the message names.
 */
export class ValueError extends MatrixError {
  /** Always `VALUE_ERROR`. */
  override readonly code = "VALUE_ERROR";
}
