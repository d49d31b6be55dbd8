/**
 * What encrypts files and secrets: AES in counter mode over streams in blocks, with keys that PBKDF2 makes of
 * passphrases.
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";

/**
 * The size of a block, in bytes: a multiple of AES's, and large enough that the cost of a call does
 * not matter.
 */
export const BLOCK_SIZE = 1 << 18;

/**
 * Copies what a stream gives into blocks, so that tiny parts cost no more than large ones, and
 * parts that their giver uses again do no harm.
 */
export class BlockReader {
  readonly #reader: ReadableStreamDefaultReader<unknown>;
  #rest: Uint8Array = new Uint8Array();

  /** @param stream The stream to read; it is locked. */
  constructor(stream: ReadableStream<unknown>) {
    this.#reader = stream.getReader();
  }

  /**
   * Reads the next block. All but the last are of {@link BLOCK_SIZE} bytes.
   *
   * @returns The block, which is the caller's; undefined at the end.
   * @throws {ValueError} If the stream gives something else than bytes; it is cancelled then.
   */
  async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    let block: Uint8Array<ArrayBuffer> | undefined;
    let filled = 0;
    while (filled < BLOCK_SIZE && await this.#fill()) {
      block ??= new Uint8Array(BLOCK_SIZE);
      const part = this.#rest.subarray(0, BLOCK_SIZE - filled);
      block.set(part, filled);
      filled += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
    return block?.subarray(0, filled);
  }

  /** Lets the stream go. */
  async cancel(reason: unknown): Promise<void> {
    await this.#reader.cancel(reason);
  }

  /** Returns whether there are bytes to copy; asks for some if there are none. */
  async #fill(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#reader.read();
      if (done) return false;
      if (!(value instanceof Uint8Array)) {
        const error = new ValueError("Cannot use the stream: it must give Uint8Arrays");
        this.#reader.cancel(error).catch(() => {});
        throw error;
      }
      this.#rest = value;
    }
    return true;
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Makes a first counter block, of 16 random bytes. Bit 63 is cleared, as the specification has it
 * for implementations that count in 32 or 64 bits.
 */
export function newCounter(): Bytes {
  const counter = crypto.getRandomValues(new Uint8Array(16));
  counter[8] = (counter[8] ?? 0) & 0x7f;
  return counter;
}

/** Keys are never needed as bytes again. */
const EXTRACTABLE = false;

/**
 * AES in counter mode: encrypts or decrypts, which is the same, from the beginning on.
 *
 * By WebCrypto: it is at least twice as fast as `node:crypto`, does not block the event loop, and
 * counts in 64 bits, whereas `node:crypto` carries into the other half of the counter block.
 */
export class CounterMode {
  readonly #key: Promise<CryptoKey>;
  readonly #counter: Bytes;
  readonly #start: bigint;
  #blocks = 0n;

  /**
   * @param key The key: 32 bytes.
   * @param iv The first counter block: 16 bytes, of which the last eight are counted up, and wrap
   *   around by themselves.
   */
  constructor(key: Bytes, iv: Bytes) {
    this.#key = crypto.subtle.importKey("raw", key, "AES-CTR", EXTRACTABLE, ["encrypt"]);
    this.#key.catch(() => {}); // apply() fails with it
    this.#counter = iv.slice();
    this.#start = new DataView(iv.buffer, iv.byteOffset).getBigUint64(8);
  }

  /** Encrypts or decrypts the next part. All parts but the last must be a multiple of 16 bytes. */
  async apply(part: Bytes): Promise<Bytes> {
    new DataView(this.#counter.buffer).setBigUint64(8, this.#start + this.#blocks); // modulo 2^64
    this.#blocks += BigInt(Math.ceil(part.length / 16));
    const algorithm = { name: "AES-CTR", counter: this.#counter.slice(), length: 64 };
    return new Uint8Array(await crypto.subtle.encrypt(algorithm, await this.#key, part));
  }
}

/** More would keep the processor busy for longer than about ten seconds. */
export const MAX_ITERATIONS = 10_000_000;

/**
 * Checks that text can be a passphrase.
 *
 * @throws {ValueError} If it is empty or no well-formed text.
 */
export function assertPassphrase(passphrase: string): void {
  if (typeof passphrase === "string" && passphrase !== "" && passphrase.isWellFormed()) return;
  throw new ValueError("Cannot use the passphrase: it must be text, and not empty");
}

/**
 * Makes bits from a passphrase.
 *
 * @returns The bits, which are the caller's to wipe.
 * @throws {ValueError} If it can't be a passphrase.
 */
export async function hashPassphrase(
  passphrase: string,
  { salt, iterations, bits }: {
    /** Has the same passphrase give others each time. */
    readonly salt: Uint8Array<ArrayBuffer>;
    /** How often it is hashed. */
    readonly iterations: number;
    /** How many bits are wanted. */
    readonly bits: number;
  },
): Promise<Uint8Array<ArrayBuffer>> {
  assertPassphrase(passphrase);
  const bytes = new TextEncoder().encode(passphrase);
  const material = await crypto.subtle.importKey("raw", bytes, "PBKDF2", EXTRACTABLE, ["deriveBits"]);
  bytes.fill(0);
  const algorithm = { name: "PBKDF2", hash: "SHA-512", salt, iterations };
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, material, bits));
}
