/**
 * Streams in blocks of one size.
 *
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";

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

  /** Whether there are bytes to copy; asks for some if there are none. */
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
