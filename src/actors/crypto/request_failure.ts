/**
 * What the engine is told of a request that failed.
 *
 * @module
 */

import type { RequestFailure } from "../../crypto/requests/mod.ts";
import { UnknownDeviceError } from "../../errors/account_errcodes.ts";
import { MatrixError } from "../../errors/matrix_error.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import { ValueError } from "../../errors/value_error.ts";

const EXISTS = /already exists/i;
/** How a server refuses what is in a request. */
const REFUSED = 400;

/** Whether a failure may be due to the request, and not to the token or to how many there are. */
export function isDueToRequest(status: number): boolean {
  return status >= 400 && status !== 401 && status !== 429;
}

/** What a request failed with, in the words of the engine. */
export function failureOf(error: unknown): RequestFailure {
  if (error instanceof MatrixRequestError) {
    const { errcode, message, body } = error;
    // Whose device is gone is refused whatever is asked, as without a token.
    const status = error instanceof UnknownDeviceError ? 401 : error.status;
    // Dendrite says of a key that it "already exists" not in `error`, but by user and device.
    const exists = !EXISTS.test(message) && EXISTS.test(JSON.stringify(body) ?? "");
    return { status, errcode, message: exists ? `${message}: a key already exists` : message };
  }
  const message = error instanceof MatrixError ? error.message : "the request could not be made";
  // What is not sent for what is in it (a user whom no server can have) is refused each time.
  return { status: error instanceof ValueError ? REFUSED : 0, errcode: undefined, message };
}
