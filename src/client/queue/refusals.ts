/**
 * What becomes of a send that has failed.
 *
 * @module
 */

import { isMatrixRefusal } from "../../api/http/mod.ts";
import {
  EncryptionError,
  EventTooLargeError,
  IdentityChangedError,
  UnsupportedAlgorithmError,
} from "../../errors/encryption_error.ts";
import { isPermanent, ValueError } from "../../errors/matrix_error.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";

/** Statuses after which the same may be taken later: of a token that is replaced, and of a busy server. */
const LATER: readonly number[] = [401, 408, 429];

/** Whether the same would be refused at any other time, too. */
export function isForGood(error: unknown): boolean {
  if (error instanceof EncryptionError) {
    return isPermanent(error) || error instanceof EventTooLargeError ||
      error instanceof IdentityChangedError ||
      error instanceof UnsupportedAlgorithmError || isForGood(error.cause);
  }
  if (error instanceof ValueError) return true;
  if (!(error instanceof MatrixRequestError) || !isMatrixRefusal(error)) return false;
  return error.status < 500 && !LATER.includes(error.status);
}

/** How long the server asks to wait before the next try, in milliseconds. */
export function askedWait(error: unknown): number {
  if (error instanceof EncryptionError) return askedWait(error.cause);
  return error instanceof MatrixRequestError ? error.retryAfter ?? 0 : 0;
}
