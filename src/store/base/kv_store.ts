/**
 * The port to a store: an ordered map of plain data, with atomic commits, and the order of its keys.
 *
 * @module
 */

/**
 * A key: its parts, from the general to the particular. Any part may be the empty string, as state
 * keys are. Greenroom's keys have at most 2,048 bytes, counted as Deno KV does: the UTF-8 of all
 * parts, with a zero byte as two, and two for each part.
 */
export type KvKey = readonly string[];

/** A value under its key. */
export interface KvEntry {
  /** Where it is kept. */
  readonly key: KvKey;
  /** The value: plain data, never changed again. */
  readonly value: unknown;
  /** Changes whenever the value does. */
  readonly versionstamp: string;
}

/** One change of a commit. */
export type KvMutation =
  | {
    /** Sets the value. */
    readonly type: "set";
    readonly key: KvKey;
    /** Plain data that structured clone supports; it must not be changed after the call. */
    readonly value: unknown;
  }
  | {
    /** Removes the value, if there is one. */
    readonly type: "delete";
    /** Where. */
    readonly key: KvKey;
  };

/** A condition of a commit. */
export interface KvCheck {
  /** The entry that is looked at. */
  readonly key: KvKey;
  /** The versionstamp that it must have; `null`: there must be no value. */
  readonly versionstamp: string | null;
}

/** Which values {@link KvStore.list} reads. */
export interface KvListOptions {
  /** The key after which to begin: it need not exist. Default: at the first one. */
  readonly after?: KvKey;
  /** How many values to read at most. Default: all. */
  readonly limit?: number;
}

/** A lock of a process: no other can take it before it is released, or the process has ended. */
export interface KvLock {
  /** The note of the last owner; empty if there is none, or it was removed. */
  readonly left: string;
  /** What is wrong with the store's files, for the log: others may read them. Default: nothing is known. */
  readonly warning?: string;
  /**
   * Replaces the note for the next owner.
   *
   * @param text No more than 1,024 bytes.
   */
  leave(text: string): Promise<void>;
  /** Releases the lock. */
  release(): void;
}

/**
 * A key-value store: `MemoryStore` forgets when the process ends; `DenoKvStore` of
 * `@greenroom/matrix/store/kv` and `SqliteStore` of `@greenroom/matrix/store/sqlite` do not.
 */
export interface KvStore {
  /** Reads several values; `undefined` where there is none. */
  getMany(keys: readonly KvKey[]): Promise<(KvEntry | undefined)[]>;
  /**
   * Reads the values below a prefix, without the one at it, in the order of the keys: part by part,
   * by code point.
   *
   * @param options Which of them, so that many can be read page by page.
   */
  list(prefix: KvKey, options?: KvListOptions): AsyncIterable<KvEntry>;
  /**
   * Applies all changes, or none if a check does not hold.
   *
   * @param mutations The changes, in order.
   * @param checks The conditions.
   * @returns Whether the checks held.
   * @throws {StoreError} If the store can't be written to.
   * @throws {ValueError} Or another error, if the store can't keep a key or a value, whether or not
   * the checks hold; nothing is written then.
   */
  commit(mutations: readonly KvMutation[], checks?: readonly KvCheck[]): Promise<boolean>;
  /**
   * Takes a lock, which does not affect commits: it shows immediately that another process has
   * ended, so that a client need not wait for the rest of its lease. Stores that several processes
   * of one machine share can implement it with locks that the system releases with the process,
   * like file locks; others leave it out.
   *
   * @param key The name of the lock.
   * @returns The lock; `undefined` if it is taken, in this process or another.
   * @throws {StoreError} If locks are impossible; it says why.
   */
  lock?(key: KvKey): Promise<KvLock | undefined>;
  /** Closes the store, and releases its resources. */
  close(): void | Promise<void>;
}

const isHigh = (unit: number) => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit: number) => unit >= 0xdc00 && unit < 0xe000;

/**
 * The rank of a code unit: halves of pairs, which encode code points above 0xFFFF, come after all
 * others.
 */
function rank(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  const paired = (isHigh(unit) && isLow(text.charCodeAt(index + 1))) ||
    (isLow(unit) && isHigh(text.charCodeAt(index - 1)));
  return paired ? unit + 0x10000 : unit;
}

/**
 * Compares parts of keys by code point, as their UTF-8 bytes would be: `"\uFFFF"` comes before
 * `"😀"`, unlike with `<`.
 *
 * @returns Negative if the first comes first, positive if the second does, 0 if they are equal.
 */
export function compareParts(first: string, second: string): number {
  const length = Math.min(first.length, second.length);
  for (let index = 0; index < length; index++) {
    if (first.charCodeAt(index) !== second.charCodeAt(index)) return rank(first, index) - rank(second, index);
  }
  return first.length - second.length;
}
