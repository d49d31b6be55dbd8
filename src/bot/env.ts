/**
 * A bot's options, from the environment, and the store that this names: the bot opens and closes it.
 *
 * Over 300 lines because the store that a variable names is opened here.
 *
 * @module
 */

import { MissingPermissionError, StoreError } from "../../errors.ts";
import {
  Client,
  consoleLogger,
  SealedStore,
  type Store,
  type StoreCheck,
  type StoreEntry,
  type StoreKey,
  type StoreListOptions,
  type StoreLock,
  type StoreMutation,
  ValueError,
} from "../../mod.ts";
import type { UserID } from "../../types.ts";
import { isAddress, isServerName } from "../api/server/server.ts";
import { platform } from "../base/platform/mod.ts";
import { misspelledVariable } from "../errors/known_names.ts";
import { openOver, sealKeyOf, warningOfOthers } from "../store/files/files.ts";
import type { BotOptions } from "./bot_options.ts";

const { files, process } = platform;

/** What is read of the environment, and what it means. */
export const VARIABLES = {
  MATRIX_URL:
    "the homeserver's address, like https://matrix.example.org, or its server name; or MATRIX_USER finds it",
  MATRIX_TOKEN:
    "the access token; or MATRIX_USER and MATRIX_PASSWORD, or a store with a session by OAuth 2.0",
  MATRIX_USER: "the bot's user ID, like @bot:example.org",
  MATRIX_PASSWORD: "the password of MATRIX_USER",
  MATRIX_RECOVERY_KEY: "the recovery key of the account, by which others trust the bot",
  MATRIX_RECOVERY_KEY_FILE:
    "a file with that key; if it is not there, the first start makes the key and the file",
  MATRIX_STORE: "the file of the store, like ./bot.db",
  MATRIX_STORE_KEY_FILE: "a file with the key that seals the store: 32 bytes as Base64",
  MATRIX_ADMINS: "the user IDs of the bot's admins, with spaces between",
  MATRIX_LOG: "the format of the log: text, for people, or json",
  MATRIX_WAKE_SECRET: "a secret for the homeserver's wakes, where no process stays",
} as const;

/** Reads the environment. */
type Read = (name: keyof typeof VARIABLES) => string | undefined;

/** Returns a bot's options, of the environment of this process and as they are given. */
export function optionsFromProcess(given: BotOptions | Record<never, never>): BotOptions {
  return optionsFromEnv((name) => process.variable(name), given, process.variables());
}

/**
 * Reads a bot's options from the environment.
 *
 * Without a store that outlives the process a token's device would lose its keys with every start:
 * there is no encryption then, unless a recovery key is given.
 *
 * @param names The variables that there are, to find typing errors.
 * @throws {ValueError} If something is missing, or can't be used; it says what.
 */
export function optionsFromEnv(
  read: Read,
  given: BotOptions | Record<never, never>,
  names: readonly string[] = [],
): BotOptions {
  checkVariables(names);
  const value: Read = (name) => read(name)?.trim() || undefined;
  const [url, mxid, token, password] = [
    value("MATRIX_URL"),
    value("MATRIX_USER"),
    value("MATRIX_TOKEN"),
    value("MATRIX_PASSWORD"),
  ];
  const { homeserver, baseUrl, api, mxid: user = mxid } = given as Partial<BotOptions>;
  const isGiven = (homeserver ?? baseUrl ?? api) !== undefined;
  if (!isGiven && url !== undefined) checkAddress(url);
  if (!isGiven && url === undefined && user === undefined) throw missing("MATRIX_URL");
  // Without both, a session may be in the store.
  const isKept = value("MATRIX_STORE") !== undefined || "store" in given;
  const isSaid = token !== undefined || password !== undefined || "accessToken" in given ||
    "password" in given;
  if (!isSaid && !isKept) {
    throw missing(mxid === undefined ? "MATRIX_TOKEN" : "MATRIX_PASSWORD");
  }
  if (token === undefined && password !== undefined && user === undefined) throw missing("MATRIX_USER");
  if (mxid !== undefined) checkUser("MATRIX_USER", mxid);
  const [secret, admins] = [value("MATRIX_WAKE_SECRET"), value("MATRIX_ADMINS")];
  for (const admin of admins?.split(/[\s,]+/).filter(Boolean) ?? []) checkUser("MATRIX_ADMINS", admin);
  const store = storeOf(value("MATRIX_STORE"), value("MATRIX_STORE_KEY_FILE"));
  const log = logOf(value("MATRIX_LOG"));
  const secrets = [value("MATRIX_RECOVERY_KEY_FILE"), value("MATRIX_STORE_KEY_FILE")];
  warnOfOthers(secrets.filter((path) => path !== undefined), { ...log, ...given });
  return {
    ...(isGiven ? {} : { homeserver: url }),
    mxid: mxid as UserID | undefined,
    ...(token === undefined ? (password === undefined ? {} : { password }) : { accessToken: token }),
    ...(store === undefined ? {} : { store }),
    ...(secret === undefined ? {} : { wake: { secret } }),
    ...(admins === undefined ? {} : { admins: admins.split(/[\s,]+/).filter(Boolean) as UserID[] }),
    ...log,
    ...given,
    encryption: encryptionOf(value, given, { lasts: store !== undefined }),
  };
}

/** Makes the bot's logger, if the environment says which. */
function logOf(format: string | undefined): Pick<BotOptions, "log"> {
  if (format === undefined || format === "text") return {};
  if (format === "json") return { log: consoleLogger({ format }) };
  throw new ValueError(`Cannot make a bot: MATRIX_LOG is "${format}", which is none of text and json`);
}

/** Logs if others may read files of secrets. */
function warnOfOthers(paths: readonly string[], { log = consoleLogger() }: Pick<BotOptions, "log">): void {
  const warning = warningOfOthers(paths);
  if (warning !== undefined && log !== false) log.warn(warning);
}

/** Reads how the bot encrypts: with the recovery key of the environment, which the first start may make. */
function encryptionOf(
  value: Read,
  { encryption: wanted }: Partial<BotOptions>,
  { lasts }: { readonly lasts: boolean },
): BotOptions["encryption"] {
  const [key, path] = [value("MATRIX_RECOVERY_KEY"), value("MATRIX_RECOVERY_KEY_FILE")];
  if (wanted === false) return false;
  if (key === undefined && path === undefined) return wanted ?? lasts;
  if (key !== undefined && path !== undefined) {
    throw new ValueError(
      "Cannot make a bot: MATRIX_RECOVERY_KEY and MATRIX_RECOVERY_KEY_FILE are both set; leave out one of them",
    );
  }
  const more = typeof wanted === "object" ? wanted : {};
  if (path === undefined) return { recoveryKey: key, ...more };
  const file = readRecoveryKeyFile(path);
  const onRecoveryKey = async (made: string): Promise<void> => {
    await file.keep(made);
    await more.onRecoveryKey?.(made);
  };
  // Either opens the storage.
  const by = more.passphrase === undefined ? { recoveryKey: file.recoveryKey } : {};
  return { ...by, password: value("MATRIX_PASSWORD"), ...more, onRecoveryKey };
}

/** The store of a path; without one Deno KV's own, if that is there; undefined: none that lasts. */
function storeOf(path: string | undefined, keyFile: string | undefined): Store | undefined {
  if (path === undefined && !platform.hasDenoKv()) {
    if (keyFile !== undefined) throw missing("MATRIX_STORE"); // or the bot would keep nothing, sealed or not
    return undefined;
  }
  return storeAt(path, { keyFile, named: (error) => path === undefined ? error : named(error) });
}

/** The same error of a store, which names the variable. */
function named(error: unknown): unknown {
  if (!(error instanceof StoreError) && !(error instanceof MissingPermissionError)) return error;
  const Kind = error.constructor as new (message: string, options: ErrorOptions) => Error;
  return new Kind(error.message.replace(/^(Cannot .*?)(?=:)/, "$1 (MATRIX_STORE)"), { cause: error.cause });
}

/** Refuses a misspelled variable. */
function checkVariables(names: readonly string[]): void {
  const misspelled = misspelledVariable(names, Object.keys(VARIABLES));
  if (misspelled === undefined) return;
  const { name, meant } = misspelled;
  throw new ValueError(`Cannot make a bot: there is no variable ${name}; did you mean ${meant}?`);
}

/** Checks a user ID, so that an error names the variable. */
function checkUser(name: "MATRIX_USER" | "MATRIX_ADMINS", userId: string): void {
  try {
    Client.parseUserId(userId);
  } catch (cause) {
    throw new ValueError(
      `Cannot make a bot: ${name} has "${userId}", which is no user ID: ${VARIABLES[name]}`,
      { cause },
    );
  }
}

/** Checks the homeserver's address, so that an error names the variable. */
function checkAddress(url: string): void {
  if (isAddress(url) || isServerName(url)) return;
  const value = /^[a-z\d.:/[\]-]{1,200}$/i.test(url) ? `is "${url}", which ` : ""; // else it may be a secret
  throw new ValueError(
    `Cannot make a bot: MATRIX_URL ${value}is neither an http or https URL nor a server name: ${VARIABLES.MATRIX_URL}`,
  );
}

function missing(name: keyof typeof VARIABLES): ValueError {
  return new ValueError(`Cannot make a bot: ${name} is not set in the environment: ${VARIABLES[name]}`);
}

interface RecoveryKeyFile {
  /** The key that is in it; undefined: none yet. */
  readonly recoveryKey: string | undefined;
  /**
   * Keeps a new key in it, on the disk when that resolves. A key that is there is never replaced.
   *
   * @throws {ValueError} If it can't be kept, or the file has another one by now.
   */
  keep(recoveryKey: string): Promise<void>;
}

/**
 * Reads a file for the recovery key.
 *
 * @param path The file, which need not be there.
 * @throws {ValueError} If it can't be read.
 */
function readRecoveryKeyFile(path: string): RecoveryKeyFile {
  return { recoveryKey: keyIn(path), keep: (recoveryKey) => keep(path, recoveryKey) };
}

function keyIn(path: string): string | undefined {
  try {
    // Empty: a start was cut off before it wrote the key.
    return files.readTextFileSync(path).trim() || undefined;
  } catch (cause) {
    if (files.problemOf(cause) === "missing") return undefined;
    throw unusable("read", path, cause);
  }
}

async function keep(path: string, recoveryKey: string): Promise<void> {
  try {
    using file = await files.open(path, { write: true, create: true, mode: 0o600 });
    const there = keyIn(path);
    if (there === recoveryKey) return;
    if (there !== undefined) {
      throw new ValueError(
        `Cannot keep the recovery key: ${path} has another one by now, of another process; start again, which reads it`,
      );
    }
    await file.write(new TextEncoder().encode(`${recoveryKey}\n`)); // in one go
    await file.sync();
    await syncFolder(path);
  } catch (cause) {
    throw cause instanceof ValueError ? cause : unusable("write to", path, cause);
  }
}

/** Has the disk know the file's name, too, where the system can do that. */
async function syncFolder(path: string): Promise<void> {
  const folder = path.slice(0, Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1) || ".";
  try {
    if (!files.isPermitted("read", folder)) return; // Deno would prompt the user
    using opened = await files.open(folder);
    await opened.sync();
  } catch {
    // Windows opens no folders.
  }
}

function unusable(action: "read" | "write to", path: string, cause: unknown): ValueError {
  const flag = action === "read" ? "read" : "write";
  const problem = files.problemOf(cause);
  const mend = problem === "forbidden"
    ? `Deno may not; start it with --allow-read=${path} --allow-write=${path}`
    : problem === "missing"
    ? "its folder is not there; make the folder"
    : `${cause instanceof Error ? cause.message : cause}; let this process ${flag} it`;
  return new ValueError(
    `Cannot ${action} the recovery key's file ${path} (MATRIX_RECOVERY_KEY_FILE): ${mend}`,
    {
      cause,
    },
  );
}

/**
 * The store in a file, of Deno KV where that is there, else of SQLite.
 *
 * @param path The file; undefined: Deno KV's own.
 * @param options The file with the key that seals it, by default none; what is thrown in place of an error.
 * @throws {ValueError} If the path is empty.
 */
export function storeAt(
  path: string | undefined,
  { keyFile, named = (error) => error }: {
    readonly keyFile?: string;
    readonly named?: (error: unknown) => unknown;
  } = {},
): LazyStore {
  if (path?.trim() === "") throw new ValueError("Cannot make a bot: store is an empty path; name a file");
  return new LazyStore(async () => {
    const key = keyFile === undefined ? undefined : sealKeyIn(keyFile);
    try {
      const store = await opened(path);
      return key === undefined ? store : await openOver(store, () => SealedStore.open(store, key));
    } catch (error) {
      throw named(error);
    }
  });
}

async function opened(path: string | undefined): Promise<Store> {
  if (!platform.hasDenoKv() && path !== undefined) {
    return await (await import("../store/sqlite.ts")).SqliteStore.open(path);
  }
  return await (await import("../store/kv.ts")).KvStore.open(path);
}

/** The key in a file. @throws {ValueError} If there is none; it does not repeat what is there. */
function sealKeyIn(path: string): Uint8Array {
  const name = `the key of the store in ${path} (MATRIX_STORE_KEY_FILE)`;
  try {
    const key = sealKeyOf(platform.files.readTextFileSync(path));
    if (key !== undefined) return key;
  } catch (cause) {
    throw new ValueError(`Cannot read ${name}: let this process read the file`, { cause });
  }
  throw new ValueError(
    `Cannot use ${name}: it is not 32 bytes as Base64; use the file of greenroom store seal`,
  );
}

/**
 * A store that is opened when it is used first, and closed with the bot.
 * If it can't be opened, the next use tries.
 */
export class LazyStore implements Store {
  readonly #open: () => Promise<Store>;
  #opened: Promise<Store> | undefined;
  #isClosed = false;

  /** @param open Opens it. */
  constructor(open: () => Promise<Store>) {
    this.#open = open;
  }

  async getMany(keys: readonly StoreKey[]): Promise<(StoreEntry | undefined)[]> {
    return await (await this.#store).getMany(keys);
  }

  async *list(prefix: StoreKey, options?: StoreListOptions): AsyncIterable<StoreEntry> {
    yield* (await this.#store).list(prefix, options);
  }

  async commit(mutations: readonly StoreMutation[], checks?: readonly StoreCheck[]): Promise<boolean> {
    return await (await this.#store).commit(mutations, checks);
  }

  async lock(key: StoreKey): Promise<StoreLock | undefined> {
    const store = await this.#store;
    if (store.lock === undefined) throw new StoreError("Cannot lock the store: it has no locks");
    return await store.lock(key);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#opened?.catch(() => undefined))?.close();
  }

  /** @throws {ValueError} If the store is closed. */
  get #store(): Promise<Store> {
    if (this.#isClosed) throw new ValueError("Cannot use the store: its bot is closed; make another bot");
    return this.#opened ??= this.#open().catch((error) => {
      this.#opened = undefined;
      throw error;
    });
  }
}
