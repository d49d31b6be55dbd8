/**
 * The requests of others, for each who iterates them.
 *
 * @module
 */

import type { LiveVerification } from "./live_verification.ts";
import type { VerificationRequest } from "./verification_crypto.ts";

/** One iteration. */
interface Reader {
  queue: LiveVerification[];
  wake: () => void;
}

/** Hands each request to each who iterates. */
export class RequestStream implements AsyncIterable<VerificationRequest> {
  readonly #readers = new Set<Reader>();
  readonly #waiting: () => readonly LiveVerification[];
  #isClosed = false;

  /** @param waiting The requests that wait for an answer now. */
  constructor(waiting: () => readonly LiveVerification[]) {
    this.#waiting = waiting;
  }

  /** A request has come. */
  add(request: LiveVerification): void {
    for (const reader of this.#readers) {
      // Nobody can answer those that have ended while nobody read.
      reader.queue = reader.queue.filter(({ isOver }) => !isOver).concat(request);
      reader.wake();
    }
  }

  /** Ends all iterations. */
  close(): void {
    this.#isClosed = true;
    for (const { wake } of this.#readers) wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<VerificationRequest, undefined> {
    const reader: Reader = { queue: [...this.#waiting()], wake: () => {} };
    this.#readers.add(reader);
    try {
      while (!this.#isClosed) {
        const next = reader.queue.shift();
        if (next?.isOver === false) yield next;
        else if (next === undefined) await new Promise<void>((resolve) => reader.wake = resolve);
      }
      return undefined;
    } finally {
      this.#readers.delete(reader);
    }
  }
}
