/**
 * Opens databases of Deno KV.
 *
 * @module
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { StoreError, StoreFormatError } from "../../errors/store_error.ts";
import { ValueError } from "../../errors/value_error.ts";
import { KvConnection } from "./connection.ts";
import type { KvDatabase } from "./database.ts";
import { formatKey, namespaceKey } from "./keys.ts";
import { LocalDatabase, readOnlyError, storeErrorOf } from "./local_database.ts";
import { RemoteDatabase } from "./remote_database.ts";

/** How a database on a server is opened; for files, nothing of it matters. */
export interface DenoKvOptions {
  /**
   * What the server knows us by.
   *
   * @default {what the environment has as `DENO_KV_ACCESS_TOKEN`}
   */
  accessToken?: string;
  /**
   * How long what the server does not answer is tried again, in milliseconds, before it is given up; 0: at once.
   *
   * @default {30_000}
   */
  patience?: number;
  /**
   * Time.
   *
   * @default {the machine's own clock}
   */
  clock?: Clock;
}

const PATIENCE_MS = 30_000;

const ENVIRONMENT = "DENO_KV_ACCESS_TOKEN";

/** How long to wait for another process that is at the file, in milliseconds. */
const BUSY_TIMEOUT = 5_000;

/** The table without which a file that has others is not Deno KV's. */
const TABLE = "data_version";

/** Opens a file, memory or a server. */
export async function openDatabase(path: string | undefined, options: DenoKvOptions): Promise<KvDatabase> {
  if (path !== undefined && /^https?:\/\//i.test(path)) return await openRemote(path, options);
  if (typeof Deno.openKv !== "function") {
    throw new ValueError(
      'Cannot open the store: Deno KV is not enabled; start Deno with --unstable-kv, or put "unstable": ["kv"] into deno.json',
    );
  }
  try {
    if (isFile(path) && await isForeign(path)) {
      throw new StoreFormatError(
        `Cannot open the store: ${path} is something else than a database of Deno KV; use another path`,
      );
    }
    return new LocalDatabase(await Deno.openKv(path), isFile(path) ? path : undefined);
  } catch (cause) {
    const error = storeErrorOf(cause);
    // A file on a file system that is read-only can't be opened, it says, as if it were not there.
    const isReadOnly = error instanceof StoreError && error.code === "STORE_ERROR" && isFile(path) &&
      await isReadOnlyDisk(path);
    throw isReadOnly ? readOnlyError(cause) : error;
  }
}

function isFile(path: string | undefined): path is string {
  return path !== undefined && path !== ":memory:";
}

/** Whether a file is on a file system that is read-only: to give it the mode that it has tells without opening it. */
async function isReadOnlyDisk(path: string): Promise<boolean> {
  try {
    const { mode } = await Deno.stat(path);
    if (mode !== null) await Deno.chmod(path, mode & 0o7777);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EROFS";
  }
}

async function openRemote(url: string, options: DenoKvOptions): Promise<KvDatabase> {
  const { patience = PATIENCE_MS, clock = systemClock } = options;
  if (!URL.canParse(url)) {
    throw new ValueError(`Cannot open the store: ${url} is not a URL; give the server's address`);
  }
  const accessToken = options.accessToken ?? Deno.env.get(ENVIRONMENT);
  if (accessToken === undefined) {
    throw new ValueError(
      `Cannot open the store: there is no access token for the server; give the option accessToken, or set ${ENVIRONMENT}`,
    );
  }
  return new RemoteDatabase(await KvConnection.open(url, { accessToken, patience, clock }), clock);
}

/**
 * Whether a file has something else in it. Deno KV would add its tables to whatever database it finds.
 *
 * Only SQLite may open the file, and it must be the SQLite that Deno KV uses, as that of `node:sqlite` is: the locks of POSIX are the
 * process's, and go when the process closes the file once, though it may have it open elsewhere too. SQLite takes care of that among
 * its own connections. Without its locks, another program that closes the file takes the write-ahead log away from who uses it.
 */
async function isForeign(path: string): Promise<boolean> {
  const info = await Deno.stat(path).catch(notFound);
  if (info === undefined || (info.isFile && info.size === 0)) return false;
  if (!info.isFile) return true;
  const { DatabaseSync } = await import("node:sqlite"); // takes time to load, which a new file does not need
  using database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT });
  const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  return names.length > 0 && !names.some(({ name }) => name === TABLE);
}

function notFound(error: unknown): undefined {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

/** The format that this version writes, and the only one that it reads. */
const FORMAT = "1";

/** What can be below the prefix: `format` too, if somebody else notes it while we look. */
const KINDS: ReadonlySet<unknown> = new Set([
  "format",
  "journal",
  "part",
  "parts",
  "staged",
  "turn",
  "value",
]);

/**
 * Looks whether the database is ours to use, and notes the format where it is not noted yet.
 *
 * @throws {StoreFormatError} If it is not; nothing was written then.
 */
export async function checkFormat(database: KvDatabase): Promise<void> {
  while (!await isNoted(database)) {
    const { entries } = await database.page(namespaceKey);
    if (!entries.every(({ key, value }) => KINDS.has(key[1]) && value instanceof Uint8Array)) throw foreign();
    const record = new TextEncoder().encode(FORMAT);
    await database.commit([{ key: formatKey, versionstamp: null }], [{ key: formatKey, record }]);
  }
}

async function isNoted(database: KvDatabase): Promise<boolean> {
  const [noted] = await database.getMany([formatKey]);
  if (noted === undefined || noted.versionstamp === null) return false;
  const format = noted.value instanceof Uint8Array ? new TextDecoder().decode(noted.value) : "";
  if (format === FORMAT) return true;
  if (!/^\d{1,9}$/.test(format)) throw foreign();
  throw new StoreFormatError(
    `Cannot open the store: it has format ${format}, and this version of Greenroom reads format ${FORMAT}; use a newer one`,
  );
}

function foreign(): StoreFormatError {
  return new StoreFormatError(
    'Cannot open the store: what is below "greenroom" in the database was not written by Greenroom; use another database',
  );
}
