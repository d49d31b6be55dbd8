/**
 * Reads exact numbers of bytes from a stream.
 *
 * @module
 */

import { StoreFormatError } from "../../errors/store_error.ts";
import { ValueError } from "../../errors/value_error.ts";

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

  /** Whether the stream has ended. */
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
