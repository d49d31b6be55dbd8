/**
 * Files of stores: locks, which the system releases when the process ends; files that only their user
 * may read; and waits for another process that has locked a file.
 *
 * @module
 */

import { platform, type PlatformFile, SEEK } from "../../base/platform/mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { StoreError } from "../../errors/store_error.ts";
import type { Store, StoreKey, StoreLock } from "../base/mod.ts";
import { type Clock, systemClock } from "../../base/clock.ts";

const { files } = platform;
const EXCLUSIVELY = true;

/** 32 bytes as Base64. */
const SEAL_KEY = /^[A-Za-z\d+/]{43}=$/;
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
  key: StoreKey,
): Promise<StoreLock | undefined> {
  if (database === null || database === undefined) {
    throw unlockable("the database is no file, or one whose path is not known; open it by its path");
  }
  const folder = `${database}-locks`;
  assertPermitted(folder);
  let file: PlatformFile | undefined;
  try {
    await files.mkdir(folder, { mode: 0o700 }).catch(unlessThere);
    file = await files.open(`${folder}/${await nameOf(key)}`, {
      read: true,
      write: true,
      create: true,
      mode: 0o600,
    });
    if (await file.tryLock(EXCLUSIVELY)) {
      const beside = ["", "-wal", "-shm", "-journal", "-locks"].map((end) => `${database}${end}`);
      return new FileLock(file, await leftIn(file), warningOfOthers(beside));
    }
    file.close();
    return undefined;
  } catch (cause) {
    file?.close();
    throw unlockable(`the system gives no locks in ${folder}; see to the disk and the rights`, { cause });
  }
}

/** A file that is locked while it is open. */
class FileLock implements StoreLock {
  readonly #file: PlatformFile;
  #isHeld = true;
  readonly left: string;
  readonly warning?: string;

  constructor(file: PlatformFile, left: string, warning?: string) {
    this.#file = file;
    this.left = left;
    this.warning = warning;
  }

  async leave(text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    await this.#file.seek(0, SEEK.START);
    await this.#file.write(bytes); // in one go: what was there is not lost if the process ends
    await this.#file.truncate(bytes.length);
  }

  release(): void {
    if (this.#isHeld) this.#file.close();
    this.#isHeld = false;
  }
}

/** Queries first, so that Deno does not prompt the user. */
function assertPermitted(path: string): void {
  for (const name of ["read", "write"] as const) {
    if (!files.isPermitted(name, path)) {
      throw unlockable(`Deno may not use ${path}; start it with --allow-${name}=${path}`);
    }
  }
}

/** A name for the key that every file system accepts. */
async function nameOf(key: StoreKey): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(key));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes), 0, 16).toHex();
}

async function leftIn(file: PlatformFile): Promise<string> {
  const bytes = new Uint8Array(MAX_LEFT);
  return new TextDecoder().decode(bytes.subarray(0, await file.read(bytes) ?? 0));
}

function unlessThere(error: unknown): void {
  if (files.problemOf(error) !== "there") throw error;
}

function unlockable(why: string, options?: ErrorOptions): StoreError {
  return new StoreError(`Cannot lock the device: ${why}`, options);
}

/** What others may do with a file, as bits of its mode. */
const OTHERS = 0o077;
/** What its own user may do with it. */
const PRIVATE = 0o600;

/**
 * Creates an empty file that only its user may use, if there is none and Deno may. SQLite gives those that it
 * puts beside it the same mode. Nothing fails here: what opens the file says what is wrong.
 *
 * @param path The file.
 */
export function createPrivateFile(path: string): void {
  if (!files.isPermitted("write", path)) return; // Deno would prompt
  try {
    // At once, before anything else can open it: closing a file releases
    // the locks that the process has on it.
    files.openSync(path, { write: true, createNew: true, mode: PRIVATE }).close();
  } catch {
    // It is there, or can't be.
  }
}

/**
 * Warns of those files and folders that others may use, with what to do about it.
 *
 * @param paths The files and folders; those that are not there, or that Deno may not read, are left out.
 * @returns Undefined if there are none, or the system knows no such modes.
 */
export function warningOfOthers(paths: readonly string[]): string | undefined {
  const wide = paths.filter((path) => ((modeOf(path) ?? 0) & OTHERS) !== 0);
  if (wide.length === 0) return undefined;
  return `Other users of the machine may use ${wide.join(", ")}: run chmod go= ${wide.join(" ")}`;
}

function modeOf(path: string): number | null {
  if (!files.isPermitted("read", path)) return null;
  try {
    return files.modeOf(path);
  } catch {
    return null;
  }
}

/** The key of a sealed store that stands in a file; undefined: the text is none. */
export function sealKeyOf(text: string): Uint8Array | undefined {
  const key = text.trim();
  return SEAL_KEY.test(key) ? Uint8Array.fromBase64(key) : undefined;
}

/** Opens a store over another, which is closed if that fails. */
export async function openOver<Outer>(
  inner: Pick<Store, "close">,
  open: () => Promise<Outer>,
): Promise<Outer> {
  try {
    return await open();
  } catch (error) {
    await inner.close();
    throw error;
  }
}

/** How long to wait by default, in milliseconds: as for a server that is away. */
const PATIENCE = 30_000;

/** The shortest and the longest wait between tries, in milliseconds. */
const FIRST_WAIT = 10;
const LONGEST_WAIT = 250;

/** What it takes. */
export interface FilePatienceOptions {
  /** How long to wait, in milliseconds. Default: 30,000. */
  readonly patience?: number;
  /** Measures that. Default: the machine's own. */
  readonly clock?: Clock;
}

/**
 * Returns how long to wait for another process, in milliseconds.
 *
 * @param given What the application says. Default: {@linkcode PATIENCE}.
 * @throws {ValueError} If that is no number, or below 0.
 */
export function patienceOf(given: number = PATIENCE): number {
  if (given >= 0) return given;
  throw new ValueError("Cannot open the store: patience must be a number of milliseconds, not below 0");
}

/** Has work done again while a file is locked. */
export class FilePatience {
  readonly #patience: number;
  readonly #clock: Clock;
  readonly #ending = new AbortController();

  /** @param options How long. */
  constructor({ patience = PATIENCE, clock = systemClock }: FilePatienceOptions = {}) {
    this.#patience = patience;
    this.#clock = clock;
  }

  /**
   * Does work, and does it again while it fails since the file is locked.
   *
   * @param isLocked Whether an error says that.
   * @throws What the work threw last, when the patience is over, or with {@link FilePatience.end}.
   */
  async keepTrying<Result>(
    work: () => Result | Promise<Result>,
    isLocked: (error: unknown) => boolean,
  ): Promise<Result> {
    let begun: number | undefined;
    for (let wait = FIRST_WAIT;; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      try {
        return await work();
      } catch (error) {
        if (!isLocked(error)) throw error;
        const now = this.#clock.now();
        begun = Math.min(begun ?? now, now); // the clock may be set back
        if (this.#ending.signal.aborted || now - begun + wait > this.#patience) throw error;
        await this.#clock.delay(wait, { signal: this.#ending.signal }).catch(() => {});
      }
    }
  }

  /** Ends all waits, after one more try each. */
  end(): void {
    this.#ending.abort();
  }
}
