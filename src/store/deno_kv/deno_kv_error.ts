/**
 * What Deno KV throws, as errors of the store.
 *
 * @module
 */

import {
  StoreError,
  StoreFormatError,
  StoreFullError,
  StoreReadOnlyError,
} from "../../errors/store_error.ts";
import { MatrixError } from "../../errors/matrix_error.ts";
import { missingPermission } from "../../errors/missing_permission_error.ts";

/** What tells the reasons apart. Deno KV gives nothing but the text: SQLite's, or its own. */
const REASONS: readonly [RegExp, (cause: unknown) => StoreError][] = [
  [
    /^unable to open|disk I\/O error|not a directory|permission denied/i,
    (cause) =>
      new StoreError(
        "Cannot use the database: its file can't be opened, read or written; look at the path, the rights, and the disk",
        { cause },
      ),
  ],
  [/readonly database|read-only database|read-only file system/i, readOnlyError],
  [
    /not a database|malformed|already exists|no such table|no such column|has no column|value encoding/i,
    (cause) =>
      new StoreFormatError(
        "Cannot use the database: it is damaged, or not one of Deno KV; restore it from a copy, or use another path",
        { cause },
      ),
  ],
  [
    /disk is full|no space left|quota exceeded/i,
    (cause) =>
      new StoreFullError("Cannot write to the database: the disk is full; make room, and start again", {
        cause,
      }),
  ],
];

/** Says that a database can't be written to. */
export function readOnlyError(cause: unknown): StoreReadOnlyError {
  return new StoreReadOnlyError(
    "Cannot write to the database: it is read-only; let this process write to the file and its folder",
    { cause },
  );
}

/** Makes an error of the store of one of Deno KV; others are given back as they are. */
export function storeErrorOf(error: unknown): unknown {
  const missing = missingPermission(error, "use the database");
  if (missing !== undefined) return missing;
  if (!(error instanceof Error) || error instanceof MatrixError || isOfDeno(error)) return error;
  const make = REASONS.find(([pattern]) => pattern.test(error.message))?.[1];
  return make === undefined ? error : make(error);
}

/** Permissions that are missing, say, which speak for themselves. */
function isOfDeno(error: Error): boolean {
  return error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.BadResource;
}
