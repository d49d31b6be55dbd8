/**
 * What a file of {@link SqliteStore} is, and how it is told from others.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { StoreFormatError } from "../../errors/store_error.ts";
import { toStoreError } from "./error.ts";

/** Stands in the header of each file of ours: "Grnr". */
const APPLICATION_ID = 0x47726e72;

/** Stands there too: how this version writes. One that reads more has a higher one. */
const SCHEMA_VERSION = 1;

interface Header {
  readonly application: number;
  readonly version: number;
  /** How many tables and the like there are. */
  readonly things: number;
}

/** The key whose version is the last that anybody has taken. It comes after those of all entries. */
export const COUNTER = "x'FF'";

/** One statement, so that nobody makes the database theirs in between. */
const WHOSE = `SELECT application_id AS application, user_version AS version,
  (SELECT count(*) FROM sqlite_schema) AS things FROM pragma_application_id, pragma_user_version`;

/** How often to try for a write-ahead log while others open the same new file. */
const WAL_TRIES = 100;

/** How large a write-ahead log stays once it has been carried into the file, in bytes. */
export const WAL_LIMIT = 4 * 2 ** 20;

/** `synchronous=FULL`: one sync of the log for each commit. `fullfsync`: on macOS, one that reaches the disk. */
const SAFE = [
  "synchronous = FULL",
  "fullfsync = ON",
  `journal_size_limit = ${WAL_LIMIT}`,
  "cell_size_check = ON",
];

/**
 * Whether a database is still to be made ours.
 *
 * @throws {StoreFormatError} If it is somebody else's, or of a newer version.
 */
function isBlank(database: DatabaseSync): boolean {
  const { application, version, things } = database.prepare(WHOSE).get() as unknown as Header; // its columns
  if (application === 0 && version === 0 && things === 0) return true;
  if (application !== APPLICATION_ID) {
    throw new StoreFormatError(
      "Cannot open the store: the database is another application's; use another path",
    );
  }
  if (version > SCHEMA_VERSION) {
    throw new StoreFormatError(
      `Cannot open the store: it has version ${version}, and this Greenroom reads up to ${SCHEMA_VERSION}; use a newer Greenroom`,
    );
  }
  if (version === SCHEMA_VERSION) return false;
  throw new StoreFormatError(
    `Cannot open the store: there is no version ${version} of it; restore it from a copy`,
  );
}

/**
 * Looks at a file without the power to change it: to open it for writing may carry somebody else's log into it.
 *
 * @param timeout How long to wait for another process that writes, in milliseconds.
 * @throws {StoreFormatError} If it is not ours.
 */
export function refuseOthers(path: string, timeout: number): void {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout });
    isBlank(database);
  } catch (cause) {
    const error = toStoreError("open", cause);
    // Whatever else is in the way, like that there is no file yet, shows again when it is opened for writing.
    if (error instanceof StoreFormatError) throw error;
  } finally {
    database?.close();
  }
}

/** Makes a database ours, if it is nobody's, and safe to commit to. */
export function prepareDatabase(database: DatabaseSync): void {
  // Before the log is there, so that the file itself says whose it is from the first commit on.
  if (isBlank(database)) create(database);
  keepLog(database);
  for (const setting of SAFE) run(database, `PRAGMA ${setting}`);
}

/** In one transaction: a file is ours, or still blank. */
function create(database: DatabaseSync): void {
  run(database, "BEGIN IMMEDIATE");
  try {
    if (isBlank(database)) { // nobody was faster
      run(database, `PRAGMA application_id = ${APPLICATION_ID}`);
      run(database, `PRAGMA user_version = ${SCHEMA_VERSION}`);
      run(
        database,
        "CREATE TABLE kv (key BLOB PRIMARY KEY, value BLOB NOT NULL, version INTEGER NOT NULL) STRICT, WITHOUT ROWID",
      );
      run(database, `INSERT INTO kv (key, value, version) VALUES (${COUNTER}, x'', 0)`);
    }
    run(database, "COMMIT");
  } catch (error) {
    if (database.isTransaction) run(database, "ROLLBACK");
    throw error;
  }
}

/** Switching to a write-ahead log does not wait for others that are at it, as a transaction does. */
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

/** Other than `exec()`, this says with a number what went wrong. */
function run(database: DatabaseSync, sql: string): void {
  database.prepare(sql).run();
}
