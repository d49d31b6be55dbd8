/**
 * Syncs the write-ahead log of a file of SQLite while the thread goes on.
 *
 * SQLite itself syncs in the thread that commits, which does nothing else meanwhile: a fifth of a millisecond on a fast disk, some
 * on a slow one. With `synchronous=NORMAL` it leaves that out, and keeps all else that a crash must not harm: a commit is whole
 * or not there, and what is carried from the log into the file was synced before. So what is left to do is to sync the log after
 * a commit, before anybody is told that it was made.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import { StoreError } from "../../errors/store_error.ts";
import { SharedRuns } from "../../base/shared_runs.ts";
import { WAL_LIMIT } from "./schema.ts";

/** The log is made larger by so many bytes at once: a disk syncs what takes the place of other bytes twice as fast as what is new. */
const STEP = 256 * 2 ** 10;

/** The log of a database; several commits that are made while a sync is under way share the next. */
export class SqliteLog {
  readonly #file: Deno.FsFile;
  readonly #syncs = new SharedRuns(() => this.#sync());
  /** Whether it is not as large yet as it stays. */
  #grows = true;

  private constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  /**
   * Opens the log of a database.
   *
   * @returns `undefined` if it has none, or we may not touch it: SQLite has to sync it then.
   */
  static open(database: DatabaseSync): SqliteLog | undefined {
    const path = `${database.location()}-wal`;
    try {
      // Asked for beforehand, so that Deno does not ask the user.
      const { state } = Deno.permissions.querySync({ name: "write", path });
      return state === "granted" ? new SqliteLog(Deno.openSync(path, { write: true })) : undefined;
    } catch {
      return undefined; // there is no such file, or no Deno
    }
  }

  /**
   * Resolves when what has been written by now is on the disk.
   *
   * @throws {StoreError} If it may not be. From then on this is always so: nobody knows any more what of the log is there.
   */
  synced(): Promise<void> {
    return this.#syncs.next();
  }

  /**
   * Writes zeros behind the log's end if SQLite has made it larger, so that the next commits write over them. SQLite reads a log
   * up to the first frame that is none, whatever comes after it, and keeps its length when it begins anew.
   *
   * Only who may write to the database may do so: the zeros might come over what another process appends.
   */
  writeAhead(): void {
    if (!this.#grows) return;
    try {
      const end = this.#file.seekSync(0, Deno.SeekMode.End);
      this.#grows = end < WAL_LIMIT;
      // Where zeros end nothing is to be done, whoever has written them.
      if (this.#grows && end % STEP > 0) this.#file.writeSync(new Uint8Array(STEP - end % STEP));
    } catch {
      this.#grows = false; // the disk is full: what room there is is for commits
    }
  }

  /** Closes the log, after what was begun. */
  async close(): Promise<void> {
    await this.#syncs.last.catch(() => {}); // whoever waits for it is told
    this.#file.close();
  }

  async #sync(): Promise<void> {
    try {
      await this.#file.syncData();
    } catch (cause) {
      throw new StoreError(
        "Cannot write to the store: its log can't be synced, and nobody knows what of it is on the disk; see to the disk, and open the store again",
        { cause },
      );
    }
  }
}
