/**
 * The versions of a file of SQLite: each commit has one that no other has.
 *
 * @module
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { StoreFormatError } from "../../errors/store_error.ts";
import { COUNTER } from "./schema.ts";

/** How many versions are taken at once: to count each commit in the file makes it write a page more. */
export const BLOCK = 1_024;

/**
 * Gives out versions, several processes' side by side. They are different, not in order: a process gives out those that it
 * has taken while another has taken later ones, and what is left of them is lost with it.
 */
export class SqliteVersions {
  readonly #take: StatementSync;
  #last = 0;
  #left = 0;

  /** @param database Where they are counted. */
  constructor(database: DatabaseSync) {
    this.#take = database.prepare(
      `UPDATE kv SET version = version + ${BLOCK} WHERE key = ${COUNTER} RETURNING version`,
    );
  }

  /**
   * The version of a commit, within its transaction.
   *
   * @throws {StoreFormatError} If there is no count.
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

  /** Gives out no more of what was taken: the transaction that took them may have come to nothing. */
  forget(): void {
    this.#left = 0;
  }
}

function uncounted(): StoreFormatError {
  return new StoreFormatError(
    "Cannot write to the store: its count of commits is gone; restore it from a copy",
  );
}
