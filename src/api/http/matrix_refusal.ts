/**
 * Tells a homeserver's refusals from those of others.
 *
 * @module
 */

import { UnrecognizedError } from "../../errors/errcodes.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";

/** Whether a homeserver refused, and no proxy did, nor another API. */
export function isMatrixRefusal(error: unknown): boolean {
  return error instanceof MatrixRequestError && typeof error.body.errcode === "string" &&
    !(error instanceof UnrecognizedError);
}
