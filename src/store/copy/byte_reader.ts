/**
 * Bytes of a stream, as many at once as are asked for.
 *
 * @module
 */

import { StoreFormatError } from "../../errors/store_error.ts";
import { ValueError } from "../../errors/value_error.ts";

/** Reads a stream by numbers of bytes. */
export class ByteReader {
  readonly #reader: ReadableStreamDefaultReader<unknown>;
  readonly #signal: AbortSignal | undefined;
  #rest: Uint8Array = new Uint8Array();
  #count = 0;

  /**
   * @param stream What is read; it is locked.
   * @param signal Ends the reading, also while it waits for the stream.
   */
  constructor(stream: ReadableStream<unknown>, signal: AbortSignal | undefined) {
    this.#reader = stream.getReader();
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort, { once: true });
    if (signal?.aborted) this.#abort();
  }

  /** How many bytes have been read. */
  get count(): number {
    return this.#count;
  }

  /**
   * Reads exactly as many bytes.
   *
   * @throws {StoreFormatError} If the stream ends before.
   * @throws {ValueError} If the stream gives something else than bytes.
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

  /** Whether there is nothing more to read. */
  async isAtEnd(): Promise<boolean> {
    return !await this.#fill();
  }

  /** Lets the stream go. */
  async cancel(reason: unknown): Promise<void> {
    this.#signal?.removeEventListener("abort", this.#abort);
    await this.#reader.cancel(reason).catch(() => {}); // what went wrong before is what counts
  }

  /** A read that is waiting sees the end then. */
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
