/**
 * A store in a file of SQLite, which outlives the process.
 *
 * @module
 */

import { DatabaseSync, type StatementSync } from "node:sqlite";
import { ValueError } from "../../errors/value_error.ts";
import { lockBeside } from "../device/file_lock.ts";
import type { KvCheck, KvEntry, KvKey, KvLock, KvMutation, KvStore } from "../kv_store.ts";
import { attempt, type SqliteAction } from "./error.ts";
import { decodeKey, encodeKey, endOfRange } from "./keys.ts";
import { SqliteLog } from "./log.ts";
import { prepareDatabase, refuseOthers } from "./schema.ts";
import { SqliteVersions } from "./versions.ts";
import { decodeValue, encodeValue, isEncodable } from "../value_codec.ts";

/** How long to wait for another process that writes, in milliseconds. */
const BUSY_TIMEOUT = 5_000;

/** How many entries {@link SqliteStore.list} reads at once; values of more bytes than this it reads one by one. */
const PAGE = 100;
const SMALL = 65_536;

const MEMORY = ":memory:";

interface Row {
  readonly value: Uint8Array;
  readonly version: number;
}

type ListedRow = { readonly key: Uint8Array } & (Row | { /** It is large. */ readonly value: null });

/**
 * Keeps everything in a file of SQLite: for hosts with a disk, faster than Deno KV's file at the same durability.
 *
 * A value may have any size, up to SQLite's billion bytes, and so may a key and a commit. Each commit is one transaction,
 * and its write-ahead log is synced before `commit()` resolves: what has resolved is there after `kill -9`, and after a power
 * cut if the disk keeps its word. Commits that are made while a sync is under way share the next one. If a sync fails,
 * `commit()` rejects from then on, though what it wrote can be read. In memory (`":memory:"`), all goes with the process.
 *
 * Several stores, in several processes too, may be open on one file, on a disk of the machine and not of the network. A
 * commit waits up to five seconds for another process that is at it. Other programs may open it too, to make a backup, say.
 * While the store is open, nothing but SQLite may open the file in this process, not even to copy it (`Deno.copyFile()`): when that
 * is closed, the system lets go of the locks that keep other programs from taking the log away.
 *
 * SQLite works in the thread that calls it: a read and a small commit take some microseconds, in which nothing else of the
 * program runs. The log is synced beside the thread, if Deno lets it be opened: where only the file itself may be written
 * (`--allow-write=bot.db` without `bot.db-wal`), SQLite syncs it (`synchronous=FULL`), and the thread waits for the disk.
 *
 * The folder `bot.db-locks` shows at once that a process has ended, so that the next one need not wait for its lease; Deno has to
 * let it be read and written.
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
  // All of them are run by get(), also those that give nothing: run() makes an object of what was changed, for half a microsecond.
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
  /** Undefined until the first commit, which makes the log if there was none; `null`: SQLite syncs its log itself. */
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
      WHERE key > ? AND key < ? ORDER BY key LIMIT ${PAGE}`,
    );
    this.#set = database.prepare(
      `INSERT INTO kv (key, value, version) VALUES (?1, ?2, ?3)
      ON CONFLICT DO UPDATE SET value = ?2, version = ?3`, // REPLACE takes out what is there before it puts something in
    );
    this.#delete = database.prepare("DELETE FROM kv WHERE key = ?");
    this.#versions = new SqliteVersions(database);
  }

  /**
   * Opens a file, and makes it if there is none.
   *
   * @param path The file; `":memory:"` for none.
   * @throws {ValueError} If the path is empty.
   * @throws {StoreFormatError} If the file is something else, damaged, or of a newer Greenroom; it is left as it is.
   * @throws {StoreReadOnlyError} If the file can't be written, and is not a store yet.
   * @throws {StoreInUseError} If another process writes for longer than five seconds.
   * @throws {StoreError} If the file can't be opened.
   */
  static open(path: string): Promise<SqliteStore> {
    return Promise.try(() => {
      if (path === "") {
        throw new ValueError('Cannot open the store: the path is empty; name a file, or ":memory:"');
      }
      if (path !== MEMORY) refuseOthers(path, BUSY_TIMEOUT);
      return SqliteStore.over(attempt("open", () => new DatabaseSync(path, { timeout: BUSY_TIMEOUT })));
    });
  }

  /**
   * Uses an open database, which it then closes with itself. Nothing else may be in it. If it is open for reading only, or
   * has a `max_page_count`, commits are refused accordingly.
   *
   * @param database The database, without a transaction.
   * @throws {StoreError} As {@link SqliteStore.open} does; the database is closed then.
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

  /**
   * Reads several values at once, all as they were at one moment; `undefined` where there is none.
   *
   * @throws {StoreFormatError} If the file is damaged.
   */
  getMany(keys: readonly KvKey[]): Promise<(KvEntry | undefined)[]> {
    return this.#do("read", () => {
      const read = () => keys.map((key) => this.#get.get(encodeKey(key)) as Row | undefined); // its columns
      const rows = keys.length > 1 ? this.#snapshot(read) : read(); // one statement is of one moment anyway
      return rows.map((row, index) => row && entryOf(keys[index] ?? [], row));
    });
  }

  /**
   * Reads what lies below a prefix, not at it, in the order of the keys.
   *
   * A hundred entries are as they were at one moment, but for values above 64 KiB, which are read when they are given. What
   * is committed while the reading goes on is seen, if its keys are still to come.
   *
   * @throws {StoreFormatError} If the file is damaged.
   */
  async *list(prefix: KvKey): AsyncGenerator<KvEntry> {
    let after = encodeKey(prefix);
    const end = endOfRange(after);
    for (;;) {
      // Not iterate(), which takes an error of SQLite for the end.
      const rows = await this.#do("read", () => this.#page.all(after, end) as unknown as ListedRow[]); // its columns
      for (const row of rows) {
        const entry = row.value === null ? await this.#readLarge(row.key) : entryOf(decodeKey(row.key), row);
        if (entry !== undefined) yield entry;
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      after = last.key;
    }
  }

  /**
   * Applies all changes, or none if a check does not hold.
   *
   * @throws {ValueError} If a value is not plain data; nothing was written then.
   * @throws {StoreFullError} If there is no room left; nothing was written then.
   * @throws {StoreReadOnlyError} If the file can't be written.
   * @throws {StoreInUseError} If another process writes for longer than five seconds; nothing was written then.
   * @throws {StoreFormatError} If the file is damaged.
   * @throws {StoreError} If the disk does not take it: whether it is there after a power cut, nobody knows.
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

  /** Takes a lock: a file of the folder `…-locks` beside the database. Rejects with a `StoreError` if there can be none. */
  async lock(key: KvKey): Promise<KvLock | undefined> {
    return await lockBeside(this.#database.location(), key);
  }

  /** Closes the file, after what was begun. Whoever closes it last carries the write-ahead log into it. */
  close(): Promise<void> {
    return this.#closed ??= this.#close();
  }

  /** Closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    await this.#log?.close();
    if (this.#database.isOpen) attempt("write to", () => this.#database.close());
  }

  /** Resolves when what was committed is on the disk. */
  async #synced(): Promise<void> {
    if (this.#log === undefined) { // SQLite has synced this commit
      this.#log = SqliteLog.open(this.#database) ?? null;
      if (this.#log !== null) this.#database.exec("PRAGMA synchronous = NORMAL");
    } else await this.#log?.synced();
  }

  /** Does it at once; what it throws is what the promise rejects with. */
  #do<Result>(action: SqliteAction, go: () => Result): Promise<Result> {
    return Promise.try(() => this.#now(action, go));
  }

  #now<Result>(action: SqliteAction, go: () => Result): Result {
    if (this.#closed !== undefined) throw new ValueError("Cannot use the store: it is closed; open it again");
    return attempt(action, go);
  }

  /** Reads everything of one moment. */
  #snapshot<Result>(read: () => Result): Result {
    this.#begin.get();
    try {
      return read();
    } finally {
      this.#end();
    }
  }

  /** Nobody else writes meanwhile; what the checks see is what the changes meet. */
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

  /** Ends a transaction that was not committed, unless SQLite has done so because of an error. */
  #end(): void {
    if (this.#database.isTransaction) this.#rollback.get();
  }

  #holds(checks: readonly KvCheck[]): boolean {
    return checks.every(({ key, versionstamp }) => {
      const row = this.#version.get(encodeKey(key)) as Pick<Row, "version"> | undefined; // its column
      return (row === undefined ? null : String(row.version)) === versionstamp;
    });
  }

  /** One after the other, so that not all values are there as bytes at once. */
  #apply(mutations: readonly KvMutation[]): true {
    const version = this.#versions.next();
    for (const mutation of mutations) {
      const key = encodeKey(mutation.key);
      if (mutation.type === "delete") this.#delete.get(key);
      else this.#set.get(key, encodeValue(mutation.value), version);
    }
    return true;
  }

  /** Reads what was too large for a page; it may be gone by now. */
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
