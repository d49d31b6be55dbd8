/**
 * Why an event can't be encrypted, where callers may want to tell.
 *
 * @module
 */

import type { UserID } from "../types/ids.ts";
import { EncryptionError } from "./crypto_error.ts";

/** The room is encrypted with something that is not known here, so that nothing can be sent to it. */
export class UnsupportedAlgorithmError extends EncryptionError {
  /** Always `UNSUPPORTED_ALGORITHM`. */
  override readonly code = "UNSUPPORTED_ALGORITHM";
}

/** The event would be larger than servers accept, once encrypted. */
export class EventTooLargeError extends EncryptionError {
  /** Always `EVENT_TOO_LARGE`. */
  override readonly code = "EVENT_TOO_LARGE";
}

/** What makes an {@linkcode IdentityChangedError}. */
export interface IdentityChangedErrorInit extends ErrorOptions {
  /** Whose identity has changed. */
  readonly users: readonly UserID[];
}

/** Users in the room have another identity than the one that was seen first; nothing is sent until that is acknowledged. */
export class IdentityChangedError extends EncryptionError {
  /** Always `IDENTITY_CHANGED`. */
  override readonly code = "IDENTITY_CHANGED";

  /** Whose identity has changed. */
  readonly users: readonly UserID[];

  /**
   * Makes an error.
   *
   * @param message What was asked, of what, and what to do.
   * @param init Whose identity has changed, and the `cause`.
   */
  constructor(message: string, { users, ...options }: IdentityChangedErrorInit) {
    super(message, options);
    this.users = users;
  }
}
