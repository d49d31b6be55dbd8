/**
 * A store that a bot opens and closes.
 *
 * @module
 */

import {
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
import { StoreError } from "../../errors.ts";
import { platform } from "../base/platform/mod.ts";
import { openOver, sealKeyOf } from "../store/files/files.ts";

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

/** A store that is opened when it is used first, and closed with the bot. If it can't be opened, the next use tries. */
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
