/**
 * The format of a copy: bytes in chunks, each of which is known to be right before it is looked at.
 *
 * A copy begins with eight bytes that name the format, one with its version, one that tells whether it is sealed, and a salt of
 * 32. Chunks follow: four bytes with the length, the highest bit of which marks the last, and as many covered bytes.
 *
 * @module
 */

import { StoreFormatError, StoreKeyError } from "../../errors/store_error.ts";
import type { ByteReader } from "./device_copy_bytes.ts";
import { type ChunkCover, damaged, HashCover, join, SealCover } from "./device_copy_cover.ts";
import { newSalt } from "../sealed/sealed_key.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const MAGIC = new TextEncoder().encode("GRDEVICE");
const VERSION = 1;
const CLEAR = 0;
const SEALED = 1;
const SALT_AT = MAGIC.length + 2;
const PREAMBLE_BYTES = SALT_AT + 32;

/** How many bytes a chunk has, before it is covered; the last may have fewer. */
const CHUNK_BYTES = 65_536;
const LAST = 2 ** 31;

/** Makes a copy of bytes. */
export class ChunkWriter {
  /** What the copy begins with. */
  readonly preamble: Bytes;
  readonly #cover: ChunkCover;
  #rest: Uint8Array[] = [];
  #size = 0;

  private constructor(preamble: Bytes, cover: ChunkCover) {
    this.preamble = preamble;
    this.#cover = cover;
  }

  /**
   * Begins a copy.
   *
   * @param key What seals it, if anything does.
   * @throws {ValueError} If the key is none.
   */
  static async begin(key: Uint8Array | CryptoKey | undefined): Promise<ChunkWriter> {
    const salt = newSalt();
    const mode = key === undefined ? CLEAR : SEALED;
    const preamble = join([MAGIC, new Uint8Array([VERSION, mode]), salt]);
    const cover = key === undefined ? new HashCover(preamble) : await SealCover.of(key, preamble, salt);
    return new ChunkWriter(preamble, cover);
  }

  /** Adds bytes, and gives what is full of it. */
  async *add(bytes: Uint8Array): AsyncGenerator<Bytes> {
    this.#rest.push(bytes);
    this.#size += bytes.length;
    if (this.#size <= CHUNK_BYTES) return; // the last chunk is not empty
    const all = join(this.#rest);
    let start = 0;
    for (; all.length - start > CHUNK_BYTES; start += CHUNK_BYTES) {
      yield await this.#chunk(all.subarray(start, start + CHUNK_BYTES), 0);
    }
    this.#rest = [all.slice(start)];
    this.#size = all.length - start;
  }

  /** Gives the last chunk. */
  async end(): Promise<Bytes> {
    return await this.#chunk(join(this.#rest), LAST);
  }

  async #chunk(body: Bytes, last: number): Promise<Bytes> {
    const head = new Uint8Array(4);
    new DataView(head.buffer).setUint32(0, last + body.length);
    return join([head, await this.#cover.cover(head, body)]);
  }
}

/** Reads a copy. */
export class ChunkReader {
  readonly #bytes: ByteReader;
  readonly #cover: ChunkCover;

  private constructor(bytes: ByteReader, cover: ChunkCover) {
    this.#bytes = bytes;
    this.#cover = cover;
  }

  /**
   * Reads the beginning of a copy.
   *
   * @param bytes The copy.
   * @param key What it is sealed with, if it is.
   * @throws {StoreFormatError} If it is no copy, or one of a newer version.
   * @throws {StoreKeyError} If it is sealed and there is no key, or the other way round.
   * @throws {ValueError} If the key is none.
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
      throw new StoreKeyError("Cannot read the copy: it is not sealed; leave the key out if that is right");
    }
    if (mode === SEALED && key === undefined) {
      throw new StoreKeyError("Cannot read the copy: it is sealed; give the key it was made with");
    }
    const cover = key === undefined
      ? new HashCover(preamble)
      : await SealCover.of(key, preamble, preamble.slice(SALT_AT));
    return new ChunkReader(bytes, cover);
  }

  /**
   * Gives the bytes of the copy, chunk by chunk. It ends only if the copy does, as it was written.
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
      yield await this.#cover.uncover(head, await this.#bytes.read(length + this.#cover.overhead));
    }
    if (!await this.#bytes.isAtEnd()) throw damaged();
  }
}
