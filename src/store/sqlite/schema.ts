/**
 * The header and table of a file of {@link SqliteStore}, how other files are recognised, and errors of SQLite
 * as errors of the store.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { missingPermission } from "../../errors/matrix_error.ts";
import {
  StoreError,
  StoreFormatError,
  StoreFullError,
  StoreInUseError,
  StoreReadOnlyError,
} from "../../errors/store_error.ts";

/** What was attempted, as messages word it. */
export type SqliteAction = "open" | "read" | "write to";

/** The lower byte of a result code is its kind. */
const KIND = 0xff;

const PROBLEMS: Record<number, { readonly error: typeof StoreError; readonly says: string } | undefined> = {
  5: {
    error: StoreInUseError,
    says: "another process has locked it for too long; end that process",
  }, // BUSY
  8: {
    error: StoreReadOnlyError,
    says: "it is read-only; make the file and its folder writable",
  }, // READONLY
  11: { error: StoreFormatError, says: "the file is damaged; restore it from a copy" }, // CORRUPT
  13: { error: StoreFullError, says: "there is no room left; make some, and go on" }, // FULL
  14: {
    error: StoreReadOnlyError,
    says: "no file can be made beside it; make its folder writable",
  }, // CANTOPEN
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

/** The `application_id` of each file: "Grnr". */
const APPLICATION_ID = 0x47726e72;

/** The `user_version`: the format that this version writes, and the newest that it reads. */
const SCHEMA_VERSION = 1;

interface Header {
  readonly application: number;
  readonly version: number;
  /** The number of tables, indexes and the like. */
  readonly things: number;
}

/**
 * The key whose version is the last one taken by any process. It comes after those of all entries.
 */
export const COUNTER = "x'FF'";

/**
 * A table with an index of its keys. In one that is an index itself (`WITHOUT ROWID`) each search of a key
 * compares whole rows on its way, and reads all pages of those that are large: among packs of room state,
 * each small commit read twenty. A file that has such a table keeps it. The value is last, since all before
 * what is read of a row is read, too.
 */
const TABLE =
  "CREATE TABLE kv (key BLOB PRIMARY KEY NOT NULL, version INTEGER NOT NULL, value BLOB NOT NULL) STRICT";

/** One statement, so that no other process changes the database in between. */
const WHOSE = `SELECT application_id AS application, user_version AS version,
  (SELECT count(*) FROM sqlite_schema) AS things FROM pragma_application_id, pragma_user_version`;

/** How often to try to switch to a write-ahead log while other processes open the same new file. */
const WAL_TRIES = 100;

/** The length that the log keeps after a checkpoint, in bytes. */
export const WAL_LIMIT = 4 * 2 ** 20;

/**
 * `synchronous=FULL`: one sync of the log for each commit. `fullfsync`: on macOS, one that reaches
 * the disk.
 */
const SAFE = [
  "synchronous = FULL",
  "fullfsync = ON",
  `journal_size_limit = ${WAL_LIMIT}`,
  "cell_size_check = ON",
];

/**
 * Returns whether a database is empty, so that the store may be created in it.
 *
 * @throws {StoreFormatError} If it is another application's, or of a newer version.
 */
function isBlank(database: DatabaseSync): boolean {
  const { application, version, things } = database.prepare(WHOSE).get() as unknown as Header; // its columns
  if (application === 0 && version === 0 && things === 0) return true;
  const store = `the store ${database.location() ?? "in memory"}`;
  if (application !== APPLICATION_ID) {
    throw new StoreFormatError(
      `Cannot open ${store}: the database is another application's; use another path`,
    );
  }
  if (version > SCHEMA_VERSION) {
    throw new StoreFormatError(
      `Cannot open ${store}: it has version ${version}, and this Greenroom reads up to ${SCHEMA_VERSION}; use a newer Greenroom`,
    );
  }
  if (version === SCHEMA_VERSION) return false;
  throw new StoreFormatError(
    `Cannot open ${store}: there is no version ${version} of it; restore it from a copy`,
  );
}

/**
 * Checks a file that is opened read-only: opening it for writing might checkpoint the log of
 * another application's database.
 *
 * @param timeout How long the thread waits for another process that writes, in milliseconds.
 * @throws {StoreFormatError} If it is not a store.
 * @throws {StoreInUseError} If another process has locked it.
 */
export function refuseOthers(path: string, timeout: number): void {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    database.exec(`PRAGMA busy_timeout = ${timeout}`); // Deno 2.9.6 ignores the option of a read-only one
    isBlank(database);
  } catch (cause) {
    const error = toStoreError("open", cause, path);
    // Anything else, like a missing file, shows again when it is opened for writing.
    if (error instanceof StoreFormatError || error instanceof StoreInUseError) throw error;
  } finally {
    database?.close();
  }
}

/** Creates the store in an empty database, and sets what makes commits durable. */
export function prepareDatabase(database: DatabaseSync): void {
  // Before the log exists, so that the file itself is marked from the first commit on.
  if (isBlank(database)) create(database);
  keepLog(database);
  for (const setting of SAFE) run(database, `PRAGMA ${setting}`);
}

/** In one transaction: the store is created, or the file stays empty. */
function create(database: DatabaseSync): void {
  run(database, "BEGIN IMMEDIATE");
  try {
    if (isBlank(database)) { // no other process was faster
      run(database, `PRAGMA application_id = ${APPLICATION_ID}`);
      run(database, `PRAGMA user_version = ${SCHEMA_VERSION}`);
      run(database, TABLE);
      run(database, `INSERT INTO kv (key, value, version) VALUES (${COUNTER}, x'', 0)`);
    }
    run(database, "COMMIT");
  } catch (error) {
    if (database.isTransaction) run(database, "ROLLBACK");
    throw error;
  }
}

/**
 * Switching to a write-ahead log does not wait for other processes that do the same, as a
 * transaction does.
 */
function keepLog(database: DatabaseSync): void {
  for (let left = WAL_TRIES;; left--) {
    try {
      database.prepare("PRAGMA journal_mode = WAL").get();
      return;
    } catch (error) {
      if (left === 0) throw error;
      run(database, "BEGIN IMMEDIATE");
      run(database, "ROLLBACK");
    }
  }
}

/** Unlike `exec()`, this reports errors with their number. */
function run(database: DatabaseSync, sql: string): void {
  database.prepare(sql).run();
}
