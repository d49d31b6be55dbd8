/**
 * Deno KV in this process: a file, or memory.
 *
 * @module
 */

import type { KvDatabase, KvPage, KvRecord } from "./deno_kv_database.ts";
import { storeErrorOf } from "./deno_kv_error.ts";
import { waitingKey } from "./deno_kv_key.ts";
import type { KvWrite } from "./deno_kv_write.ts";

/** How many entries are read at once of what lies below a prefix. */
const PAGE = 100;

/** A database that is a file or in memory. */
export class LocalDatabase implements KvDatabase {
  readonly maxChecks = 98;
  readonly file: string | undefined;
  readonly #kv: Deno.Kv;

  /**
   * @param kv Deno's own object.
   * @param file Its file, if that is known.
   */
  constructor(kv: Deno.Kv, file?: string) {
    this.#kv = kv;
    this.file = file;
  }

  async getMany(keys: readonly Deno.KvKey[]): Promise<KvRecord[]> {
    try {
      return await this.#kv.getMany<unknown[]>(keys);
    } catch (error) {
      throw storeErrorOf(error);
    }
  }

  async page(prefix: Deno.KvKey, cursor?: string): Promise<KvPage> {
    try {
      return await readPage(this.#kv, prefix, cursor);
    } catch (error) {
      throw storeErrorOf(error);
    }
  }

  async commit(checks: readonly Deno.AtomicCheck[], writes: readonly KvWrite[]): Promise<string | undefined> {
    for (;;) {
      try {
        const result = await atomicOf(this.#kv, checks, writes).commit();
        return result.ok ? result.versionstamp : undefined;
      } catch (error) {
        if (!isLocked(error)) throw storeErrorOf(error);
        // Somebody else who has the file open writes. SQLite does not let one wait who has read already, as checks do, and
        // Deno KV gives up then; one who only writes waits, for five seconds.
        await this.#kv.delete(waitingKey);
      }
    }
  }

  close(): void {
    this.#kv.close();
  }
}

/** Whether nothing was written because somebody else was writing. Deno has no other mark for that. */
function isLocked(error: unknown): boolean {
  return error instanceof TypeError && error.message.includes("database is locked");
}

/** The atomic operation that makes the writes if the checks hold. */
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

/** Reads some of what lies below a prefix. */
async function readPage(kv: Deno.Kv, prefix: Deno.KvKey, cursor?: string): Promise<KvPage> {
  const listed = kv.list({ prefix }, { limit: PAGE, batchSize: PAGE, cursor });
  const entries = await Array.fromAsync(listed);
  return { entries, cursor: entries.length < PAGE ? undefined : listed.cursor };
}
