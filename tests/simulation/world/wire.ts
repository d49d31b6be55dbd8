/**
 * What is on the wire: no text that is secret, and no index of a ratchet twice.
 *
 * @module
 */

import { ratchetUses } from "../../../bench/kill/ratchet.ts";

/** Messages with a number, and answers to them. */
const NUMBERED = /(?:peer \S+ |reply \d+ to |echo of )(\d+)/g;

/** Looks at each body that a device sends. */
export class Wire {
  /** By place in a ratchet, the digest of what was encrypted there. */
  readonly #uses = new Map<string, string>();
  readonly #isSecret: (number: number) => boolean;
  readonly #onViolation: (what: string) => void;

  /**
   * @param options.isSecret Whether the message with a number must not be sent in clear.
   * @param options.onViolation Takes what must not be.
   */
  constructor(
    { isSecret, onViolation }: {
      readonly isSecret: (number: number) => boolean;
      readonly onViolation: (what: string) => void;
    },
  ) {
    this.#isSecret = isSecret;
    this.#onViolation = onViolation;
  }

  /** How many places of ratchets were used. */
  get uses(): number {
    return this.#uses.size;
  }

  /** Looks at a body. */
  inspect(who: string, body: string): void {
    for (const [text, number] of body.matchAll(NUMBERED)) {
      if (this.#isSecret(Number(number))) this.#onViolation(`${who} sent "${text}" in clear`);
    }
    if (!body.includes('"ciphertext"')) return;
    for (const { chain, index, digest } of ratchetUses(JSON.parse(body))) {
      const place = `${chain} ${index}`;
      const before = this.#uses.get(place);
      if (before !== undefined && before !== digest) {
        this.#onViolation(`an index was used twice: ${place}, by ${who}`);
      }
      this.#uses.set(place, digest);
    }
  }
}
