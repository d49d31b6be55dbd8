/**
 * Opens databases of Deno KV, and checks their format.
 *
 * @module
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { checkHinted, type Hints, SEAL_HINTS } from "../../errors/hints.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { createPrivateFile, FilePatience, patienceOf } from "../files/files.ts";
import { StoreError, StoreFormatError } from "../../errors/store_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { KvConnection, RemoteDatabase } from "./remote_database.ts";
import {
  formatKey,
  type KvDatabase,
  type KvPage,
  type KvRecord,
  type KvWrite,
  namespaceKey,
} from "./database.ts";
import { isLocked, LocalDatabase, readOnlyError, storeErrorOf } from "./local_database.ts";

/** @internal Names of other libraries, for the compiler. */
export interface KvOptionsHints extends Hints<typeof SEAL_HINTS> {}

/** How a database is opened. */
export interface KvOptions extends KvOptionsHints {
  /**
   * The access token of a server.
   *
   * @default {what the environment has as `DENO_KV_ACCESS_TOKEN`}
   */
  accessToken?: string;
  /**
   * How long a request is repeated that the server does not answer, and how long to wait for another
   * process that has locked the file, in milliseconds; 0: not at all.
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

const OPTIONS: OptionNames<KvOptions> = { accessToken: true, patience: true, clock: true };

const ENVIRONMENT = "DENO_KV_ACCESS_TOKEN";

/**
 * How long the thread waits for another process that writes to the file,
 * in milliseconds; then all else goes on.
 */
const BUSY_TIMEOUT = 5;

/** SQLite's code for a file that has to be written to before it can be read: a crash left a journal. */
const MUST_ROLL_BACK = 776;

/** The table that every file of Deno KV has. */
const TABLE = "data_version";

/**
 * The database of a store: what is open already, or what is opened when it is used first.
 *
 * @throws {ValueError} If it is neither, or an option can't be used.
 */
export function databaseOf(given: string | Deno.Kv | undefined, options: KvOptions): KvDatabase {
  checkHinted(options, OPTIONS, SEAL_HINTS, "open the store");
  checkOptions(options, OPTIONS, "open the store");
  patienceOf(options.patience);
  if (given === undefined || typeof given === "string") {
    return new LateDatabase(() => openDatabase(given, options));
  }
  if (typeof given?.atomic === "function") return new LocalDatabase(given, options);
  throw new ValueError(
    "Cannot open the store: it needs a path, an address, or what Deno.openKv() resolves to",
  );
}

/** A database that is opened when it is used first. If that fails, the next use tries. */
class LateDatabase implements KvDatabase {
  readonly #open: () => Promise<KvDatabase>;
  #opening: Promise<KvDatabase> | undefined;
  #opened: KvDatabase | undefined;

  constructor(open: () => Promise<KvDatabase>) {
    this.#open = open;
  }

  get file(): string | undefined {
    return this.#opened?.file;
  }

  get maxChecks(): number {
    return this.#opened?.maxChecks ?? 0; // nothing is committed before something was read
  }

  async getMany(keys: readonly Deno.KvKey[]): Promise<KvRecord[]> {
    return await (this.#opened ?? await this.#begin()).getMany(keys);
  }

  async page(prefix: Deno.KvKey, after?: Deno.KvKey, beside?: Deno.KvKey): Promise<KvPage> {
    return await (this.#opened ?? await this.#begin()).page(prefix, after, beside);
  }

  async commit(checks: readonly Deno.AtomicCheck[], writes: readonly KvWrite[]): Promise<string | undefined> {
    return await (this.#opened ?? await this.#begin()).commit(checks, writes);
  }

  close(): void {
    this.#opened?.close();
  }

  async #begin(): Promise<KvDatabase> {
    try {
      return this.#opened = await (this.#opening ??= this.#open());
    } finally {
      this.#opening = undefined;
    }
  }
}

/** Opens a file, memory or a server. */
async function openDatabase(path: string | undefined, options: KvOptions): Promise<KvDatabase> {
  if (path !== undefined && /^https?:\/\//i.test(path)) return await openRemote(path, options);
  if (typeof Deno.openKv !== "function") {
    throw new ValueError(
      'Cannot open the store: Deno KV is not enabled; start Deno with --unstable-kv, or put "unstable": ["kv"] into deno.json',
    );
  }
  const file = isFile(path) ? path : undefined;
  try {
    return await new FilePatience(options).keepTrying(async () => {
      if (file !== undefined && await isForeign(file)) {
        throw new StoreFormatError(
          `Cannot open the store: ${file} is something else than a database of Deno KV; use another path`,
        );
      }
      if (file !== undefined) createPrivateFile(file);
      return new LocalDatabase(await Deno.openKv(path), { ...options, file });
    }, isLocked);
  } catch (cause) {
    const error = storeErrorOf(cause, file);
    // Deno KV reports a file on a read-only file system as if it did not exist.
    const isReadOnly = error instanceof StoreError && error.code === "STORE_ERROR" && isFile(path) &&
      await isReadOnlyDisk(path);
    throw isReadOnly ? readOnlyError(cause, file) : error;
  }
}

function isFile(path: string | undefined): path is string {
  return path !== undefined && path !== ":memory:";
}

/**
 * Returns whether a file is on a read-only file system: setting its own mode again shows that without
 * opening it.
 */
async function isReadOnlyDisk(path: string): Promise<boolean> {
  try {
    const { mode } = await Deno.stat(path);
    if (mode !== null) await Deno.chmod(path, mode & 0o7777);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EROFS";
  }
}

async function openRemote(url: string, options: KvOptions): Promise<KvDatabase> {
  const { clock = systemClock } = options;
  const patience = patienceOf(options.patience);
  if (!URL.canParse(url)) {
    throw new ValueError(`Cannot open the store: ${url} is not a URL; give the server's address`);
  }
  if (!isPrivate(new URL(url))) {
    throw new ValueError(
      `Cannot open the store: ${
        new URL(url).origin
      } is plain http over an open network, which would show the access token and all keys; use https`,
    );
  }
  const accessToken = options.accessToken ?? Deno.env.get(ENVIRONMENT);
  if (accessToken === undefined) {
    throw new ValueError(
      `Cannot open the store: there is no access token for the server; give the option accessToken, or set ${ENVIRONMENT}`,
    );
  }
  return new RemoteDatabase(await KvConnection.open(url, { accessToken, patience, clock }), clock);
}

/** Names without a dot are of one network, as in a composition of containers. */
const OWN_NETWORK =
  /^(?:[\w-]+|.*\.(?:localhost|local|internal)|127(?:\.\d+){3}|10(?:\.\d+){3}|192\.168(?:\.\d+){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d+){2}|\[::1\]|\[f[cd][\da-f:]+\])$/;

/** Returns whether nobody on the way can read: with TLS, or in an own network. */
function isPrivate({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || OWN_NETWORK.test(hostname);
}

/**
 * Returns whether a file contains something else. Deno KV would add its tables to any database.
 *
 * Only SQLite may open the file, and only the SQLite that Deno KV uses, like that of `node:sqlite`:
 * POSIX locks belong to the process, and closing a file once releases all of them. SQLite handles
 * that among its own connections. Without its locks, another program that closes the file would
 * remove the write-ahead log in use.
 */
async function isForeign(path: string): Promise<boolean> {
  const info = await Deno.stat(path).catch(notFound);
  if (info === undefined || (info.isFile && info.size === 0)) return false;
  if (!info.isFile) return true;
  const { DatabaseSync } = await import("node:sqlite"); // loaded only when needed: a new file is not checked
  const tables = (options: { readOnly: boolean }): unknown[] => {
    using database = new DatabaseSync(path, options);
    // Deno 2.9.6 ignores the option of a read-only one.
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
    const rows = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    return rows.map(({ name }) => name);
  };
  const names = await Promise.try(() => tables({ readOnly: true })).catch((error) => {
    if (error.errcode !== MUST_ROLL_BACK) throw error;
    return tables({ readOnly: false }); // undoes what a crash has left half done, as any SQLite would
  });
  return names.length > 0 && !names.includes(TABLE);
}

function notFound(error: unknown): undefined {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

/** The format that this version writes, the only one that it reads. */
const FORMAT = "1";

/** The kinds of keys below the prefix; `format` too, as another process may write it meanwhile. */
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
 * Checks that the database is a store or empty, and writes the format where it is missing.
 *
 * @throws {StoreFormatError} If it is neither; nothing is written.
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
