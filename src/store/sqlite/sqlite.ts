/**
 * A store in a file of SQLite, which outlives the process.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../base/clock.ts";
import { createPrivateFile, FilePatience, lockBeside, patienceOf } from "../files/files.ts";
import { Turns } from "../../base/runs.ts";
import { checkHinted, type Hints, SEAL_HINTS } from "../../errors/hints.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { StoreInUseError } from "../../errors/store_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import {
  encodeKey,
  endOfRange,
  type Store,
  type StoreCheck,
  type StoreEntry,
  type StoreKey,
  type StoreListOptions,
  type StoreLock,
  type StoreMutation,
} from "../base/mod.ts";
import { attempt, prepareDatabase, refuseOthers, type SqliteAction, toStoreError } from "./schema.ts";
import { type AnyMutation, encoded, SqliteLog, SqliteRows } from "./rows.ts";

/**
 * How long the thread waits for another process that writes, in milliseconds;
 * then all else goes on meanwhile.
 */
const BUSY_TIMEOUT = 5;

/** @internal Names of other libraries, for the compiler. */
export interface SqliteOptionsHints extends Hints<typeof SEAL_HINTS> {}

/** How a store in a file is opened. */
export interface SqliteOptions extends SqliteOptionsHints {
  /**
   * How long to wait for another process that has locked the file, in milliseconds; 0: not at all.
   *
   * @default {30_000}
   */
  patience?: number;
  /**
   * The clock.
   *
   * @default {the machine's own clock}
   */
  clock?: Clock;
}

/** The longest that SQLite waits, in milliseconds: about 25 days. */
const MAX_TIMEOUT = 2 ** 31 - 1;
const OPTIONS: OptionNames<SqliteOptions> = { patience: true, clock: true };

/** How many entries {@link SqliteStore.list} reads at once. */
const PAGE = 100;

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
 * Several stores and processes may open one file, on a local disk and not over the network. Where
 * another process has locked the file, as a backup may, operations wait for it, up to 30 seconds by
 * default; all else in this process goes on meanwhile. Other programs may open the file
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
export class SqliteStore implements Store, AsyncDisposable {
  readonly #database: DatabaseSync;
  readonly #rows: SqliteRows;
  readonly #patience: FilePatience;
  /** Commits that wait for another process, one after the other. */
  readonly #turns = new Turns();
  #waiting = 0;
  /**
   * Undefined until the first commit, which creates the log if there was none; `null`: SQLite syncs
   * it itself.
   */
  #log: SqliteLog | null | undefined;
  #closed: Promise<void> | undefined;

  /**
   * Opens a file, and creates it if it does not exist. While another process has locked it, the thread waits;
   * {@link SqliteStore.open} lets all else go on meanwhile.
   *
   * @param file The file; `":memory:"` for none; or an open database, which may contain nothing else, and is
   * closed with the store.
   * @param options How long to wait for another process.
   * @throws {ValueError} If the path is empty.
   * @throws {StoreError} As {@link SqliteStore.open}.
   *
   * @example
   * ```ts
   * import { SqliteStore } from "@greenroom/matrix/store/sqlite";
   *
   * await using store = new SqliteStore(":memory:"); // or "./bot.db"
   * await store.commit([{ type: "set", key: ["greeting", "en"], value: "hello" }]);
   * ```
   */
  constructor(file: string | DatabaseSync, options: SqliteOptions = {}) {
    checkHinted(options, OPTIONS, SEAL_HINTS, "open the store");
    checkOptions(options, OPTIONS, "open the store");
    const patience = patienceOf(options.patience);
    this.#patience = new FilePatience(options);
    const database = file instanceof DatabaseSync ? file : openFile(file, patience);
    try {
      this.#rows = attempt("open", () => {
        prepareDatabase(database);
        if (database !== file) database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
        return new SqliteRows(database);
      }, database.location());
    } catch (error) {
      database.close();
      throw error;
    }
    this.#database = database;
  }

  /**
   * Opens a file, and creates it if it does not exist.
   *
   * @param path The file; `":memory:"` for none.
   * @param options How long to wait for another process.
   * @throws {ValueError} If the path is empty.
   * @throws {StoreFormatError} If the file is not a store, damaged, or of a newer Greenroom.
   * @throws {StoreReadOnlyError} If the file can't be written, and is not a store yet.
   * @throws {StoreInUseError} If another process has locked the file for longer than the patience.
   * @throws {StoreError} If the file can't be opened.
   *
   * @example
   * ```ts
   * import { SqliteStore } from "@greenroom/matrix/store/sqlite";
   *
   * await using store = await SqliteStore.open(":memory:"); // or "./bot.db"
   * await store.commit([{ type: "set", key: ["greeting", "en"], value: "hello" }]);
   * ```
   */
  static async open(path: string, options: SqliteOptions = {}): Promise<SqliteStore> {
    checkHinted(options, OPTIONS, SEAL_HINTS, "open the store");
    checkOptions(options, OPTIONS, "open the store");
    const open = () => new SqliteStore(openFile(path, BUSY_TIMEOUT), options);
    return await new FilePatience(options).keepTrying(open, isLocked);
  }

  /**
   * Uses an open database, and closes it with the store. It may contain nothing else.
   *
   * @param database The database, without a transaction.
   * @param options How long operations wait for another process; the opening does not.
   * @throws {StoreError} As {@link SqliteStore.open}; the database is closed then.
   *
   * @example
   * ```ts
   * import { DatabaseSync } from "node:sqlite";
   * import { SqliteStore } from "@greenroom/matrix/store/sqlite";
   *
   * await using store = await SqliteStore.over(new DatabaseSync(":memory:"));
   * await store.commit([{ type: "set", key: ["greeting", "en"], value: "hello" }]);
   * ```
   */
  static over(database: DatabaseSync, options: SqliteOptions = {}): Promise<SqliteStore> {
    return Promise.try(() => new SqliteStore(database, options));
  }

  /** Reads several values in one snapshot; `undefined` where there is none. */
  getMany(keys: readonly StoreKey[]): Promise<(StoreEntry | undefined)[]> {
    return this.#read(() => this.#rows.read(keys));
  }

  /**
   * Reads the values below a prefix, without the one at it, in the order of the keys.
   *
   * A hundred entries come from one snapshot, but values above 64 KiB are read as they are yielded.
   * Commits made meanwhile are seen where their keys are still to come.
   *
   * @throws {StoreFormatError} If the file is damaged.
   */
  async *list(
    prefix: StoreKey,
    { after, limit = Infinity }: StoreListOptions = {},
  ): AsyncGenerator<StoreEntry> {
    const end = endOfRange(encodeKey(prefix));
    let last: Uint8Array = encodeKey(after ?? prefix);
    for (let left = limit; left > 0; left -= PAGE) {
      const count = Math.min(PAGE, left);
      const from = last;
      const rows = await this.#read(() => this.#rows.page(from, end, count));
      for (const row of rows) {
        const entry = row.value === null
          ? await this.#read(() => this.#rows.entry(row))
          : this.#rows.entry(row);
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
   * @throws {StoreInUseError} If another process has locked the file for longer than the patience;
   * nothing is written.
   * @throws {StoreFormatError} If the file is damaged.
   * @throws {StoreError} If the sync fails: whether the commit survives a power cut is unknown.
   */
  async commit(mutations: readonly StoreMutation[], checks: readonly StoreCheck[] = []): Promise<boolean> {
    let held: boolean | undefined;
    try {
      if (this.#waiting === 0) held = this.#commitNow(mutations, checks);
    } catch (error) {
      if (!isLocked(error)) throw error; // nothing has changed
    }
    held ??= await this.#commitLater(mutations, checks);
    if (held && mutations.length > 0) await this.#synced();
    return held;
  }

  /** Takes a lock: a file in the folder `…-locks`. Rejects with a `StoreError` if it can't. */
  async lock(key: StoreKey): Promise<StoreLock | undefined> {
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
    this.#patience.end();
    await this.#log?.close();
    if (this.#database.isOpen) attempt("write to", () => this.#database.close(), this.#database.location());
  }

  async #synced(): Promise<void> {
    if (this.#log === undefined) { // SQLite has synced this commit
      this.#log = SqliteLog.open(this.#database) ?? null;
      if (this.#log !== null) this.#database.exec("PRAGMA synchronous = NORMAL");
    } else await this.#log?.synced();
  }

  /** Reads immediately, or when the file is not locked any more. */
  async #read<Result>(go: () => Result): Promise<Result> {
    try {
      return this.#now("read", go);
    } catch (error) {
      if (!isLocked(error)) throw error;
    }
    return await this.#patience.keepTrying(() => this.#now("read", go), isLocked);
  }

  #commitNow(mutations: readonly AnyMutation[], checks: readonly StoreCheck[]): boolean {
    return this.#now("write to", () => this.#rows.commit(mutations, checks, this.#log));
  }

  /** Commits when the file is not locked any more, after the commits that wait already. */
  async #commitLater(mutations: readonly StoreMutation[], checks: readonly StoreCheck[]): Promise<boolean> {
    const kept = mutations.map(encoded); // the caller may change its values meanwhile
    this.#waiting++;
    try {
      const commit = () => this.#commitNow(kept, checks);
      return await this.#turns.take(() => this.#patience.keepTrying(commit, isLocked));
    } finally {
      this.#waiting--;
    }
  }

  #now<Result>(action: SqliteAction, go: () => Result): Result {
    if (this.#closed !== undefined) throw new ValueError("Cannot use the store: it is closed; open it again");
    try {
      return go();
    } catch (error) {
      throw toStoreError(action, error, this.#database.location());
    }
  }
}

/**
 * Opens a file.
 *
 * @param wait How long the thread waits for another process that has locked it, in milliseconds.
 */
function openFile(path: string, wait: number): DatabaseSync {
  if (typeof path !== "string") {
    throw new ValueError('Cannot open the store: give the path of a file, ":memory:", or a DatabaseSync');
  }
  if (path === "") {
    throw new ValueError('Cannot open the store: the path is empty; name a file, or ":memory:"');
  }
  if (path !== ":memory:") {
    refuseOthers(path, wait);
    createPrivateFile(path);
  }
  return attempt(
    "open",
    () => new DatabaseSync(path, { timeout: Math.min(Math.ceil(wait), MAX_TIMEOUT) }),
    path,
  );
}

/** Returns whether an operation failed since another process has locked the file. */
function isLocked(error: unknown): boolean {
  return error instanceof StoreInUseError;
}
