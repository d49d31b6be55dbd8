/** Takes an answer apart. */

import { encodeBase64 } from "./binary.ts";

const decoder = new TextDecoder();

/** Reads from front to back. */
export class Reader {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #position = 0;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#position === this.#bytes.length;
  }

  bytes(length: number): Uint8Array<ArrayBuffer> {
    const start = this.#position;
    this.#position += length;
    return this.#bytes.subarray(start, this.#position);
  }

  base64(length: number): string {
    return encodeBase64(this.bytes(length));
  }

  text(length: number): string {
    return decoder.decode(this.bytes(length));
  }

  number(): number {
    return (this.short() | this.short() << 16) >>> 0;
  }

  short(): number {
    return this.#byte() | this.#byte() << 8;
  }

  /** A status: zero, or a negative code. */
  status(): number {
    return this.number() | 0;
  }

  /** Bytes preceded by their length, as a copy of their own. */
  prefixed(): Uint8Array<ArrayBuffer> {
    return this.bytes(this.number()).slice();
  }

  rest(): Uint8Array<ArrayBuffer> {
    return this.bytes(this.#bytes.length - this.#position).slice();
  }

  #byte(): number {
    return this.#bytes[this.#position++] ?? 0;
  }
}
