/**
 * A store in IndexedDB, with the types of IndexedDB and Web Locks that it uses: Deno's types have neither.
 *
 * Over 300 lines because a fifth of it are types of browsers, which Deno does not have.
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import { StoreError, StoreFullError } from "../../errors/store_error.ts";
import {
  decodeKey,
  encodeKey,
  endOfRange,
  type Store,
  type StoreCheck,
  type StoreEntry,
  type StoreKey,
  type StoreListOptions,
  type StoreLock,
  type StoreMutation,
} from "../base/mod.ts";

const TABLE = "entries";
const VERSION = 1;
/** How many entries {@link IndexedDbStore.list} reads at once. */
const PAGE = 100;
/** Keys come from pages as they were asked for: none of them is at the end of a range. */
const EXCLUDED = true;
/** Where the number of commits is: no key's bytes are none. */
const COUNTER = Uint8Array.of();

/** The first byte of the notes of locks: no key begins so, or is listed after it. */
const AFTER_ALL = 0xff;
/** Locks that were released, until the browser has done that. */
const releasing = new Map<string, Promise<void>>();

const browser = globalThis as unknown as Browser;

interface Record {
  readonly key: Uint8Array;
  readonly version: number;
  readonly value: unknown;
}

/** A change whose value is a copy. */
type Change = { readonly key: Uint8Array; readonly value?: unknown; readonly isSet: boolean };

/**
 * Keeps everything in a database of IndexedDB, for pages and workers of a browser.
 *
 * Each commit is one transaction, checks included, and resolves when it is on the disk, as the browser
 * says (`durability: "strict"`). Several pages may open the same database. Locks are Web Locks, which end
 * with the page. A browser may delete a site's databases when the disk is full:
 * `navigator.storage.persist()` asks it not to.
 *
 * @example
 * ```ts
 * import { IndexedDbStore } from "@greenroom/matrix/store/indexeddb";
 *
 * export async function greet(): Promise<void> {
 *   await using store = await IndexedDbStore.open("matrix");
 *   await store.commit([{ type: "set", key: ["greeting", "en"], value: "hello" }]);
 * }
 * ```
 */
export class IndexedDbStore implements Store, AsyncDisposable {
  readonly #database: IdbDatabase;
  readonly #name: string;
  /** What closing waits for. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(name: string, database: IdbDatabase) {
    this.#name = name;
    this.#database = database;
    database.onversionchange = () => database.close(); // somebody deletes it
  }

  /**
   * Opens a database, and makes it if there is none.
   *
   * @param name Its name, among those of the site.
   * @throws {StoreError} If it can't be opened.
   *
   * @example
   * ```ts
   * import { IndexedDbStore } from "@greenroom/matrix/store/indexeddb";
   *
   * export const opened = () => IndexedDbStore.open("matrix");
   * ```
   */
  static async open(name: string): Promise<IndexedDbStore> {
    if (browser.indexedDB === undefined) {
      throw new StoreError("Cannot open the store: there is no IndexedDB here; use another store");
    }
    const opening = browser.indexedDB.open(name, VERSION);
    opening.onupgradeneeded = () => void opening.result.createObjectStore(TABLE);
    try {
      return new IndexedDbStore(name, await answered(opening));
    } catch (cause) {
      throw new StoreError(
        `Cannot open the store: the browser says ${cause}; see whether it lets the site keep data`,
        { cause },
      );
    }
  }

  /** Reads several values at once; undefined where there is none. */
  async getMany(keys: readonly StoreKey[]): Promise<(StoreEntry | undefined)[]> {
    if (keys.length === 0) return [];
    const table = this.#database.transaction(TABLE, "readonly").objectStore(TABLE);
    const reading = keys.map((key) => answered(table.get(encodeKey(key))));
    const records = await this.#during("read", Promise.all(reading));
    return records.map((record) => record === undefined ? undefined : entryOf(record as Record));
  }

  /** Reads the values below a prefix, page by page, in the order of the keys. */
  async *list(
    prefix: StoreKey,
    { after, limit = Infinity }: StoreListOptions = {},
  ): AsyncGenerator<StoreEntry> {
    const end = endOfRange(encodeKey(prefix));
    let last = encodeKey(after ?? prefix);
    for (let left = limit; left > 0;) {
      const range = browser.IDBKeyRange.bound(last, end, EXCLUDED, EXCLUDED);
      const table = this.#database.transaction(TABLE, "readonly").objectStore(TABLE);
      const count = Math.min(left, PAGE);
      const page = await this.#during("read", answered(table.getAll(range, count))) as Record[];
      for (const record of page) yield entryOf(record);
      left -= page.length;
      last = page.at(-1)?.key ?? end;
      if (page.length < count) return;
    }
  }

  /** Applies all changes, or none if a check does not hold. */
  async commit(mutations: readonly StoreMutation[], checks: readonly StoreCheck[] = []): Promise<boolean> {
    const changes = mutations.map(changeOf); // copied before anything else can change them
    const transaction = this.#database.transaction(TABLE, "readwrite", { durability: "strict" });
    const table = transaction.objectStore(TABLE);
    return await this.#during("write to", written(transaction, table, changes, checks));
  }

  /** Takes a Web Lock; undefined if another page or this one has it. */
  async lock(key: StoreKey): Promise<StoreLock | undefined> {
    const { locks } = browser.navigator;
    if (locks === undefined) {
      throw new StoreError("Cannot lock the device: the browser has no locks here; serve the page by https");
    }
    const taken = Promise.withResolvers<boolean>();
    const released = Promise.withResolvers<void>();
    const name = JSON.stringify(["greenroom", this.#name, key]);
    await releasing.get(name);
    const held = locks.request(name, { ifAvailable: true }, (lock) => {
      taken.resolve(lock !== null);
      return lock === null ? undefined : released.promise;
    });
    held.catch(taken.reject);
    if (!await taken.promise) return undefined;
    const note = Uint8Array.of(AFTER_ALL, ...encodeKey(key));
    const table = this.#database.transaction(TABLE, "readonly").objectStore(TABLE);
    const left = await this.#during("read", answered(table.get(note)));
    return {
      left: typeof left === "string" ? left : "",
      leave: async (text) => {
        const writing = this.#database.transaction(TABLE, "readwrite", { durability: "strict" });
        await this.#during("write to", answered(writing.objectStore(TABLE).put(text, note)));
      },
      release: () => {
        released.resolve();
        releasing.set(name, held.then(() => void releasing.delete(name)));
      },
    };
  }

  /** Closes the database after what has begun. */
  async close(): Promise<void> {
    await this.#last.catch(() => {});
    this.#database.close();
  }

  /** The same as {@link IndexedDbStore.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #during<Result>(action: string, work: Promise<Result>): Promise<Result> {
    this.#last = Promise.allSettled([this.#last, work]);
    try {
      return await work;
    } catch (cause) {
      if (cause instanceof ValueError) throw cause;
      const isFull = (cause as Error | null)?.name === "QuotaExceededError";
      const Kind = isFull ? StoreFullError : StoreError;
      const mend = isFull ? "there is no room; free some" : `the browser says ${cause}; open it again`;
      throw new Kind(`Cannot ${action} the store: ${mend}`, { cause });
    }
  }
}

function changeOf(mutation: StoreMutation): Change {
  const key = encodeKey(mutation.key);
  if (mutation.type === "delete") return { key, isSet: false };
  try {
    return { key, isSet: true, value: structuredClone(mutation.value) };
  } catch (cause) {
    throw new ValueError("Cannot store a value: it is not plain data; leave out functions and the like", {
      cause,
    });
  }
}

/** Checks and writes in one transaction, which others wait for; resolves when it is on the disk. */
async function written(
  transaction: IdbTransaction,
  table: IdbTable,
  changes: readonly Change[],
  checks: readonly StoreCheck[],
): Promise<boolean> {
  const ended = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
  ended.catch(() => {}); // a request that fails says why before that
  const found = await Promise.all([
    answered(table.get(COUNTER)),
    ...checks.map(({ key }) => answered(table.get(encodeKey(key)))),
  ]);
  const [counter, ...records] = found as (Record | undefined)[];
  const holds = checks.every(({ versionstamp }, index) => stampOf(records[index]) === versionstamp);
  if (holds && changes.length > 0) {
    const version = (counter?.version ?? 0) + 1;
    try {
      table.put({ key: COUNTER, version }, COUNTER);
      for (const { key, value, isSet } of changes) {
        if (isSet) table.put({ key, version, value }, key);
        else table.delete(key);
      }
    } catch (error) {
      transaction.abort();
      throw error;
    }
  }
  await ended;
  return holds;
}

function answered<Result>(request: IdbRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function stampOf(record: Record | undefined): string | null {
  return record === undefined ? null : String(record.version);
}

function entryOf({ key, value, version }: Record): StoreEntry {
  return { key: decodeKey(key), value, versionstamp: String(version) };
}

interface IdbRequest<Result> {
  readonly result: Result;
  readonly error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}

interface IdbOpening extends IdbRequest<IdbDatabase> {
  onupgradeneeded: (() => void) | null;
  onblocked: (() => void) | null;
}

interface IdbTable {
  get(key: Uint8Array): IdbRequest<unknown>;
  getAll(query: unknown, count?: number): IdbRequest<unknown[]>;
  put(value: unknown, key: Uint8Array): IdbRequest<unknown>;
  delete(key: Uint8Array): IdbRequest<unknown>;
}

interface IdbTransaction {
  readonly error: unknown;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
  objectStore(name: string): IdbTable;
  abort(): void;
}

interface IdbDatabase {
  onversionchange: (() => void) | null;
  createObjectStore(name: string): unknown;
  transaction(
    tables: string,
    mode: "readonly" | "readwrite",
    options?: { readonly durability: "strict" },
  ): IdbTransaction;
  close(): void;
}

/** The browser, as far as a store needs it. */
interface Browser {
  readonly indexedDB?: { open(name: string, version: number): IdbOpening };
  readonly IDBKeyRange: {
    bound(lower: Uint8Array, upper: Uint8Array, lowerOpen: boolean, upperOpen: boolean): unknown;
  };
  readonly navigator: {
    readonly locks?: {
      request(
        name: string,
        options: { readonly ifAvailable: true },
        call: (lock: unknown) => Promise<void> | undefined,
      ): Promise<void>;
    };
  };
}
