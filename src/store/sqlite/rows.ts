/**
 * The rows of a SQLite file, read and changed in transactions.
 *
 * @module
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { KvCheck, KvEntry, KvKey, KvMutation } from "../kv_store.ts";
import { decodeValue, encodeValue } from "../value_codec.ts";
import { decodeKey, encodeKey } from "./keys.ts";
import { SqliteVersions } from "./versions.ts";

/** Values up to this many bytes are read with their page; larger ones singly. */
const SMALL = 65_536;

interface Row {
  readonly value: Uint8Array;
  readonly version: number;
}

/** A row of a page. */
export type ListedRow = { readonly key: Uint8Array } & (Row | { /** It is large. */ readonly value: null });

/** A change whose value is in bytes already. */
export type EncodedMutation = { readonly type: "set"; readonly key: KvKey; readonly bytes: Uint8Array };

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
    this.#set = database.prepare(
      `INSERT INTO kv (key, value, version) VALUES (?1, ?2, ?3)
      ON CONFLICT DO UPDATE SET value = ?2, version = ?3`, // REPLACE takes out what is there before it puts something in
    );
    this.#delete = database.prepare("DELETE FROM kv WHERE key = ?");
    this.#versions = new SqliteVersions(database);
  }

  /** Reads values. */
  read(keys: readonly KvKey[]): (KvEntry | undefined)[] {
    const read = () => keys.map((key) => this.#get.get(encodeKey(key)) as Row | undefined); // its columns
    const rows = keys.length > 1 ? this.snapshot(read) : read(); // one statement is of one moment anyway
    return rows.map((row, index) => row && entryOf(keys[index] ?? [], row));
  }

  /** Reads rows between two keys. Not with iterate(), which takes an error of SQLite for the end of the rows. */
  page(after: Uint8Array, end: Uint8Array, limit: number): ListedRow[] {
    return this.#page.all(after, end, limit) as unknown as ListedRow[]; // its columns
  }

  /** Reads the entry of a row of a page; undefined: it was large, and has been removed since. */
  entry(listed: ListedRow): KvEntry | undefined {
    const row = listed.value === null ? this.#get.get(listed.key) as Row | undefined : listed; // its columns
    return row && entryOf(decodeKey(listed.key), row);
  }

  /** Reads in one snapshot. */
  snapshot<Result>(read: () => Result): Result {
    this.#begin.get();
    try {
      return read();
    } finally {
      this.#end();
    }
  }

  /**
   * Checks and changes in one transaction that no other process can write during.
   *
   * @param beforeCommit Is called if there is something to commit.
   */
  write(change: () => boolean, beforeCommit: () => void): boolean {
    this.#beginToWrite.get();
    try {
      const held = change();
      if (held) {
        beforeCommit();
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

  /** Whether checks hold. */
  holds(checks: readonly KvCheck[]): boolean {
    return checks.every(({ key, versionstamp }) => {
      const row = this.#version.get(encodeKey(key)) as Pick<Row, "version"> | undefined; // its column
      return (row === undefined ? null : String(row.version)) === versionstamp;
    });
  }

  /** Makes changes. Encodes one value after the other, so that not all are in memory as bytes at once. */
  apply(mutations: readonly (KvMutation | EncodedMutation)[]): true {
    const version = this.#versions.next();
    for (const mutation of mutations) {
      const key = encodeKey(mutation.key);
      if (mutation.type === "delete") this.#delete.get(key);
      else this.#set.get(key, "bytes" in mutation ? mutation.bytes : encodeValue(mutation.value), version);
    }
    return true;
  }

  /** Rolls a transaction back, unless it was committed or SQLite has rolled it back. */
  #end(): void {
    if (this.#database.isTransaction) this.#rollback.get();
  }
}

function entryOf(key: KvKey, { value, version }: Row): KvEntry {
  return { key, value: decodeValue(value), versionstamp: String(version) };
}
