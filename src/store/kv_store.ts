/**
 * What Greenroom keeps its state in: an ordered map of plain data, with atomic commits.
 *
 * @module
 */

/**
 * A key: its parts, from the general to the particular. Any part may be the empty string, as state
 * keys are. Greenroom makes none that takes more than 2,048 bytes, counted as Deno KV does: the
 * UTF-8 of all parts, with a zero as two, and two for each part.
 */
export type KvKey = readonly string[];

/** A value under its key. */
export interface KvEntry {
  /** The key. */
  readonly key: KvKey;
  /** The value: plain data, which nobody changes any more. */
  readonly value: unknown;
  /** Changes whenever the value does. */
  readonly versionstamp: string;
}

/** One change of a commit. */
export type KvMutation =
  | {
    /** Puts a value in the place of whatever is there. */
    readonly type: "set";
    /** Where. */
    readonly key: KvKey;
    /**
     * Plain data that structured clone can carry; it must not be changed after it was handed over.
     */
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
  /** The key to look at. */
  readonly key: KvKey;
  /** The versionstamp it must have; `null`: there must be no value. */
  readonly versionstamp: string | null;
}

/**
 * A lock that goes with the process: nobody else can have it until it is released, or the process
 * has ended.
 */
export interface KvLock {
  /**
   * What the one who had it last has left in it; empty if nothing, or somebody has removed it
   * since.
   */
  readonly left: string;
  /**
   * Leaves something in it for the next one, in place of what was left.
   *
   * @param text No more than 1,024 bytes.
   */
  leave(text: string): Promise<void>;
  /** Lets others have it. */
  release(): void;
}

/**
 * A key-value store: `MemoryStore` forgets when the process ends; `DenoKvStore` of
 * `@greenroom/matrix/store/kv` and `SqliteStore` of `@greenroom/matrix/store/sqlite` do not.
 */
export interface KvStore {
  /** Reads several values at once; `undefined` where there is none. */
  getMany(keys: readonly KvKey[]): Promise<(KvEntry | undefined)[]>;
  /**
   * Reads what lies below a prefix, not at it, in the order of the keys: part by part, by code
   * point.
   */
  list(prefix: KvKey): AsyncIterable<KvEntry>;
  /**
   * Applies all changes, or none if a check does not hold.
   *
   * @param mutations The changes, in order.
   * @param checks The conditions.
   * @returns Whether the checks held.
   * @throws {StoreError} If the store can't be written to.
   * @throws {ValueError} Or any other error, if there is a key or a value that the store can't
   * keep, whether or not the checks hold; nothing was written then.
   */
  commit(mutations: readonly KvMutation[], checks?: readonly KvCheck[]): Promise<boolean>;
  /**
   * Takes a lock, which has nothing to do with commits: by it the end of another process is known
   * at once, so that a client need not wait for the rest of that one's lease. A store of several
   * processes of one machine can have locks that its system lets go with the process, like those of
   * files; others leave this out.
   *
   * @param key What to lock; as in a map, other keys are other locks.
   * @returns The lock; `undefined` if somebody else has it, in this process or another.
   * @throws {StoreError} If there can be no lock; it says why.
   */
  lock?(key: KvKey): Promise<KvLock | undefined>;
  /** Releases what the store holds. */
  close(): void | Promise<void>;
}
