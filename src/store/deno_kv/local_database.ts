/**
 * Deno KV in this process: a file, or memory.
 *
 * @module
 */

import {
  StoreError,
  StoreFormatError,
  StoreFullError,
  StoreInUseError,
  StoreReadOnlyError,
} from "../../errors/store_error.ts";
import { MatrixError, missingPermission } from "../../errors/matrix_error.ts";
import { FilePatience, type FilePatienceOptions } from "../files/files.ts";
import { type KvDatabase, type KvPage, type KvRecord, type KvWrite, waitingKey } from "./database.ts";

/** How many entries a page has. */
const PAGE = 100;

/** A database that is a file or in memory. */
export class LocalDatabase implements KvDatabase {
  readonly maxChecks = 98;
  readonly file: string | undefined;
  readonly #kv: Deno.Kv;
  readonly #patience: FilePatience;

  /**
   * @param kv Deno's own object.
   * @param options Its file, if that is known, and how long to wait for another process that has locked it.
   */
  constructor(kv: Deno.Kv, { file, ...options }: FilePatienceOptions & { readonly file?: string } = {}) {
    this.#kv = kv;
    this.file = file;
    this.#patience = new FilePatience(options);
  }

  async getMany(keys: readonly Deno.KvKey[]): Promise<KvRecord[]> {
    return await this.#try(() => this.#kv.getMany<unknown[]>(keys));
  }

  async page(prefix: Deno.KvKey, after?: Deno.KvKey): Promise<KvPage> {
    return await this.#try(() => readPage(this.#kv, prefix, after));
  }

  async commit(checks: readonly Deno.AtomicCheck[], writes: readonly KvWrite[]): Promise<string | undefined> {
    return await this.#try(async () => {
      try {
        const result = await atomicOf(this.#kv, checks, writes).commit();
        return result.ok ? result.versionstamp : undefined;
      } catch (error) {
        // Another process is writing. A transaction that has read, as checks do, can't wait for it
        // in SQLite, and Deno KV gives up. One that only writes waits up to five seconds.
        if (isLocked(error)) await this.#kv.delete(waitingKey);
        throw error;
      }
    });
  }

  close(): void {
    this.#patience.end();
    this.#kv.close();
  }

  async #try<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#patience.keepTrying(work, isLocked);
    } catch (error) {
      throw storeErrorOf(error, this.file);
    }
  }
}

/**
 * Returns whether nothing was done because another process has locked the file. Only the message shows it.
 */
export function isLocked(error: unknown): boolean {
  return error instanceof Error && /database (?:table )?is locked|database is busy/i.test(error.message);
}

/** The atomic operation that writes if the checks hold. */
function atomicOf(
  kv: Deno.Kv,
  checks: readonly Deno.AtomicCheck[],
  writes: readonly KvWrite[],
): Deno.AtomicOperation {
  const operation = kv.atomic().check(...checks);
  for (const { key, record } of writes) {
    if (record === undefined) operation.delete(key);
    else operation.set(key, record);
  }
  return operation;
}

/** Reads a page of the entries below a prefix. */
async function readPage(kv: Deno.Kv, prefix: Deno.KvKey, after?: Deno.KvKey): Promise<KvPage> {
  // Nothing is between a key and the same one with the least of all parts.
  const selector = after === undefined ? { prefix } : { prefix, start: [...after, new Uint8Array()] };
  const entries = await Array.fromAsync(kv.list(selector, { limit: PAGE, batchSize: PAGE }));
  return { entries, last: entries[PAGE - 1]?.key };
}

type MakeError = (database: string, cause: unknown) => StoreError;

/** How the reasons are told apart: Deno KV gives only a text, SQLite's or its own. */
const REASONS: readonly [RegExp, MakeError][] = [
  [
    /database (?:table )?is locked|database is busy/i,
    (database, cause) =>
      new StoreInUseError(
        `Cannot use ${database}: another process has locked it for too long; end that process`,
        { cause },
      ),
  ],
  [
    /^unable to open|disk I\/O error|not a directory|permission denied/i,
    (database, cause) =>
      new StoreError(
        `Cannot use ${database}: its file can't be opened, read or written; make its folder, and look at the path, the rights, and the disk`,
        { cause },
      ),
  ],
  [/readonly database|read-only database|read-only file system/i, readOnly],
  [
    /not a database|malformed|already exists|no such table|no such column|has no column|value encoding/i,
    (database, cause) =>
      new StoreFormatError(
        `Cannot use ${database}: it is damaged, or not one of Deno KV; restore it from a copy, or use another path`,
        { cause },
      ),
  ],
  [
    /disk is full|no space left|quota exceeded/i,
    (database, cause) =>
      new StoreFullError(`Cannot write to ${database}: the disk is full; make room, and start again`, {
        cause,
      }),
  ],
];

/** The error for a database that can't be written to. */
export function readOnlyError(cause: unknown, file?: string): StoreReadOnlyError {
  return readOnly(named(file), cause);
}

function readOnly(database: string, cause: unknown): StoreReadOnlyError {
  return new StoreReadOnlyError(
    `Cannot write to ${database}: it is read-only; let this process write to the file and its folder`,
    { cause },
  );
}

function named(file: string | undefined): string {
  return file === undefined ? "the database" : `the database ${file}`;
}

/**
 * Converts an error of Deno KV into one of the store; returns others unchanged.
 *
 * @param error What was thrown.
 * @param file The file, if it is known.
 */
export function storeErrorOf(error: unknown, file?: string): unknown {
  const missing = missingPermission(error, "use the database");
  if (missing !== undefined) return missing;
  if (!(error instanceof Error) || error instanceof MatrixError || isOfDeno(error)) return error;
  const make = REASONS.find(([pattern]) => pattern.test(error.message))?.[1];
  return make === undefined ? error : make(named(file), error);
}

/** Errors that speak for themselves, like a missing permission. */
function isOfDeno(error: Error): boolean {
  return error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.BadResource;
}
