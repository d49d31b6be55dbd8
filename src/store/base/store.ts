/**
 * The port to a store: an ordered map of plain data, with atomic commits; the order of its keys, and keys as
 * bytes, for stores that keep no tuples.
 *
 * @module
 */

import { StoreFormatError } from "../../errors/store_error.ts";

/**
 * A key: its parts, from the general to the particular. Any part may be the empty string, as state
 * keys are. Greenroom's keys have at most 2,048 bytes, counted as Deno KV does: the UTF-8 of all
 * parts, with a zero byte as two, and two for each part.
 */
export type StoreKey = readonly string[];

/** A value under its key. */
export interface StoreEntry {
  /** The key of the value. */
  readonly key: StoreKey;
  /** The value: plain data, never changed again. */
  readonly value: unknown;
  /** Changes whenever the value does. */
  readonly versionstamp: string;
}

/** One change of a commit. */
export type StoreMutation =
  | {
    /** Sets the value. */
    readonly type: "set";
    readonly key: StoreKey;
    /** Plain data that structured clone supports; it must not be changed after the call. */
    readonly value: unknown;
  }
  | {
    /** Removes the value, if there is one. */
    readonly type: "delete";
    /** Where. */
    readonly key: StoreKey;
  };

/** A condition of a commit. */
export interface StoreCheck {
  /** The entry that is looked at. */
  readonly key: StoreKey;
  /** The versionstamp that it must have; `null`: there must be no value. */
  readonly versionstamp: string | null;
}

/** Which values {@link Store.list} reads. */
export interface StoreListOptions {
  /** The key after which to begin: it need not exist. Default: at the first one. */
  readonly after?: StoreKey;
  /** How many values to read at most. Default: all. */
  readonly limit?: number;
}

/** A lock of a process: no other can take it before it is released, or the process has ended. */
export interface StoreLock {
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
 * A key-value store: `MemoryStore` forgets when the process ends; `KvStore` of
 * `@greenroom/matrix/store/kv` and `SqliteStore` of `@greenroom/matrix/store/sqlite` do not.
 */
export interface Store {
  /**
   * Reads several values.
   *
   * @param keys Their keys.
   * @returns An entry for each key, in the same order; undefined where there is no value.
   *
   * @example
   * ```ts
   * import { MemoryStore } from "@greenroom/matrix";
   * import { assertEquals } from "@std/assert";
   *
   * const store = new MemoryStore();
   * await store.commit([{ type: "set", key: ["greeting", "en"], value: "hello" }]);
   * const [english, french] = await store.getMany([["greeting", "en"], ["greeting", "fr"]]);
   * assertEquals([english?.value, french], ["hello", undefined]);
   * ```
   */
  getMany(keys: readonly StoreKey[]): Promise<(StoreEntry | undefined)[]>;
  /**
   * Reads the values whose keys begin with a prefix, without the prefix itself. They come in the
   * order of the keys: part by part, by code point.
   *
   * @param prefix The first parts of the keys.
   * @param options Where to begin, and how many to read, for reading page by page.
   * @returns The entries.
   *
   * @example
   * ```ts
   * import { MemoryStore } from "@greenroom/matrix";
   * import { assertEquals } from "@std/assert";
   *
   * const store = new MemoryStore();
   * await store.commit([
   *   { type: "set", key: ["greeting", "fr"], value: "bonjour" },
   *   { type: "set", key: ["greeting", "en"], value: "hello" },
   * ]);
   * const greetings = await Array.fromAsync(store.list(["greeting"]));
   * assertEquals(greetings.map(({ value }) => value), ["hello", "bonjour"]);
   * ```
   */
  list(prefix: StoreKey, options?: StoreListOptions): AsyncIterable<StoreEntry>;
  /**
   * Applies all changes, or none if a check does not hold.
   *
   * @param mutations The changes, in order.
   * @param checks The conditions.
   * @returns Whether the checks held.
   * @throws {StoreError} If the store can't be written to.
   * @throws {ValueError} Or another error, if the store can't keep a key or a value, whether or not
   * the checks hold; nothing is written then.
   *
   * @example
   * ```ts
   * import { MemoryStore } from "@greenroom/matrix";
   * import { assertEquals } from "@std/assert";
   *
   * const store = new MemoryStore();
   * const counter = ["counter"];
   * const [entry] = await store.getMany([counter]);
   * const isFirst = await store.commit(
   *   [{ type: "set", key: counter, value: 1 }],
   *   [{ key: counter, versionstamp: entry?.versionstamp ?? null }], // not changed since it was read
   * );
   * assertEquals(isFirst, true);
   * ```
   */
  commit(mutations: readonly StoreMutation[], checks?: readonly StoreCheck[]): Promise<boolean>;
  /**
   * Takes a lock. It does not affect commits: it shows at once that another process has ended, so
   * that a client need not wait for the end of its lease. Stores that several processes of one
   * machine share can implement it with locks that the operating system releases when the process
   * ends, like file locks. Other stores leave it out.
   *
   * @param key The name of the lock.
   * @returns The lock; undefined if it is taken, in this process or another.
   * @throws {StoreError} If locks are impossible; its message says why.
   *
   * @example
   * ```ts
   * import type { Store } from "@greenroom/matrix";
   *
   * export async function alone(store: Store, work: () => Promise<void>): Promise<boolean> {
   *   const lock = await store.lock?.(["work"]);
   *   if (lock === undefined) return false; // another process has it, or the store has no locks
   *   await work();
   *   lock.release();
   *   return true;
   * }
   * ```
   */
  lock?(key: StoreKey): Promise<StoreLock | undefined>;
  /**
   * Closes the store: files and connections. It can't be used afterwards.
   *
   * @example
   * ```ts
   * import { MemoryStore } from "@greenroom/matrix";
   *
   * const store = new MemoryStore();
   * store.close();
   * ```
   */
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

const ENCODER = new TextEncoder();

/*
 * Each part is its UTF-8, which orders text by code point, and ends with a zero byte. A zero in the text has
 * 0xFF behind it, which no UTF-8 contains: so it comes after the end of a part, whatever the next one begins
 * with. A surrogate without its other half gets the three bytes that UTF-8 would have for it if it had any:
 * they begin with 0xED and something from 0xA0 on, and are in their place between U+D7FF and U+E000.
 */

const KEY_DECODER = new TextDecoder("utf-8", { ignoreBOM: true });
const END = 0;
const ITSELF = 0xff;
const SURROGATE = 0xed;
const FIRST_OF_SURROGATES = 0xa0;

/** Encodes a key; two keys compare as their bytes do. The keys below a key begin with its bytes. */
export function encodeKey(key: StoreKey): Uint8Array {
  let text = "";
  let zeros = false;
  for (const part of key) {
    text += part + "\0"; // which keeps halves of a pair apart that are in two parts
    zeros ||= part.includes("\0");
  }
  if (!zeros && text.isWellFormed()) return ENCODER.encode(text);
  return Uint8Array.from(key.flatMap((part) => [...Array.from(part, characterBytes).flat(), END]));
}

/** The end of the range below a key: no key that begins with these bytes comes after it. */
export function endOfRange(encoded: Uint8Array): Uint8Array {
  const end = new Uint8Array(encoded.length + 1);
  end.set(encoded);
  end[encoded.length] = ITSELF; // more than any part begins with
  return end;
}

/**
 * Decodes a key.
 *
 * @throws {StoreFormatError} If the bytes are not of {@link encodeKey}.
 */
export function decodeKey(bytes: Uint8Array): StoreKey {
  const plain = bytes.at(-1) === END && !bytes.includes(ITSELF) && !bytes.includes(SURROGATE);
  // At once: each call takes a microsecond.
  if (plain) return KEY_DECODER.decode(bytes.subarray(0, -1)).split("\0");
  const parts: string[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = endOfPart(bytes, start);
    parts.push(decodePart(bytes.subarray(start, end)));
    start = end + 1;
  }
  return parts;
}

function characterBytes(character: string): number[] {
  if (character === "\0") return [0, ITSELF];
  if (character.isWellFormed()) return [...ENCODER.encode(character)];
  const unit = character.charCodeAt(0);
  return [SURROGATE, 0x80 | (unit >> 6 & 0x3f), 0x80 | (unit & 0x3f)];
}

function endOfPart(bytes: Uint8Array, start: number): number {
  let end = bytes.indexOf(END, start);
  while (end >= 0 && bytes[end + 1] === ITSELF) end = bytes.indexOf(END, end + 2);
  if (end >= 0) return end;
  throw new StoreFormatError("Cannot read a key of the store: it is damaged; restore the store from a copy");
}

function decodePart(bytes: Uint8Array): string {
  let text = "";
  let start = 0;
  for (let at = bytes.indexOf(SURROGATE); at >= 0; at = bytes.indexOf(SURROGATE, at + 1)) {
    const [second = 0, third = 0] = bytes.subarray(at + 1, at + 3);
    if (second < FIRST_OF_SURROGATES) continue;
    text += decodeText(bytes.subarray(start, at));
    text += String.fromCharCode(0xd000 | (second & 0x3f) << 6 | third & 0x3f);
    start = at + 3;
  }
  return text + decodeText(bytes.subarray(start));
}

function decodeText(bytes: Uint8Array): string {
  if (!bytes.includes(END)) return KEY_DECODER.decode(bytes);
  return KEY_DECODER.decode(bytes.filter((byte) => byte !== ITSELF)); // nothing else has that byte
}
