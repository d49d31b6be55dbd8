/**
 * A store in a file of SQLite, which outlives the process.
 *
 * @module
 */

import { DatabaseSync, type StatementSync } from "node:sqlite";
import { ValueError } from "../../errors/value_error.ts";
import { lockBeside } from "../device/file_lock.ts";
import type { KvCheck, KvEntry, KvKey, KvListOptions, KvLock, KvMutation, KvStore } from "../kv_store.ts";
import { attempt, type SqliteAction } from "./error.ts";
import { decodeKey, encodeKey, endOfRange } from "./keys.ts";
import { SqliteLog } from "./log.ts";
import { prepareDatabase, refuseOthers } from "./schema.ts";
import { SqliteVersions } from "./versions.ts";
import { decodeValue, encodeValue, isEncodable } from "../value_codec.ts";

/** How long to wait for another process that writes, in milliseconds. */
const BUSY_TIMEOUT = 5_000;

/** How many entries {@link SqliteStore.list} reads at once; larger values it reads singly. */
const PAGE = 100;
const SMALL = 65_536;

interface Row {
  readonly value: Uint8Array;
  readonly version: number;
}

type ListedRow = { readonly key: Uint8Array } & (Row | { /** It is large. */ readonly value: null });

/**
 * Keeps everything in a SQLite file: for hosts with a disk, faster than Deno KV's file at the same
 * durability.
 *
 * Values, keys and commits may have any size up to SQLite's billion bytes. Each commit is one
 * transaction, and its write-ahead log is synced before `commit()` resolves: what has resolved
 * survives `kill -9`, and a power cut if the disk syncs as it says. Commits made during a sync
 * share the next one. If a sync fails, `commit()` rejects from then on, though what it wrote can be
 * read. In memory (`":memory:"`), everything goes with the process.
 *
 * A commit can be read, by other processes too, before it is on the disk. A later commit resolves
 * only when both are, so a power cut never leaves a commit without those before it.
 *
 * Several stores and processes may open one file, on a local disk and not over the network. A
 * commit waits up to five seconds for another process that writes. Other programs may open the file
 * too, for example to back it up. While the store is open, only SQLite may open the file in this
 * process, not even `Deno.copyFile()`: closing it elsewhere releases the locks that protect it.
 *
 * SQLite works in the thread that calls it: a read or a small commit takes some microseconds. The
 * log is synced beside the thread, if Deno may open it. Where only the file itself may be written
 * (`--allow-write=bot.db` without `bot.db-wal`), SQLite syncs it (`synchronous=FULL`), and the
 * thread waits for the disk.
 *
 * Lock files in the folder `bot.db-locks` show immediately that a process has ended, so that the
 * next need not wait for its lease; Deno needs permission to read and write it.
 *
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { SqliteStore } from "@greenroom/matrix/store/sqlite";
 *
 * await using store = await SqliteStore.open(":memory:"); // or "./bot.db"
 * await using client = new Client({ baseUrl: "https://matrix.example.org", store });
 * ```
 */
export class SqliteStore implements KvStore, AsyncDisposable {
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
  /**
   * Undefined until the first commit, which creates the log if there was none; `null`: SQLite syncs
   * it itself.
   */
  #log: SqliteLog | null | undefined;
  #closed: Promise<void> | undefined;

  private constructor(database: DatabaseSync) {
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
    this.#set = database.prepare(
      `INSERT INTO kv (key, value, version) VALUES (?1, ?2, ?3)
      ON CONFLICT DO UPDATE SET value = ?2, version = ?3`, // REPLACE takes out what is there before it puts something in
    );
    this.#delete = database.prepare("DELETE FROM kv WHERE key = ?");
    this.#versions = new SqliteVersions(database);
  }

  /**
   * Opens a file, and creates it if it does not exist.
   *
   * @param path The file; `":memory:"` for none.
   * @throws {ValueError} If the path is empty.
   * @throws {StoreFormatError} If the file is not a store, damaged, or of a newer Greenroom.
   * @throws {StoreReadOnlyError} If the file can't be written, and is not a store yet.
   * @throws {StoreInUseError} If another process writes for longer than five seconds.
   * @throws {StoreError} If the file can't be opened.
   */
  static open(path: string): Promise<SqliteStore> {
    return Promise.try(() => {
      if (path === "") {
        throw new ValueError('Cannot open the store: the path is empty; name a file, or ":memory:"');
      }
      if (path !== ":memory:") refuseOthers(path, BUSY_TIMEOUT);
      return SqliteStore.over(attempt("open", () => new DatabaseSync(path, { timeout: BUSY_TIMEOUT })));
    });
  }

  /**
   * Uses an open database, and closes it with the store. It may contain nothing else.
   *
   * @param database The database, without a transaction.
   * @throws {StoreError} As {@link SqliteStore.open}; the database is closed then.
   */
  static over(database: DatabaseSync): Promise<SqliteStore> {
    return Promise.try(() => {
      try {
        return attempt("open", () => {
          prepareDatabase(database);
          return new SqliteStore(database);
        });
      } catch (error) {
        database.close();
        throw error;
      }
    });
  }

  /** Reads several values in one snapshot; `undefined` where there is none. */
  getMany(keys: readonly KvKey[]): Promise<(KvEntry | undefined)[]> {
    return this.#do("read", () => {
      const read = () => keys.map((key) => this.#get.get(encodeKey(key)) as Row | undefined); // its columns
      const rows = keys.length > 1 ? this.#snapshot(read) : read(); // one statement is of one moment anyway
      return rows.map((row, index) => row && entryOf(keys[index] ?? [], row));
    });
  }

  /**
   * Reads the values below a prefix, without the one at it, in the order of the keys.
   *
   * A hundred entries come from one snapshot, but values above 64 KiB are read as they are yielded.
   * Commits made meanwhile are seen where their keys are still to come.
   *
   * @throws {StoreFormatError} If the file is damaged.
   */
  async *list(prefix: KvKey, { after, limit = Infinity }: KvListOptions = {}): AsyncGenerator<KvEntry> {
    const end = endOfRange(encodeKey(prefix));
    let last = encodeKey(after ?? prefix);
    for (let left = limit; left > 0; left -= PAGE) {
      const count = Math.min(PAGE, left);
      // Not iterate(), which takes an error of SQLite for the end of the rows.
      const rows = await this.#do("read", () => this.#page.all(last, end, count) as unknown as ListedRow[]); // its columns
      for (const row of rows) {
        const entry = row.value === null ? await this.#readLarge(row.key) : entryOf(decodeKey(row.key), row);
        if (entry !== undefined) yield entry;
      }
      if (rows.length < count) return;
      last = rows.at(-1)?.key ?? last;
    }
  }

  /**
   * Applies all changes, or none if a check does not hold.
   *
   * @throws {ValueError} If a value is not plain data; nothing is written.
   * @throws {StoreFullError} If the disk is full; nothing is written.
   * @throws {StoreReadOnlyError} If the file can't be written.
   * @throws {StoreInUseError} If another process writes for over five seconds; nothing is written.
   * @throws {StoreFormatError} If the file is damaged.
   * @throws {StoreError} If the sync fails: whether the commit survives a power cut is unknown.
   */
  async commit(mutations: readonly KvMutation[], checks: readonly KvCheck[] = []): Promise<boolean> {
    const change = () => this.#holds(checks) ? this.#apply(mutations) : !mutations.every(isEncodable);
    const held = this.#now(
      "write to",
      () => mutations.length > 0 ? this.#write(change) : this.#snapshot(() => this.#holds(checks)),
    );
    if (held && mutations.length > 0) await this.#synced();
    return held;
  }

  /** Takes a lock: a file in the folder `…-locks`. Rejects with a `StoreError` if it can't. */
  async lock(key: KvKey): Promise<KvLock | undefined> {
    return await lockBeside(this.#database.location(), key);
  }

  /** Closes the file after the operations under way. */
  close(): Promise<void> {
    return this.#closed ??= this.#close();
  }

  /** Closes the file. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#log?.close();
    if (this.#database.isOpen) attempt("write to", () => this.#database.close());
  }

  async #synced(): Promise<void> {
    if (this.#log === undefined) { // SQLite has synced this commit
      this.#log = SqliteLog.open(this.#database) ?? null;
      if (this.#log !== null) this.#database.exec("PRAGMA synchronous = NORMAL");
    } else await this.#log?.synced();
  }

  /** Runs it immediately; the promise rejects with what it throws. */
  #do<Result>(action: SqliteAction, go: () => Result): Promise<Result> {
    return Promise.try(() => this.#now(action, go));
  }

  #now<Result>(action: SqliteAction, go: () => Result): Result {
    if (this.#closed !== undefined) throw new ValueError("Cannot use the store: it is closed; open it again");
    return attempt(action, go);
  }

  /** Reads in one snapshot. */
  #snapshot<Result>(read: () => Result): Result {
    this.#begin.get();
    try {
      return read();
    } finally {
      this.#end();
    }
  }

  /** Checks and changes in one transaction that no other process can write during. */
  #write(change: () => boolean): boolean {
    this.#beginToWrite.get();
    try {
      const held = change();
      if (held) {
        this.#log?.writeAhead();
        this.#commit.get();
      }
      return held;
    } catch (error) {
      this.#versions.forget();
      throw error;
    } finally {
      this.#end();
    }
  }

  /** Rolls a transaction back, unless it was committed or SQLite has rolled it back. */
  #end(): void {
    if (this.#database.isTransaction) this.#rollback.get();
  }

  #holds(checks: readonly KvCheck[]): boolean {
    return checks.every(({ key, versionstamp }) => {
      const row = this.#version.get(encodeKey(key)) as Pick<Row, "version"> | undefined; // its column
      return (row === undefined ? null : String(row.version)) === versionstamp;
    });
  }

  /** Encodes one value after the other, so that not all are in memory as bytes at once. */
  #apply(mutations: readonly KvMutation[]): true {
    const version = this.#versions.next();
    for (const mutation of mutations) {
      const key = encodeKey(mutation.key);
      if (mutation.type === "delete") this.#delete.get(key);
      else this.#set.get(key, encodeValue(mutation.value), version);
    }
    return true;
  }

  /** Reads a value that was too large for a page; it may have been removed since. */
  #readLarge(key: Uint8Array): Promise<KvEntry | undefined> {
    return this.#do("read", () => {
      const row = this.#get.get(key) as Row | undefined; // its columns
      return row && entryOf(decodeKey(key), row);
    });
  }
}

function entryOf(key: KvKey, { value, version }: Row): KvEntry {
  return { key, value: decodeValue(value), versionstamp: String(version) };
}
