/**
 * Errors of SQLite as errors of the store.
 *
 * @module
 */

import {
  StoreError,
  StoreFormatError,
  StoreFullError,
  StoreInUseError,
  StoreReadOnlyError,
} from "../../errors/store_error.ts";
import { missingPermission } from "../../errors/missing_permission_error.ts";

/** What was attempted, as messages word it. */
export type SqliteAction = "open" | "read" | "write to";

/** The lower byte of a result code is its kind. */
const KIND = 0xff;

const PROBLEMS: Record<number, { readonly error: typeof StoreError; readonly says: string } | undefined> = {
  5: {
    error: StoreInUseError,
    says: "another process has locked it for too long; end that process",
  }, // BUSY
  8: { error: StoreReadOnlyError, says: "it is read-only; make the file and its folder writable" }, // READONLY
  11: { error: StoreFormatError, says: "the file is damaged; restore it from a copy" }, // CORRUPT
  13: { error: StoreFullError, says: "there is no room left; make some, and go on" }, // FULL
  14: { error: StoreReadOnlyError, says: "no file can be made beside it; make its folder writable" }, // CANTOPEN
  26: { error: StoreFormatError, says: "the file is no SQLite database; use another path" }, // NOTADB
};

/** The file itself could not be opened; such errors have no number. */
const NOT_OPENED = {
  error: StoreError,
  says: "the file can't be opened; make its folder, and let this process write there",
};

/**
 * Converts what SQLite throws into an error of the store, and returns anything else unchanged.
 *
 * @param action What was attempted.
 * @param cause What was thrown.
 * @param file The store's file; nullish: it is in memory.
 */
export function toStoreError(action: SqliteAction, cause: unknown, file?: string | null): unknown {
  // A missing permission has the same code, but its own class.
  const missing = missingPermission(cause, `${action} the store`);
  if (missing !== undefined) return missing;
  if (!(cause instanceof Error) || cause.name !== "Error") return cause;
  const { code, errcode, errstr } = cause as { code?: unknown; errcode?: unknown; errstr?: unknown };
  if (code !== "ERR_SQLITE_ERROR") return cause;
  const { error, says } = typeof errcode === "number"
    ? PROBLEMS[errcode & KIND] ??
      { error: StoreError, says: `SQLite says "${errstr}" (${errcode}); see to the disk, and try again` }
    : NOT_OPENED;
  const store = file === null || file === undefined ? "the store" : `the store ${file}`;
  return new error(`Cannot ${action} ${store}: ${says}`, { cause });
}

/**
 * Runs an operation of SQLite.
 *
 * @param action What it does.
 * @param go The operation.
 * @param file The store's file; nullish: it is in memory.
 * @throws What {@link toStoreError} makes of what SQLite throws.
 */
export function attempt<Result>(action: SqliteAction, go: () => Result, file?: string | null): Result {
  try {
    return go();
  } catch (error) {
    throw toStoreError(action, error, file);
  }
}
