/**
 * A store that encrypts the values of another, and the cryptography of that: keys derived from the user's,
 * and sealed records.
 *
 * Over 300 lines because what a seal is and where it is stored have to fit each other.
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import { StoreError, StoreFormatError, StoreKeyError } from "../../errors/store_error.ts";
import {
  decodeValue,
  encodeValue,
  type Store,
  type StoreCheck,
  type StoreEntry,
  type StoreKey,
  type StoreListOptions,
  type StoreLock,
  type StoreMutation,
} from "../base/mod.ts";
import { isDeviceKey, isSealKey, kindOf, sealKey } from "../device/mod.ts";

/** How many values are decrypted at once when a prefix is listed. */
const PAGE = 64;

/** The record by which a key is checked. */
interface Seal {
  readonly format: number;
  readonly salt: Uint8Array<ArrayBuffer>;
  /** An empty value, sealed. */
  readonly proof: Uint8Array;
}

/** Only {@link SealedStore.open} has it: programs without types must not call the constructor. */
const OPENED = Symbol("opened");

/**
 * Encrypts the values that it puts into another store, so that a stolen file or database can't be
 * read.
 *
 * Each value is encrypted and authenticated with AES-256-GCM, together with its key and the version
 * of the format: a value that was changed, or moved to another key, does not open. Not hidden are
 * the keys, and so the IDs of the user, device, rooms, members and sessions, and the types of state
 * events; the length of values; when they change. Not noticed is an old record that was put back,
 * or one that was removed.
 *
 * The key is 32 random bytes, made once with `crypto.getRandomValues(new Uint8Array(32))` and kept where
 * secrets are kept, not beside the store; never a passphrase, nor its hash. Without it, the store is lost.
 * Each store has its own key, derived from it with HKDF-SHA-256 and a salt that is kept in the store. As
 * nonces are random, no more than 2³² values may be sealed with one key (a hundred a second for 16 months).
 * Long before, copy the devices into a new store with {@linkcode exportDevice} and {@linkcode importDevice}.
 * That is also how to change the key, and how to seal a store that is not sealed.
 *
 * @example
 * ```ts
 * import { MemoryStore, SealedStore } from "@greenroom/matrix";
 *
 * const key = crypto.getRandomValues(new Uint8Array(32)); // read it from where your secrets are
 * const inner = new MemoryStore(); // or a KvStore
 * await using store = await SealedStore.open(inner, key);
 * await store.commit([{ type: "set", key: ["greeting", "en"], value: "hello" }]);
 *
 * const [entry] = await store.getMany([["greeting", "en"]]);
 * console.assert(entry?.value === "hello");
 * const [sealed] = await inner.getMany([["greeting", "en"]]);
 * console.assert(sealed?.value instanceof Uint8Array);
 * ```
 */
export class SealedStore implements Store {
  readonly #inner: Store;
  readonly #key: CryptoKey;
  /** Settles when the last commit was passed to the inner store. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(inner: Store, key: CryptoKey, opened: typeof OPENED) {
    if (opened !== OPENED) {
      throw new ValueError(
        "Cannot make a SealedStore: it has to be opened; write await SealedStore.open(inner, key)",
      );
    }
    this.#inner = inner;
    this.#key = key;
  }

  /**
   * Opens a store that is empty, or was sealed with the same key.
   *
   * @param inner The store for the sealed values. It is closed with this one, but not if this call
   * fails.
   * @param key 32 random bytes, which are copied; or a `CryptoKey` made of such bytes for `"HKDF"`,
   * with the usage `"deriveKey"`.
   * @throws {ValueError} If the key is neither.
   * @throws {StoreKeyError} If the store was sealed with another key, or has records that are not
   * sealed. It is unchanged.
   * @throws {StoreFormatError} If a newer version of Greenroom has sealed it. It is unchanged.
   *
   * @example
   * ```ts
   * import { MemoryStore, SealedStore } from "@greenroom/matrix";
   *
   * const key = crypto.getRandomValues(new Uint8Array(32)); // read it from where your secrets are
   * await using store = await SealedStore.open(new MemoryStore(), key);
   * await store.commit([{ type: "set", key: ["greeting", "en"], value: "hello" }]);
   * ```
   */
  static async open(inner: Store, key: Uint8Array | CryptoKey): Promise<SealedStore> {
    const material = await keyMaterial(key);
    for (;;) {
      const [entry] = await inner.getMany([sealKey]);
      if (entry !== undefined) return new SealedStore(inner, await fittingKey(material, entry.value), OPENED);
      await assertEmpty(inner);
      const salt = newSalt();
      const own = await storeKey(material, salt);
      const proof = await sealRecord(own, sealKey, new Uint8Array());
      const value: Seal = { format: SEALED_FORMAT, salt, proof };
      const unsealed = { key: sealKey, versionstamp: null };
      if (await inner.commit([{ type: "set", key: sealKey, value }], [unsealed])) {
        return new SealedStore(inner, own, OPENED);
      } // another process was faster, perhaps with the same key
    }
  }

  /**
   * Reads several values; `undefined` where there is none.
   *
   * @throws {StoreKeyError} If a value was changed or moved.
   */
  async getMany(keys: readonly StoreKey[]): Promise<(StoreEntry | undefined)[]> {
    const entries = await this.#inner.getMany(keys);
    return await Promise.all(keys.map((key, index) => {
      const entry = entries[index];
      return entry === undefined || isSealKey(key) ? undefined : this.#open(key, entry);
    }));
  }

  /**
   * Reads the values below a prefix, without the one at it, in the order of the keys. Commits made
   * meanwhile are seen where their keys are still to come.
   *
   * @throws {StoreKeyError} If a value was changed or moved.
   */
  async *list(
    prefix: StoreKey,
    { after, limit = Infinity }: StoreListOptions = {},
  ): AsyncGenerator<StoreEntry> {
    let page: Promise<StoreEntry>[] = [];
    let count = 0;
    try {
      // One more, which may be the record of the seal.
      for await (const entry of this.#inner.list(prefix, { after, limit: limit + 1 })) {
        if (isSealKey(entry.key)) continue;
        if (++count > limit) break;
        const opening = this.#open(entry.key, entry);
        opening.catch(() => {}); // reported when it is yielded
        page.push(opening);
        if (page.length < PAGE) continue;
        yield* page;
        page = [];
      }
      yield* page;
    } finally {
      await Promise.allSettled(page); // nothing continues after the reader has stopped
    }
  }

  /**
   * Applies all changes, or none if a check fails. Commits are applied in the order of the calls.
   *
   * @throws {ValueError} If a value is not plain data, or a key is the store's own; nothing is
   * written.
   */
  async commit(mutations: readonly StoreMutation[], checks: readonly StoreCheck[] = []): Promise<boolean> {
    // Before anything is awaited: the caller may change its values then.
    const changes = mutations.map((mutation) => this.#encode(mutation));
    const conditions = [...checks];
    const before = this.#turn;
    const handedOn = Promise.all(changes).then(async (sealed) => {
      await before;
      // Wrapped: the next commit does not wait for its result.
      return { held: this.#inner.commit(sealed, conditions) };
    });
    this.#turn = handedOn.then(({ held }) => void held.catch(() => {}), () => before);
    const { held } = await handedOn;
    return await held;
  }

  /**
   * Takes a lock of the inner store; its note is not sealed.
   *
   * @throws {StoreError} If that store has no locks.
   */
  async lock(key: StoreKey): Promise<StoreLock | undefined> {
    if (this.#inner.lock !== undefined) return await this.#inner.lock(key);
    throw new StoreError("Cannot lock the device: the store inside the seal has no locks; use one that has");
  }

  /** Closes the inner store after the operations under way. */
  async close(): Promise<void> {
    await this.#turn;
    await this.#inner.close();
  }

  /** Closes the inner store. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #encode(mutation: StoreMutation): StoreMutation | Promise<StoreMutation> {
    const { key } = mutation;
    if (isSealKey(key)) {
      throw new ValueError("Cannot change the record of the seal: it is the store's own; use another key");
    }
    if (mutation.type === "delete") return mutation;
    const value = new Uint8Array(encodeValue(mutation.value));
    return sealRecord(this.#key, key, value).then((value) => ({ type: "set", key, value }));
  }

  async #open(key: StoreKey, { value, versionstamp }: StoreEntry): Promise<StoreEntry> {
    return { key, value: decodeValue(await openRecord(this.#key, key, value)), versionstamp };
  }
}

async function storeKey(material: CryptoKey, salt: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return await sealingKey(material, salt, "records of a store");
}

/** Derives the key of a sealed store, and checks it. */
async function fittingKey(material: CryptoKey, value: unknown): Promise<CryptoKey> {
  const { format, salt, proof } = value as Partial<Seal>; // open() wrote it, of this version or another
  if (format !== SEALED_FORMAT || !(salt instanceof Uint8Array)) {
    throw new StoreFormatError(
      "Cannot open the store: its seal has a format that is not known; use the version of Greenroom that sealed it, or a newer one",
    );
  }
  const key = await storeKey(material, salt);
  try {
    await openRecord(key, sealKey, proof);
  } catch (cause) {
    throw new StoreKeyError("Cannot open the store: it was sealed with another key; use that one", { cause });
  }
  return key;
}

async function assertEmpty(inner: Store): Promise<void> {
  const [root] = await inner.getMany([[]]);
  let found = root !== undefined;
  if (!found) {
    for await (const _ of inner.list([])) {
      found = true;
      break;
    }
  }
  if (!found) return;
  throw new StoreKeyError(
    "Cannot seal the store: it holds records that are not sealed; copy each device with exportDevice() and importDevice() into a sealed store in a new place",
  );
}

/** The length of the user's key, in bytes. */
const KEY_BYTES = 32;

/** The length of a salt, in bytes. */
const SALT_BYTES = 32;

/** Makes a salt, which is used for one key only. */
export function newSalt(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(SALT_BYTES));
}

/**
 * Imports the user's key, from which other keys are derived.
 *
 * @param key 32 random bytes, or a `CryptoKey` for HKDF that may derive keys.
 * @throws {ValueError} If it is neither.
 */
export async function keyMaterial(key: Uint8Array | CryptoKey): Promise<CryptoKey> {
  if (key instanceof CryptoKey) {
    if (key.algorithm.name === "HKDF" && key.usages.includes("deriveKey")) return key;
    throw new ValueError(
      'Cannot seal with this CryptoKey: it does not derive keys; import 32 random bytes for "HKDF" with the usage "deriveKey"',
    );
  }
  if (!(key instanceof Uint8Array) || key.length !== KEY_BYTES) {
    const state = key instanceof Uint8Array ? `it has ${key.length} bytes` : "it is no Uint8Array";
    throw new ValueError(
      `Cannot seal with this key: ${state}; make one of ${KEY_BYTES} random bytes, never of a passphrase`,
    );
  }
  const extractable = false;
  return await crypto.subtle.importKey("raw", new Uint8Array(key), "HKDF", extractable, ["deriveKey"]);
}

/**
 * Derives a key for AES-256-GCM with HKDF-SHA-256; keys for different purposes or of different
 * salts have nothing in common.
 *
 * @param material What {@link keyMaterial} gave.
 * @param salt What {@link newSalt} gave.
 * @param purpose What the key is for.
 */
export async function sealingKey(
  material: CryptoKey,
  salt: Uint8Array<ArrayBuffer>,
  purpose: string,
): Promise<CryptoKey> {
  const info = new TextEncoder().encode(`greenroom: ${purpose}`);
  const hkdf = { name: "HKDF", hash: "SHA-256", salt, info };
  const aes = { name: "AES-GCM", length: 256 };
  const extractable = false;
  return await crypto.subtle.deriveKey(hkdf, material, aes, extractable, ["encrypt", "decrypt"]);
}

/** The version of the format of records, which is sealed with them. */
const SEALED_FORMAT = 1;

const NONCE_BYTES = 12;
const HEAD_BYTES = 1 + NONCE_BYTES;
const TAG_BYTES = 16;

/**
 * The authenticated data of a record, which binds it to its key; as JSON, so that different keys
 * differ.
 */
function boundTo(key: StoreKey, format: number): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(["greenroom record", format, ...key]));
}

/**
 * Seals a value as a format version, a nonce, and the ciphertext of AES-256-GCM.
 *
 * By WebCrypto: for 500 bytes its asynchronous calls take as long as the synchronous ones of
 * `node:crypto` (15 to 30 µs each, measured on Deno 2.9.6), for 50 kB a fifth. A commit of three
 * such records takes 0.1 to 0.15 ms more, beside the 0.25 to 0.3 ms of Deno KV's file.
 *
 * @param sealing The key that seals.
 * @param key The key of the record.
 * @param value The encoded value.
 */
async function sealRecord(
  sealing: CryptoKey,
  key: StoreKey,
  value: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const cipher = { name: "AES-GCM", iv, additionalData: boundTo(key, SEALED_FORMAT) };
  const sealed = new Uint8Array(await crypto.subtle.encrypt(cipher, sealing, value));
  const record = new Uint8Array(HEAD_BYTES + sealed.length);
  record[0] = SEALED_FORMAT;
  record.set(iv, 1);
  record.set(sealed, HEAD_BYTES);
  return record;
}

/**
 * Opens a record of {@link sealRecord}.
 *
 * @returns The encoded value.
 * @throws {StoreKeyError} If it is malformed, or sealed with another key or for another record.
 */
async function openRecord(sealing: CryptoKey, key: StoreKey, record: unknown): Promise<Uint8Array> {
  if (!(record instanceof Uint8Array) || record.length < HEAD_BYTES + TAG_BYTES) throw notOurs(key);
  if (record[0] !== SEALED_FORMAT) throw notOurs(key);
  // A copy: a store may hand out its own value, which must not change meanwhile.
  const bytes = new Uint8Array(record);
  const iv = bytes.subarray(1, HEAD_BYTES);
  const cipher = { name: "AES-GCM", iv, additionalData: boundTo(key, SEALED_FORMAT) };
  try {
    return new Uint8Array(await crypto.subtle.decrypt(cipher, sealing, bytes.subarray(HEAD_BYTES)));
  } catch (cause) {
    throw notOurs(key, { cause });
  }
}

function notOurs(key: StoreKey, options?: ErrorOptions): StoreKeyError {
  const kind = isDeviceKey(key) ? kindOf(key.slice(2)) : "of no device";
  return new StoreKeyError(
    `Cannot open a record (${kind}): it was not sealed for its place with this store's key, or was changed since; restore the store from a copy`,
    options,
  );
}
