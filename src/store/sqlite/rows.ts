/**
 * The rows of a SQLite file, read and changed in transactions;
 * the write-ahead log is synced beside the thread, and allocated ahead.
 *
 * SQLite itself syncs in the thread that commits, which waits for that: a fifth of a
 * millisecond on a fast disk, some milliseconds on a slow one. With `synchronous=NORMAL` it leaves
 * that sync out, and keeps all else that protects a file from a crash: a commit is whole or absent,
 * and the log is synced before it is checkpointed. What is left to do is to sync the log after a
 * commit, before `commit()` resolves.
 *
 * Both were measured on Deno 2.9.6, in turn with the plain form on a loaded machine. Where SQLite
 * syncs in the thread, 2,000 small syncs take 2.5 times as long and 1.2 times the processor, 1,000
 * sends 2.7 times as long. Where the log is not allocated ahead, each of the first commits of a
 * process takes 1.7 times as long (0.27 for 0.16 ms), until the log has reached its full length.
 *
 * Over 300 lines because rows and the log that they are written to are one file on the disk.
 *
 * @module
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { platform, type PlatformFile, SEEK } from "../../base/platform/mod.ts";
import { SharedRuns } from "../../base/runs.ts";
import { StoreError, StoreFormatError } from "../../errors/store_error.ts";
import {
  decodeKey,
  decodeValue,
  encodeKey,
  encodeValue,
  isEncodable,
  type StoreCheck,
  type StoreEntry,
  type StoreKey,
  type StoreMutation,
} from "../base/mod.ts";
import { COUNTER, WAL_LIMIT } from "./schema.ts";

/** Values up to this many bytes are read with their page; larger ones singly. */
const SMALL = 65_536;

interface Row {
  readonly value: Uint8Array;
  readonly version: number;
}

/** A row of a page. */
type ListedRow = { readonly key: Uint8Array } & (Row | { /** It is large. */ readonly value: null });

/** A change whose value is in bytes already. */
type EncodedMutation = { readonly type: "set"; readonly key: StoreKey; readonly bytes: Uint8Array };

/** A change whose value is as it was given, or in bytes. */
export type AnyMutation = StoreMutation | EncodedMutation;

/** Reads and changes rows; each call throws what SQLite throws. */
export class SqliteRows {
  readonly #database: DatabaseSync;
  // All are run by get(), those without a result too: run() makes an object, which costs 0.5 µs.
  readonly #begin: StatementSync;
  readonly #beginToWrite: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #get: StatementSync;
  readonly #version: StatementSync;
  readonly #page: StatementSync;
  readonly #set: StatementSync;
  readonly #delete: StatementSync;
  readonly #versions: SqliteVersions;

  /** @param database Has the table. */
  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#begin = database.prepare("BEGIN");
    this.#beginToWrite = database.prepare("BEGIN IMMEDIATE");
    this.#commit = database.prepare("COMMIT");
    this.#rollback = database.prepare("ROLLBACK");
    this.#get = database.prepare("SELECT value, version FROM kv WHERE key = ?");
    this.#version = database.prepare("SELECT version FROM kv WHERE key = ?");
    this.#page = database.prepare(
      `SELECT key, CASE WHEN length(value) <= ${SMALL} THEN value END AS value, version FROM kv
      WHERE key > ? AND key < ? ORDER BY key LIMIT ?`,
    );
    // REPLACE takes out what is there before it puts something in.
    this.#set = database.prepare(
      `INSERT INTO kv (key, value, version) VALUES (?1, ?2, ?3)
      ON CONFLICT DO UPDATE SET value = ?2, version = ?3`,
    );
    this.#delete = database.prepare("DELETE FROM kv WHERE key = ?");
    this.#versions = new SqliteVersions(database);
  }

  /** Reads values. */
  read(keys: readonly StoreKey[]): (StoreEntry | undefined)[] {
    const read = () => keys.map((key) => this.#get.get(encodeKey(key)) as Row | undefined); // its columns
    const rows = keys.length > 1 ? this.#snapshot(read) : read(); // one statement is of one moment anyway
    return rows.map((row, index) => row && entryOf(keys[index] ?? [], row));
  }

  /**
   * Reads rows between two keys. Not with iterate(), which takes an error of SQLite for the end of the rows.
   */
  page(after: Uint8Array, end: Uint8Array, limit: number): ListedRow[] {
    return this.#page.all(after, end, limit) as unknown as ListedRow[]; // its columns
  }

  /** Reads the entry of a row of a page; undefined: it was large, and has been removed since. */
  entry(listed: ListedRow): StoreEntry | undefined {
    const row = listed.value === null ? this.#get.get(listed.key) as Row | undefined : listed; // its columns
    return row && entryOf(decodeKey(listed.key), row);
  }

  #snapshot<Result>(read: () => Result): Result {
    this.#begin.get();
    try {
      return read();
    } finally {
      this.#end();
    }
  }

  /**
   * Makes changes if checks hold, in one transaction that no other process can write during.
   *
   * @param log Is made longer before the changes are committed.
   * @returns Whether the checks hold.
   */
  commit(
    mutations: readonly AnyMutation[],
    checks: readonly StoreCheck[],
    log: { writeAhead(): void } | null | undefined,
  ): boolean {
    if (mutations.length === 0) return this.#snapshot(() => this.#holds(checks));
    this.#beginToWrite.get();
    try {
      const held = this.#holds(checks);
      if (held) {
        this.#apply(mutations);
        log?.writeAhead();
        this.#commit.get();
      } else for (const each of mutations) if (!("bytes" in each)) isEncodable(each);
      return held;
    } catch (error) {
      this.#versions.forget();
      throw error;
    } finally {
      this.#end();
    }
  }

  #holds(checks: readonly StoreCheck[]): boolean {
    for (const { key, versionstamp } of checks) {
      const row = this.#version.get(encodeKey(key)) as Pick<Row, "version"> | undefined; // its column
      if ((row === undefined ? null : String(row.version)) !== versionstamp) return false;
    }
    return true;
  }

  /** Makes changes. Encodes one value after the other, so that not all are in memory as bytes at once. */
  #apply(mutations: readonly AnyMutation[]): void {
    const version = this.#versions.next();
    for (const mutation of mutations) {
      const key = encodeKey(mutation.key);
      if (mutation.type === "delete") this.#delete.get(key);
      else this.#set.get(key, "bytes" in mutation ? mutation.bytes : encodeValue(mutation.value), version);
    }
  }

  /** Rolls a transaction back, unless it was committed or SQLite has rolled it back. */
  #end(): void {
    if (this.#database.isTransaction) this.#rollback.get();
  }
}

function entryOf(key: StoreKey, { value, version }: Row): StoreEntry {
  return { key, value: decodeValue(value), versionstamp: String(version) };
}

/**
 * How many versions a process takes at once. To count each commit in the file makes it write a page
 * more: a commit of three records takes 1.1 to 1.2 times as long, one of a hundred 1.3 times.
 */
export const BLOCK = 1_024;

/**
 * Hands out versions, in several processes at a time. They are unique, not ordered: a process uses
 * up its block while another has taken a later one, and the rest of a block is lost when the
 * process ends.
 */
class SqliteVersions {
  readonly #take: StatementSync;
  #last = 0;
  #left = 0;

  /** @param database The database with the counter. */
  constructor(database: DatabaseSync) {
    this.#take = database.prepare(
      `UPDATE kv SET version = version + ${BLOCK} WHERE key = ${COUNTER} RETURNING version`,
    );
  }

  /**
   * Returns the version of a commit, within its transaction.
   *
   * @throws {StoreFormatError} If the counter is missing.
   */
  next(): number {
    if (this.#left === 0) {
      const taken = this.#take.get();
      if (taken === undefined) throw uncounted();
      this.#last = Number(taken.version) - BLOCK;
      this.#left = BLOCK;
    }
    this.#left--;
    return ++this.#last;
  }

  /** Drops the rest of the block: the transaction that took it may have been rolled back. */
  forget(): void {
    this.#left = 0;
  }
}

function uncounted(): StoreFormatError {
  return new StoreFormatError(
    "Cannot write to the store: its count of commits is gone; restore it from a copy",
  );
}

/** A mutation whose value is bytes already, which the caller can't change any more. */
export function encoded(mutation: StoreMutation): AnyMutation {
  if (mutation.type === "delete") return mutation;
  return { type: "set", key: mutation.key, bytes: encodeValue(mutation.value) };
}

/**
 * The log grows by so many bytes at once: a disk syncs overwritten bytes faster than appended ones.
 */
const STEP = 256 * 2 ** 10;

/** The log of a database. Commits made during a sync share the next one. */
export class SqliteLog {
  readonly #file: PlatformFile;
  /** Has all that is written by then on the disk. */
  readonly #syncs = new SharedRuns(async () => {
    try {
      await this.#file.syncData();
    } catch (cause) {
      throw new StoreError(
        "Cannot write to the store: its log can't be synced, and what of it is on the disk is unknown; see to the disk, and open the store again",
        { cause },
      );
    }
  });
  /** Whether the log has not reached its full length yet. */
  #grows = true;

  private constructor(file: PlatformFile) {
    this.#file = file;
  }

  /**
   * Opens the log of a database.
   *
   * @returns `undefined` if there is none, or no permission to write to it: SQLite has to sync it
   * then.
   */
  static open(database: DatabaseSync): SqliteLog | undefined {
    const path = `${database.location()}-wal`;
    try {
      // Queried first, so that Deno does not prompt the user.
      const { files } = platform;
      return files.isPermitted("write", path)
        ? new SqliteLog(files.openSync(path, { write: true }))
        : undefined;
    } catch {
      return undefined; // there is no such file
    }
  }

  /**
   * Resolves when everything written so far is on the disk.
   *
   * @throws {StoreError} If the sync fails. All later calls fail too: what of the log is on the
   * disk is unknown.
   */
  synced(): Promise<void> {
    return this.#syncs.next();
  }

  /**
   * Appends zeros to the log if SQLite has made it longer, so that the next commits overwrite them.
   * SQLite reads a log up to the first invalid frame, and keeps its length when it restarts it.
   *
   * Only the holder of the write transaction may call it: else the zeros might overwrite another
   * process's commit.
   */
  writeAhead(): void {
    if (!this.#grows) return;
    try {
      const end = this.#file.seekSync(0, SEEK.END);
      this.#grows = end < WAL_LIMIT;
      // At a multiple of the step there are zeros already, of this process or another.
      if (this.#grows && end % STEP > 0) this.#file.writeSync(new Uint8Array(STEP - end % STEP));
    } catch {
      this.#grows = false; // the disk is full: commits need the room that is left
    }
  }

  /** Closes the log after the sync under way. */
  async close(): Promise<void> {
    await this.#syncs.last.catch(() => {}); // the commits that wait for it reject
    this.#file.close();
  }
}
