import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import {
  StoreError,
  StoreFormatError,
  StoreFullError,
  StoreInUseError,
  StoreReadOnlyError,
} from "@greenroom/matrix/errors";
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

Deno.test("A patience of any length opens a file, and one that is none is refused", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const patience of [0, 0.5, 1e12, Infinity]) {
      await using _store = new SqliteStore(`${folder}/store.db`, { patience });
    }
    for (const patience of [-1, NaN, "long" as unknown as number]) {
      assertThrows(() => new SqliteStore(`${folder}/store.db`, { patience }), ValueError, "patience must be");
    }
    await assertRejects(() => SqliteStore.over({} as never), ValueError, "or a DatabaseSync");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
