/**
 * What Deno KV throws, as errors of the store.
 *
 * @module
 */

import { StoreError, StoreFormatError, StoreFullError, StoreReadOnlyError } from "../errors/store_error.ts";
import { MatrixError } from "../errors/matrix_error.ts";

/** What tells the reasons apart. Deno KV has nothing but the text: SQLite's, its own, or that of the server. */
const REASONS: readonly [RegExp, (cause: unknown) => StoreError][] = [
  [
    /not a database|malformed|already exists|no such table|no such column|has no column|value encoding/i,
    (cause) =>
      new StoreFormatError(
        "Cannot use the database: it is damaged, or not one of Deno KV; restore it from a copy, or use another path",
        { cause },
      ),
  ],
  [
    /read-?only/i,
    (cause) =>
      new StoreReadOnlyError(
        "Cannot write to the database: it is read-only; let this process write to the file and its folder, or start the server without --read-only",
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
  [
    /unable to open|disk I\/O error|not a directory|is a directory/i,
    (cause) =>
      new StoreError(
        "Cannot use the database: its file can't be opened, read or written; look at the path, the rights, and the disk",
        { cause },
      ),
  ],
  [
    /access token|authorization/i,
    (cause) =>
      new StoreError(
        "Cannot use the database: the server refuses the access token; set DENO_KV_ACCESS_TOKEN, or the option accessToken",
        { cause },
      ),
  ],
  [
    /KV Connect|fetch metadata/i,
    (cause) =>
      new StoreError("Cannot use the database: the server refuses; look at the cause, and at its address", {
        cause,
      }),
  ],
];

/** Makes an error of the store of one of Deno KV; others are given back as they are. */
export function storeErrorOf(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof MatrixError || isOfDeno(error)) return error;
  const make = REASONS.find(([pattern]) => pattern.test(error.message))?.[1];
  return make === undefined ? error : make(error);
}

/** Permissions that are missing, say, which speak for themselves. */
function isOfDeno(error: Error): boolean {
  return error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.BadResource;
}
