/**
 * The format of a copy: bytes in chunks, each verified before its content is used.
 *
 * A copy begins with eight bytes that name the format, one with its version, one that says whether it is
 * sealed, and a salt of 32. Chunks follow: four bytes with the length, whose highest bit marks the last
 * chunk, and as many protected bytes. Over 300 lines because what writes and what reads agree on that.
 *
 * @module
 */

import { asksFor } from "../../errors/hints.ts";
import { concat } from "@std/bytes/concat";
import { StoreFormatError, StoreKeyError } from "../../errors/store_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { keyMaterial, newSalt, sealingKey } from "../sealed/sealed.ts";

/** Reads exact numbers of bytes from a stream. */
export class ByteReader {
  readonly #reader: ReadableStreamDefaultReader<unknown>;
  readonly #signal: AbortSignal | undefined;
  #rest: Uint8Array = new Uint8Array();
  #count = 0;

  /**
   * @param stream The stream, which is locked.
   * @param signal Aborts a pending read too.
   */
  constructor(stream: ReadableStream<unknown>, signal: AbortSignal | undefined) {
    this.#reader = stream.getReader();
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort, { once: true });
    if (signal?.aborted) this.#abort();
  }

  /** The number of bytes read. */
  get count(): number {
    return this.#count;
  }

  /**
   * Reads exactly as many bytes.
   *
   * @throws {StoreFormatError} If the stream ends before.
   * @throws {ValueError} If the stream has chunks that are no bytes.
   */
  async read(length: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      if (!await this.#fill()) {
        throw new StoreFormatError("Cannot read the copy: its end is missing; make it again");
      }
      const part = this.#rest.subarray(0, length - filled);
      bytes.set(part, filled);
      filled += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
    this.#count += length;
    return bytes;
  }

  /** Returns whether the stream has ended. */
  async isAtEnd(): Promise<boolean> {
    return !await this.#fill();
  }

  /** Cancels the stream. */
  async cancel(reason: unknown): Promise<void> {
    this.#signal?.removeEventListener("abort", this.#abort);
    await this.#reader.cancel(reason).catch(() => {}); // an earlier error is the one to report
  }

  /** A pending read then sees the end of the stream. */
  readonly #abort = () => void this.#reader.cancel(this.#signal?.reason).catch(() => {});

  async #fill(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#reader.read();
      this.#signal?.throwIfAborted();
      if (done) return false;
      if (!(value instanceof Uint8Array)) {
        throw new ValueError("Cannot read the copy: its stream must give Uint8Arrays");
      }
      this.#rest = value;
    }
    return true;
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

const MAGIC = new TextEncoder().encode("GRDEVICE");
const VERSION = 1;
const CLEAR = 0;
const SEALED = 1;
const SALT_AT = MAGIC.length + 2;
const PREAMBLE_BYTES = SALT_AT + 32;

/** The bytes of a chunk before it is protected; the last may have fewer. */
const CHUNK_BYTES = 65_536;
const LAST = 2 ** 31;

/** Writes a copy. */
export class ChunkWriter {
  /** What the copy begins with. */
  readonly preamble: Bytes;
  readonly #protection: ChunkProtection;
  #rest: Uint8Array[] = [];
  #size = 0;

  private constructor(preamble: Bytes, protection: ChunkProtection) {
    this.preamble = preamble;
    this.#protection = protection;
  }

  /**
   * Begins a copy.
   *
   * @param key The key that seals it, if any.
   * @throws {ValueError} If the key has the wrong form.
   */
  static async begin(key: Uint8Array | CryptoKey | undefined): Promise<ChunkWriter> {
    const salt = newSalt();
    const mode = key === undefined ? CLEAR : SEALED;
    const preamble = concat([MAGIC, new Uint8Array([VERSION, mode]), salt]);
    const protection = key === undefined ? new HashChain(preamble) : await SealChain.of(key, preamble, salt);
    return new ChunkWriter(preamble, protection);
  }

  /** Adds bytes, and yields the chunks that are full. */
  async *add(bytes: Uint8Array): AsyncGenerator<Bytes> {
    this.#rest.push(bytes);
    this.#size += bytes.length;
    if (this.#size <= CHUNK_BYTES) return; // the last chunk is not empty
    const all = concat(this.#rest);
    let start = 0;
    for (; all.length - start > CHUNK_BYTES; start += CHUNK_BYTES) {
      yield await this.#chunk(all.subarray(start, start + CHUNK_BYTES), 0);
    }
    this.#rest = [all.slice(start)];
    this.#size = all.length - start;
  }

  /** Returns the last chunk. */
  async end(): Promise<Bytes> {
    return await this.#chunk(concat(this.#rest), LAST);
  }

  async #chunk(body: Bytes, last: number): Promise<Bytes> {
    const head = new Uint8Array(4);
    new DataView(head.buffer).setUint32(0, last + body.length);
    return concat([head, await this.#protection.protect(head, body)]);
  }
}

/** Reads a copy. */
export class ChunkReader {
  readonly #bytes: ByteReader;
  readonly #protection: ChunkProtection;

  private constructor(bytes: ByteReader, protection: ChunkProtection) {
    this.#bytes = bytes;
    this.#protection = protection;
  }

  /**
   * Reads the beginning of a copy.
   *
   * @param bytes The copy.
   * @param key The key that it is sealed with, if any.
   * @throws {StoreFormatError} If it is not a copy, or one of a newer version.
   * @throws {StoreKeyError} If it is sealed and there is no key, or the other way round.
   * @throws {ValueError} If the key has the wrong form.
   */
  static async begin(bytes: ByteReader, key: Uint8Array | CryptoKey | undefined): Promise<ChunkReader> {
    const preamble = await bytes.read(PREAMBLE_BYTES);
    if (MAGIC.some((byte, index) => byte !== preamble[index])) {
      throw new StoreFormatError("Cannot read the copy: it is none; use what exportDevice() gave");
    }
    const [version, mode] = preamble.subarray(MAGIC.length);
    if (version !== VERSION || (mode !== CLEAR && mode !== SEALED)) {
      throw new StoreFormatError(
        "Cannot read the copy: its format is not known; use the version of Greenroom that made it, or a newer one",
      );
    }
    if (mode === CLEAR && key !== undefined) {
      const message = "Cannot read the copy: it is not sealed; leave the key out if that is right";
      throw asksFor(new StoreKeyError(message), "no key");
    }
    if (mode === SEALED && key === undefined) {
      const message = "Cannot read the copy: it is sealed; give the key it was made with";
      throw asksFor(new StoreKeyError(message), "the key of the copy");
    }
    const protection = key === undefined
      ? new HashChain(preamble)
      : await SealChain.of(key, preamble, preamble.slice(SALT_AT));
    return new ChunkReader(bytes, protection);
  }

  /**
   * Yields the bytes of the copy, chunk by chunk. Ends only where the copy ends as it was written.
   *
   * @throws {StoreFormatError} If the copy is damaged, cut off, or goes on after its end.
   */
  async *read(): AsyncGenerator<Bytes> {
    for (let isLast = false; !isLast;) {
      const head = await this.#bytes.read(4);
      const word = new DataView(head.buffer).getUint32(0);
      isLast = word >= LAST;
      const length = isLast ? word - LAST : word;
      if (length > CHUNK_BYTES) throw damaged();
      yield await this.#protection.open(head, await this.#bytes.read(length + this.#protection.overhead));
    }
    if (!await this.#bytes.isAtEnd()) throw damaged();
  }
}

/** Protects one chunk after the other. Each depends on all before it, so none can be moved. */
interface ChunkProtection {
  /** How many bytes longer a protected chunk is. */
  readonly overhead: number;
  /** Protects the next chunk. */
  protect(head: Bytes, body: Bytes): Promise<Bytes>;
  /**
   * Verifies the next chunk, and returns its content.
   *
   * @throws {StoreKeyError} If it is the first, and sealed with another key.
   * @throws {StoreFormatError} If it is not the chunk that was protected.
   */
  open(head: Bytes, chunk: Bytes): Promise<Bytes>;
}

/** Appends to each chunk the SHA-256 of it and of all before it. */
class HashChain implements ChunkProtection {
  /** The length of a SHA-256. */
  readonly overhead = 32;
  #before: Bytes;

  /** @param preamble The beginning of the copy. */
  constructor(preamble: Bytes) {
    this.#before = preamble;
  }

  /** Appends the hash. */
  async protect(head: Bytes, body: Bytes): Promise<Bytes> {
    return concat([body, await this.#next(head, body)]);
  }

  /** Removes the hash, if it is right. */
  async open(head: Bytes, chunk: Bytes): Promise<Bytes> {
    const end = chunk.length - this.overhead;
    const body = chunk.subarray(0, end);
    const hash = await this.#next(head, body);
    if (chunk.subarray(end).some((byte, index) => byte !== hash[index])) throw damaged();
    return body;
  }

  async #next(head: Bytes, body: Bytes): Promise<Bytes> {
    const input = concat([this.#before, head, body]);
    return this.#before = new Uint8Array(await crypto.subtle.digest("SHA-256", input));
  }
}

/**
 * Encrypts each chunk with AES-256-GCM. The key is used for one copy only, so that nonces may
 * count.
 */
class SealChain implements ChunkProtection {
  /** The length of an authentication tag. */
  readonly overhead = 16;
  readonly #key: CryptoKey;
  readonly #preamble: Bytes;
  #index = 0n;

  private constructor(key: CryptoKey, preamble: Bytes) {
    this.#key = key;
    this.#preamble = preamble;
  }

  /**
   * Derives the key.
   *
   * @param key The user's key.
   * @param preamble The beginning of the copy, which is bound to each chunk.
   * @param salt The part of it that is unique.
   * @throws {ValueError} If the key has the wrong form.
   */
  static async of(key: Uint8Array | CryptoKey, preamble: Bytes, salt: Bytes): Promise<SealChain> {
    return new SealChain(await sealingKey(await keyMaterial(key), salt, "copy of a device"), preamble);
  }

  /** Encrypts. */
  async protect(head: Bytes, body: Bytes): Promise<Bytes> {
    return new Uint8Array(await crypto.subtle.encrypt(this.#next(head), this.#key, body));
  }

  /** Decrypts. */
  async open(head: Bytes, chunk: Bytes): Promise<Bytes> {
    const first = this.#index === 0n;
    try {
      return new Uint8Array(await crypto.subtle.decrypt(this.#next(head), this.#key, chunk));
    } catch (cause) {
      if (!first) throw damaged({ cause });
      throw new StoreKeyError(
        "Cannot read the copy: its beginning does not open with this key; use the one it was made with, or another copy if that is it",
        { cause },
      );
    }
  }

  #next(head: Bytes): AesGcmParams {
    const iv = new Uint8Array(12);
    new DataView(iv.buffer).setBigUint64(4, this.#index++);
    return { name: "AES-GCM", iv, additionalData: concat([this.#preamble, head]) };
  }
}

/** The error for a copy that is not as it was written. */
export function damaged(options?: ErrorOptions): StoreFormatError {
  return new StoreFormatError("Cannot read the copy: it is damaged; make it again", options);
}
