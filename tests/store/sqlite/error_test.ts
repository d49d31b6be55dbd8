import { assert, assertEquals, assertInstanceOf, assertStrictEquals } from "@std/assert";
import {
  StoreError,
  StoreFormatError,
  StoreFullError,
  StoreInUseError,
  StoreReadOnlyError,
} from "../../../src/errors/store_error.ts";
import { toStoreError } from "../../../src/store/sqlite/schema.ts";

/** An error as node:sqlite makes it. */
function sqliteError(errcode?: number): Error {
  return Object.assign(new Error("what SQLite says"), {
    code: "ERR_SQLITE_ERROR",
    errcode,
    errstr: "a word",
  });
}

Deno.test("toStoreError() derives the kind of problem from the lower byte of the code", () => {
  const kinds = [
    [5, StoreInUseError],
    [517, StoreInUseError], // BUSY_SNAPSHOT
    [8, StoreReadOnlyError],
    [1544, StoreReadOnlyError], // READONLY_DIRECTORY
    [14, StoreReadOnlyError], // CANTOPEN: of the log, when the file is open already
    [11, StoreFormatError],
    [779, StoreFormatError], // CORRUPT_INDEX
    [26, StoreFormatError],
    [13, StoreFullError],
  ] as const;
  for (const [errcode, kind] of kinds) {
    const cause = sqliteError(errcode);
    const error = toStoreError("read", cause);
    assertInstanceOf(error, kind);
    assert(error.message.startsWith("Cannot read the store: "), error.message);
    assertStrictEquals(error.cause, cause);
  }
});

Deno.test("toStoreError() says of another problem what SQLite calls it", () => {
  const error = toStoreError("write to", sqliteError(778)); // IOERR_WRITE
  assertInstanceOf(error, StoreError);
  assertEquals(error.code, "STORE_ERROR");
  assertEquals(
    error.message,
    'Cannot write to the store: SQLite says "a word" (778); see to the disk, and try again',
  );
});

Deno.test("toStoreError() leaves alone what is not from SQLite", () => {
  const denied = Object.assign(new Deno.errors.NotCapable("write access"), { code: "ERR_SQLITE_ERROR" });
  for (const error of [denied, new Error("other"), new StoreFullError("full"), "text", undefined]) {
    assertStrictEquals(toStoreError("open", error), error);
  }
});
