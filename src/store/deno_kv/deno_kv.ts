/**
 * A persistent store on Deno KV.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { Turns } from "../../base/runs.ts";
import { StoreFormatError } from "../../errors/store_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { journalKey, type KvDatabase, type KvRecord, logicalKey, MAX_READS, valueKey } from "./database.ts";
import { DenoKvJournal, isTorn } from "./journal.ts";
import { type EncodedChange, encodeDelete, encodeSet, readParts, readRecord, SplitIndex } from "./values.ts";
import { checkFormat, databaseOf, type KvOptions } from "./open.ts";
import { lockBeside } from "../files/files.ts";
import {
  decodeValue,
  type Store,
  type StoreCheck,
  type StoreEntry,
  type StoreKey,
  type StoreListOptions,
  type StoreLock,
  type StoreMutation,
} from "../base/mod.ts";

export type { KvOptions } from "./open.ts";

const VERSIONSTAMP = /^[0-9a-f]{20}$/;

/**
 * Keeps everything in a database of Deno KV: a file, or a server that speaks KV Connect (`denokv`,
 * Deno Deploy).
 *
 * Deno KV's limits are hidden: values and commits may have any size. A commit that fits (990
 * changes, 0.8 MB, 98 checks; 7 on a server) is one atomic operation, and one sync of the file. A
 * larger one is staged first, made to count by one atomic operation, and then carried out. If the
 * process ends in between, the next one that opens the database carries it out before it reads
 * anything. So `commit()` may reject although the commit counts: if carrying it out fails, the next
 * operation continues with it.
 *
 * Durability, measured on Linux with Deno 2.9.6 and denokv 0.14.0: SQLite with a write-ahead log
 * and `synchronous=FULL`, that is one `fsync` of the log for each commit, before `commit()`
 * resolves or the server answers. What has resolved survives `kill -9`, and a power cut if the disk
 * syncs as it says. In memory (`":memory:"`), everything goes with the process.
 *
 * On a server, a request without an answer is repeated until the patience is over (30 seconds by
 * default), across a restart of the server too. Each commit is still made once, and in order. If
 * the patience is over first, `commit()` rejects, and whether it was made is unknown: open the
 * database again, and look. `denokv` answers a full disk like any other failure of its own, so
 * there the patience decides.
 *
 * Several stores, in several processes too, may open one database; each commit is atomic to all of
 * them. Where another process has locked the file, operations wait for it as for a server. Other programs may
 * open a file too, for example to back it up. While the store is open, only Deno KV and `node:sqlite` may
 * open the file in this process, not even `Deno.copyFile()`: closing it elsewhere releases the locks that
 * protect the log from other programs.
 *
 * Lock files in the folder `bot.db-locks` beside a file show immediately that a process has ended,
 * so that the next one need not wait for its lease; Deno needs permission to read and write it. A
 * server has no such locks, nor has the program's default database.
 *
 * A key may have 2 KiB, which includes some twenty bytes of the store's own and two for each part.
 *
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { KvStore } from "@greenroom/matrix/store/kv";
 *
 * await using store = await KvStore.open(":memory:"); // or "./bot.db", or "http://127.0.0.1:4512"
 * await using client = new Client({ baseUrl: "https://matrix.example.org", store });
 * ```
 */
export class KvStore implements Store {
  readonly #database: KvDatabase;
  readonly #journal: DenoKvJournal;
  readonly #splits = new SplitIndex();
  /** A commit that has to be repeated, after a large one of another process, is not overtaken. */
  readonly #turns = new Turns();
  /** Undefined until the first use, and after one that has failed. */
  #beginning: Promise<void> | undefined;
  #hasBegun = false;
  #closed: Promise<void> | undefined;

  /**
   * Makes a store that opens its database when it is used first, and rejects then where it can't;
   * {@link KvStore.open} opens it at once.
   *
   * @param database What {@link KvStore.open} takes; or an open database, which is closed with the store.
   * @param options The access token of a server, and how long to wait.
   *
   * @example
   * ```ts
   * import { KvStore } from "@greenroom/matrix/store/kv";
   *
   * await using store = new KvStore(":memory:"); // or "./bot.db", or await Deno.openKv()
   * await store.commit([{ type: "set", key: ["greeting", "en"], value: "hello" }]);
   * ```
   */
  constructor(database?: string | Deno.Kv, options: KvOptions = {}) {
    this.#database = databaseOf(database, options);
    this.#journal = new DenoKvJournal(this.#database);
  }

  /**
   * Opens a database, and creates it if it does not exist.
   *
   * @param path A file; `":memory:"` for none; the URL of a server; by default, the file that Deno
   * has for the program.
   * @param options The access token of a server, and how long to wait.
   * @throws {ValueError} If Deno runs without `--unstable-kv`, which a server does not need, or
   * there is no access token, or the address is plain http over an open network.
   * @throws {StoreError} If the file or the server can't be used; a `StoreFormatError` if the
   * database is something else, or of a newer version of Greenroom. Nothing is changed then.
   *
   * @example
   * ```ts
   * import { KvStore } from "@greenroom/matrix/store/kv";
   *
   * export async function open(): Promise<KvStore> {
   *   return await KvStore.open("./bot.db"); // with --unstable-kv
   * }
   * ```
   */
  static async open(path?: string, options: KvOptions = {}): Promise<KvStore> {
    return await KvStore.#begun(new KvStore(path, options));
  }

  /**
   * Uses an open database, and closes it with the store. Everything is kept below the key part
   * `"greenroom"`.
   *
   * @param kv The database: a file, or memory. Open one on a server with {@link open}.
   * @throws {StoreError} As {@link open}.
   *
   * @example
   * ```ts
   * import { KvStore } from "@greenroom/matrix/store/kv";
   *
   * export async function openBeside(): Promise<KvStore> {
   *   const kv = await Deno.openKv();
   *   await kv.set(["mine"], "beside the client's entries");
   *   return await KvStore.over(kv);
   * }
   * ```
   */
  static async over(kv: Deno.Kv): Promise<KvStore> {
    return await KvStore.#begun(new KvStore(kv));
  }

  static async #begun(store: KvStore): Promise<KvStore> {
    try {
      await store.#begin();
    } catch (error) {
      store.#database.close();
      throw error;
    }
    return store;
  }

  /**
   * Reads several values; `undefined` where there is none.
   *
   * Up to nine values come from one snapshot; of more, each nine.
   *
   * @throws {ValueError} If a key is too long.
   */
  async getMany(keys: readonly StoreKey[]): Promise<(StoreEntry | undefined)[]> {
    this.#assertOpen();
    const places = keys.map(valueKey);
    if (!this.#hasBegun) await this.#begin();
    const batches: Promise<KvRecord[]>[] = [];
    for (let start = 0; start < keys.length; start += MAX_READS - 1) {
      batches.push(this.#read(places.slice(start, start + MAX_READS - 1)));
    }
    const entries = (await Promise.all(batches)).flat();
    return await Promise.all(entries.map((entry) => this.#decode(entry)));
  }

  /**
   * Reads the values below a prefix, without the one at it, in the order of the keys.
   *
   * A hundred entries come from one snapshot, on a server five hundred. Commits made meanwhile are
   * seen where their keys are still to come.
   *
   * @throws {ValueError} If the prefix is too long.
   */
  async *list(
    prefix: StoreKey,
    { after, limit = Infinity }: StoreListOptions = {},
  ): AsyncGenerator<StoreEntry> {
    this.#assertOpen();
    const place = valueKey(prefix);
    let last = after && valueKey(after);
    let left = limit;
    if (!this.#hasBegun) await this.#begin();
    do {
      const page = await this.#page(place, last);
      for (const each of page.entries) {
        if (left === 0) return;
        const entry = await this.#decode(each);
        if (entry === undefined) continue;
        yield entry;
        left--;
      }
      last = page.last;
    } while (last !== undefined);
  }

  /**
   * Applies all changes, or none if a check does not hold.
   *
   * @throws {ValueError} If a key is too long, or a value is not plain data; nothing was written
   * then.
   */
  async commit(mutations: readonly StoreMutation[], checks: readonly StoreCheck[] = []): Promise<boolean> {
    this.#assertOpen();
    const changes = encode(mutations); // before anything is awaited: the caller may change its values then
    const places = checks.map(({ key, versionstamp }) => ({ key: valueKey(key), versionstamp }));
    // Deno KV refuses others, which no value has.
    if (places.some(({ versionstamp }) => !VERSIONSTAMP.test(versionstamp ?? "0".repeat(20)))) return false;
    if (changes.length + places.length === 0) return true;
    if (!this.#hasBegun) await this.#begin();
    return await this.#turns.take(() => this.#apply(changes, places));
  }

  /**
   * Takes a lock: a file in the folder `…-locks` beside the database.
   *
   * @throws {StoreError} If there can be none: the database was not opened by the path of a file,
   * or Deno may not use the folder.
   */
  async lock(key: StoreKey): Promise<StoreLock | undefined> {
    this.#assertOpen();
    if (!this.#hasBegun) await this.#begin();
    return await lockBeside(this.#database.file, key);
  }

  /** Closes the database after the operations under way. */
  close(): Promise<void> {
    return this.#closed ??= this.#turns.take(async () => {
      await this.#beginning?.catch(() => {});
      this.#database.close();
    });
  }

  /** Closes the database. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #begin(): Promise<void> {
    return this.#beginning ??= this.#check().catch((error) => {
      this.#beginning = undefined;
      throw error;
    });
  }

  async #check(): Promise<void> {
    await checkFormat(this.#database);
    await this.#journal.check();
    await this.#journal.discard();
    await this.#splits.load(this.#database, this.#journal);
    this.#hasBegun = true;
  }

  async #apply(changes: readonly EncodedChange[], checks: readonly Deno.AtomicCheck[]): Promise<boolean> {
    const writes = changes.flatMap((change) => [...change.writes, ...this.#splits.removal(change.key)]);
    const held = await this.#journal.commit(writes, checks);
    if (held) { for (const { key, split } of changes) this.#splits.note(key, split); }
    return held;
  }

  /** Reads in one snapshot in which no commit is half carried out. */
  async #read(places: readonly Deno.KvKey[]): Promise<KvRecord[]> {
    for (;;) {
      const [marker, ...entries] = await this.#database.getMany([journalKey, ...places]);
      if (marker === undefined || !isTorn(marker)) return entries;
      await this.#journal.settle(marker);
    }
  }

  async #page(prefix: Deno.KvKey, after: Deno.KvKey | undefined) {
    for (;;) {
      const check = await this.#journal.check();
      const page = await this.#database.page(prefix, after, journalKey);
      if (page.beside === undefined) {
        if (await this.#journal.holds(check)) return page;
      } else if (isTorn(page.beside)) await this.#journal.settle(page.beside);
      else return page;
    }
  }

  async #decode(entry: KvRecord): Promise<StoreEntry | undefined> {
    if (entry.versionstamp === null) return undefined;
    const { versionstamp } = entry;
    const key = logicalKey(entry.key);
    const record = readRecord(entry.value);
    if ("value" in record) return { key, value: record.value, versionstamp };
    this.#splits.noteRead(key, record.split);
    const bytes = await readParts(this.#database, record.split);
    if (bytes !== undefined) return { key, value: decodeValue(bytes), versionstamp };
    const [now] = await this.#read([entry.key]); // replaced meanwhile
    if (now === undefined || now.versionstamp === versionstamp) throw missingPart();
    return await this.#decode(now);
  }

  #assertOpen(): void {
    if (this.#closed !== undefined) throw new ValueError("Cannot use the store: it is closed; open it again");
  }
}

/**
 * The writes of each key, the last of several, in the order of the keys, more or less: what is
 * written together then lies together in the file. In the order in which a server lists its rooms,
 * a commit of 3,000 rooms writes 93 MB in place of 26.
 */
function encode(mutations: readonly StoreMutation[]): EncodedChange[] {
  const last = new Map(mutations.map((mutation) => [JSON.stringify(mutation.key), mutation]));
  const changes: EncodedChange[] = [];
  for (const name of [...last.keys()].sort()) {
    const mutation = last.get(name);
    if (mutation?.type === "set") changes.push(encodeSet(mutation.key, mutation.value));
    else if (mutation !== undefined) changes.push(encodeDelete(mutation.key));
  }
  return changes;
}

function missingPart(): StoreFormatError {
  return new StoreFormatError(
    "Cannot read a value of the store: a part of it is missing; restore the database from a copy",
  );
}
