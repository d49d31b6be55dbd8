/**
 * The bot's account: a client of it with the store, as the bot itself has.
 *
 * @module
 */

import { rm } from "node:fs/promises";
import { Client, type ClientOptions, MatrixError, SealedStore, type Store } from "../../../mod.ts";
import type { UserID } from "../../../types.ts";
import type { OAuthSession } from "../../oauth/mod.ts";
import { CliError, RUNTIME, statOf, STATUS } from "../io/mod.ts";
import { openOver, sealKeyOf } from "../../store/files/files.ts";
import {
  denoJsonIn,
  needed,
  recoveryKeyOf,
  type Settings,
  textOf,
  valueAt,
  writePrivate,
} from "./settings.ts";

/** A client that is closed with its store. */
interface Account extends AsyncDisposable {
  readonly client: Client;
}

/** The address as clients have it, without a slash at its end. */
function baseUrlOf(address: string): string {
  return new Client({ baseUrl: address, log: false }).api.baseUrl;
}

/** The address of a homeserver, by its address or server name. */
export async function addressOf(given: string): Promise<string> {
  if (/^https?:\/\//i.test(given)) return baseUrlOf(given);
  try {
    const found = await Client.discover(given, {
      log: false,
      requestTimeout: 10_000,
      retry: { maxRetries: 1 },
    });
    return baseUrlOf(found ?? `https://${given}`);
  } catch (cause) {
    if (!(cause instanceof MatrixError)) throw cause;
    throw new CliError(
      `${cause.message}; check the user ID, or give the homeserver's address, with http:// or https://, by --homeserver ` +
        "or MATRIX_URL",
      STATUS.UNREACHABLE,
      { cause },
    );
  }
}

/** The server name in a user ID. */
export function serverOf(user: string): string {
  return user.slice(user.indexOf(":") + 1);
}

/** What a client acts with: a token, or the session that a login by OAuth 2.0 has left in the store. */
export async function tokensOf(
  { baseUrl, mxid, token }: { readonly baseUrl: string; readonly mxid?: UserID; readonly token?: string },
  store: Store | undefined,
): Promise<Pick<ClientOptions, "baseUrl" | "mxid" | "accessToken">> {
  if (token !== undefined) return { baseUrl, mxid, accessToken: token };
  const session = store === undefined ? undefined : await sessionIn(store, { baseUrl, mxid });
  if (session !== undefined) return session.clientOptions;
  throw new CliError(
    "Cannot use the bot's account: nobody has logged in; greenroom login does",
    STATUS.NOT_LOGGED_IN,
  );
}

/** Whether there is a token, or a session in the store. */
export async function isLoggedIn(settings: Settings): Promise<boolean> {
  if (settings.MATRIX_TOKEN !== undefined) return true;
  await using store = await openExisting(settings);
  return store !== undefined &&
    await sessionIn(store, { mxid: settings.MATRIX_USER as UserID }) !== undefined;
}

/** What a login by OAuth 2.0 has left; undefined: there was none. */
async function sessionIn(
  store: Store,
  options: { readonly baseUrl?: string; readonly mxid?: UserID },
): Promise<OAuthSession | undefined> {
  const { OAuthSession } = await import("../../oauth/mod.ts");
  if (options.mxid === undefined && options.baseUrl === undefined) return undefined;
  return await OAuthSession.resume({ store, ...options, log: false });
}

/** A client that follows nothing: for what only asks the homeserver, also while the bot runs. */
export async function openPlain(settings: Settings): Promise<Account> {
  const store = settings.MATRIX_TOKEN === undefined ? await openExisting(settings) : undefined;
  return accountWith(await base(settings, store), store);
}

/**
 * A client with the store, which is encrypted.
 *
 * @throws {StoreInUseError} If the bot runs.
 */
export async function openEncrypted(settings: Settings): Promise<Account> {
  const path = needed(settings, "MATRIX_STORE");
  const found = await openExisting(settings);
  const options = await base(settings, found); // without a login nothing is made
  const store = found ?? await openStore(path, settings);
  return accountWith({
    ...options,
    store,
    lease: { held: "refuse", owner: "greenroom, the command line" },
    encryption: { recoveryKey: await recoveryKeyOf(settings) },
  }, store);
}

/** Follows what comes, from now on, once that has begun; an error of that ends `client.done`. */
export async function followed(client: Client): Promise<void> {
  const synced = Promise.withResolvers<void>();
  client.on("SYNC_SUCCESSFUL", () => synced.resolve());
  client.start({ ignoreInitialSync: true }).catch(synced.reject);
  await synced.promise;
}

/** The store of the settings, if it is there: opening one would make it. */
async function openExisting(
  settings: Settings,
): Promise<(Store & AsyncDisposable) | undefined> {
  const { MATRIX_STORE: path } = settings;
  if (path === undefined || await statOf(path) === undefined) return undefined;
  return await openStore(path, settings);
}

/** Opens the store in a file, of the same kind as a bot's, and with the same key. */
export async function openStore(
  path: string,
  { MATRIX_STORE_KEY_FILE: keyFile }: Settings,
): Promise<Store & AsyncDisposable> {
  if ((await statOf(path))?.isDirectory()) {
    throw new CliError(
      `Cannot open the store ${path}: it is a folder; set MATRIX_STORE to a file`,
      STATUS.STORE,
    );
  }
  const key = keyFile === undefined ? undefined : await keyIn(keyFile);
  const store = await openFile(path);
  return key === undefined ? store : await openOver(store, () => SealedStore.open(store, key));
}

/** The path of the store, which has to be there: opening one would make it. */
export async function existingStore(settings: Settings): Promise<string> {
  const path = needed(settings, "MATRIX_STORE");
  if (await statOf(path) !== undefined) return path;
  throw new CliError(`Cannot open the store ${path}: there is none; greenroom login makes it`, STATUS.STORE);
}

/** Removes the files of a store; that one is not there is no failure. */
export async function removeStore(path: string): Promise<void> {
  for (const end of ["", "-wal", "-shm", "-journal", "-locks"]) {
    await rm(`${path}${end}`, { recursive: true, force: true });
  }
}

/** The key in a file: 32 bytes as Base64. @throws {CliError} If it has none. */
export async function keyIn(path: string): Promise<Uint8Array> {
  const text = await textOf(path);
  if (text === undefined) throw new CliError(`Cannot use the key in ${path}: there is no such file`);
  const key = sealKeyOf(text);
  if (key !== undefined) return key;
  throw new CliError(`Cannot use the key in ${path}: it is not 32 bytes as Base64`);
}

/** The key in a file, which is made if it is not there. */
export async function keyOrNew(path: string): Promise<Uint8Array> {
  if (await textOf(path) !== undefined) return await keyIn(path);
  const key = crypto.getRandomValues(new Uint8Array(32));
  await writePrivate(path, `${key.toBase64()}\n`);
  return key;
}

async function openFile(path: string): Promise<Store & AsyncDisposable> {
  if (await wantsDenoKv()) {
    if (typeof (Deno as { openKv?: unknown }).openKv !== "function") {
      throw new CliError(
        "Cannot open the store: the bot's deno.json turns Deno KV on, and it is off here; run the command line with " +
          "--unstable-kv",
        STATUS.STORE,
      );
    }
    return await (await import("../../store/kv.ts")).KvStore.open(path);
  }
  return await (await import("../../store/sqlite.ts")).SqliteStore.open(path);
}

/** Whether bots of this folder get Deno KV; this process has the configuration of another folder, or none. */
async function wantsDenoKv(): Promise<boolean> {
  if (RUNTIME !== "deno") return false;
  const unstable = valueAt(await denoJsonIn("."), "unstable");
  return Array.isArray(unstable) && unstable.includes("kv");
}

async function base(settings: Settings, store: Store | undefined): Promise<ClientOptions> {
  const { MATRIX_TOKEN: token, MATRIX_PASSWORD: password, MATRIX_USER } = settings;
  if (token === undefined && password !== undefined) {
    throw new CliError(
      "Cannot use the bot's account: the bot logs in by MATRIX_PASSWORD; log in once by `greenroom login`, which " +
        "keeps a token in place of it",
      STATUS.NOT_LOGGED_IN,
    );
  }
  if (token === undefined && store === undefined) needed(settings, "MATRIX_TOKEN");
  const mxid = MATRIX_USER as UserID | undefined;
  const server = settings.MATRIX_URL ?? serverOf(needed(settings, "MATRIX_USER"));
  const baseUrl = await addressOf(server);
  return {
    ...await tokensOf({ baseUrl, mxid, token }, store),
    log: false,
    requestTimeout: 30_000,
    retry: { maxRetries: 1 },
  };
}

function accountWith(options: ClientOptions, store: AsyncDisposable | undefined): Account {
  const client = new Client(options);
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      await store?.[Symbol.asyncDispose]();
    },
  };
}
