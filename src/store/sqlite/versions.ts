/**
 * The versions of a SQLite file: each commit has a unique one.
 *
 * @module
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { StoreFormatError } from "../../errors/store_error.ts";
import { COUNTER } from "./schema.ts";

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
export class SqliteVersions {
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
