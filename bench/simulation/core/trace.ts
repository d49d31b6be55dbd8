/**
 * What happened in a simulation, in order.
 *
 * @module
 */

/** Notes lines; the digest is the same exactly if all lines are. */
export class Trace {
  readonly #start = Date.UTC(2025, 0, 1);
  readonly #keeps: boolean;
  #low = 0;
  #high = 0;
  /** The lines, if they are kept. */
  readonly lines: string[] = [];
  /** How many lines there have been. */
  count = 0;

  /** @param keeps Whether lines are kept. */
  constructor({ keeps }: { readonly keeps: boolean }) {
    this.#keeps = keeps;
  }

  /** A digest of all lines. */
  get digest(): string {
    return `${(this.#high >>> 0).toString(16).padStart(8, "0")}${
      (this.#low >>> 0).toString(16).padStart(8, "0")
    }`;
  }

  /** Adds a line. */
  note(now: number, line: string): void {
    const time = (now - this.#start) / 1000;
    const text = `${time.toFixed(3)} ${line}`;
    this.count++;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      this.#low = Math.imul(this.#low ^ code, 0x01000193);
      this.#high = Math.imul(this.#high + code, 0x85ebca6b) ^ (this.#high >>> 13);
    }
    if (this.#keeps) this.lines.push(text);
  }
}
