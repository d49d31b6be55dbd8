/**
 * What shows that the chunks of a copy are whole and in order, and hides them if there is a key.
 *
 * @module
 */

import { StoreFormatError, StoreKeyError } from "../../errors/store_error.ts";
import { keyMaterial, sealingKey } from "../sealed/sealed_key.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Covers one chunk after the other; each depends on all that is in front of it. */
export interface ChunkCover {
  /** How many bytes longer a covered chunk is. */
  readonly overhead: number;
  /** Covers the next chunk. */
  cover(head: Bytes, body: Bytes): Promise<Bytes>;
  /**
   * Takes the cover off the next chunk.
   *
   * @throws {StoreKeyError} If it is the first, and sealed with another key.
   * @throws {StoreFormatError} If it is not the one that was covered.
   */
  uncover(head: Bytes, covered: Bytes): Promise<Bytes>;
}

/** Adds to each chunk the SHA-256 of it and of all before it. */
export class HashCover implements ChunkCover {
  /** The length of a SHA-256. */
  readonly overhead = 32;
  #before: Bytes;

  /** @param preamble What the copy begins with. */
  constructor(preamble: Bytes) {
    this.#before = preamble;
  }

  /** Adds the hash. */
  async cover(head: Bytes, body: Bytes): Promise<Bytes> {
    return join([body, await this.#next(head, body)]);
  }

  /** Takes the hash away, if it is right. */
  async uncover(head: Bytes, covered: Bytes): Promise<Bytes> {
    const end = covered.length - this.overhead;
    const body = covered.subarray(0, end);
    const hash = await this.#next(head, body);
    if (covered.subarray(end).some((byte, index) => byte !== hash[index])) throw damaged();
    return body;
  }

  async #next(head: Bytes, body: Bytes): Promise<Bytes> {
    const input = join([this.#before, head, body]);
    return this.#before = new Uint8Array(await crypto.subtle.digest("SHA-256", input));
  }
}

/** Encrypts each chunk with AES-256-GCM, under a key that is used for one copy only, so that nonces may count. */
export class SealCover implements ChunkCover {
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
   * @param key What the user gave.
   * @param preamble What the copy begins with, which is bound to each chunk.
   * @param salt The part of it that no other copy has.
   * @throws {ValueError} If the user's key is none.
   */
  static async of(key: Uint8Array | CryptoKey, preamble: Bytes, salt: Bytes): Promise<SealCover> {
    return new SealCover(await sealingKey(await keyMaterial(key), salt, "copy of a device"), preamble);
  }

  /** Encrypts. */
  async cover(head: Bytes, body: Bytes): Promise<Bytes> {
    return new Uint8Array(await crypto.subtle.encrypt(this.#next(head), this.#key, body));
  }

  /** Decrypts. */
  async uncover(head: Bytes, covered: Bytes): Promise<Bytes> {
    const first = this.#index === 0n;
    try {
      return new Uint8Array(await crypto.subtle.decrypt(this.#next(head), this.#key, covered));
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
    return { name: "AES-GCM", iv, additionalData: join([this.#preamble, head]) };
  }
}

/** Puts bytes together. */
export function join(parts: readonly Uint8Array[]): Bytes {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  return bytes;
}

/** What is thrown about a copy that is not what was written. */
export function damaged(options?: ErrorOptions): StoreFormatError {
  return new StoreFormatError("Cannot read the copy: it is damaged; make it again", options);
}
