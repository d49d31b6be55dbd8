/**
 * The errors of stores.
 *
 * @module
 */

import { MatrixError } from "./matrix_error.ts";

/**
 * A store can't be opened, read or written; its content is unchanged.
 *
 * Mend: Do what the message says, and start again.
 */
export class StoreError extends MatrixError {
  /** `STORE_ERROR`, or a more precise word of a subclass. */
  override readonly code: string = "STORE_ERROR";
}

/**
 * The place contains something else than a store that this version can read: damaged data, other
 * data, or a store of a newer Greenroom.
 *
 * Mend: Update Greenroom, or choose another place; restore a copy of damaged data.
 */
export class StoreFormatError extends StoreError {
  /** Always `STORE_FORMAT`. */
  override readonly code = "STORE_FORMAT";
}

/**
 * The disk or its quota is full; the store continues once there is space.
 *
 * Mend: Free space on the disk, or raise the quota.
 */
export class StoreFullError extends StoreError {
  /** Always `STORE_FULL`. */
  override readonly code = "STORE_FULL";
}

/**
 * The place can be read but not written.
 *
 * Mend: Let the process write there.
 */
export class StoreReadOnlyError extends StoreError {
  /** Always `STORE_READ_ONLY`. */
  override readonly code = "STORE_READ_ONLY";
}

/** What makes a {@linkcode StoreInUseError}. */
export interface StoreInUseErrorInit extends ErrorOptions {
  /** Who holds it, if it is known. */
  readonly owner?: string;
  /** Until when, in milliseconds since 1970, if it is known. */
  readonly until?: number;
}

/**
 * Another process holds what was to be written: the device, or the whole store.
 *
 * Mend: End the other process, or wait until it ends; see the option `lease`.
 */
export class StoreInUseError extends StoreError {
  /** Always `STORE_IN_USE`. */
  override readonly code = "STORE_IN_USE";

  /** Who holds it; `undefined` if unknown. */
  readonly owner: string | undefined;

  /** Until when, in milliseconds since 1970, unless it is renewed; `undefined` if unknown. */
  readonly until: number | undefined;

  /**
   * Makes an error.
   *
   * @param message What was asked, of what, and what to do.
   * @param init Who holds it and until when, and the `cause`, if another error led to this one.
   */
  constructor(message: string, { owner, until, ...options }: StoreInUseErrorInit = {}) {
    super(message, options);
    this.owner = owner;
    this.until = until;
  }
}

/**
 * The records are sealed with another key or not at all, or a record was changed.
 *
 * Mend: Open it with the key that it was sealed with, or restore a copy.
 */
export class StoreKeyError extends StoreError {
  /** Always `STORE_KEY`. */
  override readonly code = "STORE_KEY";
}
