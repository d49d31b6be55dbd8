/**
 * File locks, which the system releases when the process ends.
 *
 * @module
 */

import { warningOfOthers } from "../private_file.ts";
import { StoreError } from "../../errors/store_error.ts";
import type { KvKey, KvLock } from "../kv_store.ts";

const EXCLUSIVELY = true;

/** The most bytes of a note that are read. */
const MAX_LEFT = 1_024;

/**
 * Locks a key with a file of its own in a folder beside a database. SQLite's own files are not
 * opened: closing one releases SQLite's locks.
 *
 * @param database The file of the database; nullish if there is none, or its path is unknown.
 * @param key What to lock.
 * @returns `undefined` if another process has it.
 * @throws {StoreError} If there can be no such lock.
 */
export async function lockBeside(
  database: string | null | undefined,
  key: KvKey,
): Promise<KvLock | undefined> {
  if (database === null || database === undefined) {
    throw unlockable("the database is no file, or one whose path is not known; open it by its path");
  }
  const folder = `${database}-locks`;
  await assertPermitted(folder);
  let file: Deno.FsFile | undefined;
  try {
    await Deno.mkdir(folder, { mode: 0o700 }).catch(unlessThere);
    file = await Deno.open(`${folder}/${await nameOf(key)}`, {
      read: true,
      write: true,
      create: true,
      mode: 0o600,
    });
    if (await file.tryLock(EXCLUSIVELY)) {
      const files = ["", "-wal", "-shm", "-journal", "-locks"].map((end) => `${database}${end}`);
      return new FileLock(file, await leftIn(file), warningOfOthers(files));
    }
    file.close();
    return undefined;
  } catch (cause) {
    file?.close();
    throw unlockable(`the system gives no locks in ${folder}; see to the disk and the rights`, { cause });
  }
}

/** A file that is locked while it is open. */
class FileLock implements KvLock {
  readonly #file: Deno.FsFile;
  #isHeld = true;
  readonly left: string;
  readonly warning?: string;

  constructor(file: Deno.FsFile, left: string, warning?: string) {
    this.#file = file;
    this.left = left;
    this.warning = warning;
  }

  async leave(text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    await this.#file.seek(0, Deno.SeekMode.Start);
    await this.#file.write(bytes); // in one go: what was there is not lost if the process ends
    await this.#file.truncate(bytes.length);
  }

  release(): void {
    if (this.#isHeld) this.#file.close();
    this.#isHeld = false;
  }
}

/** Queries first, so that Deno does not prompt the user. */
async function assertPermitted(path: string): Promise<void> {
  for (const name of ["read", "write"] as const) {
    const { state } = await Deno.permissions.query({ name, path });
    if (state !== "granted") {
      throw unlockable(`Deno may not use ${path}; start it with --allow-${name}=${path}`);
    }
  }
}

/** A name for the key that every file system accepts. */
async function nameOf(key: KvKey): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(key));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes), 0, 16).toHex();
}

async function leftIn(file: Deno.FsFile): Promise<string> {
  const bytes = new Uint8Array(MAX_LEFT);
  return new TextDecoder().decode(bytes.subarray(0, await file.read(bytes) ?? 0));
}

function unlessThere(error: unknown): void {
  if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
}

function unlockable(why: string, options?: ErrorOptions): StoreError {
  return new StoreError(`Cannot lock the device: ${why}`, options);
}
