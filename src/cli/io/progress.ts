/**
 * How far long work is, at a terminal.
 *
 * Not by `progress()` of `@clack/prompts`: that one takes Ctrl-C, and ends the process as if all was done,
 * past what removes drafts.
 *
 * @module
 */

import type { Terminal } from "./terminal.ts";

/** How many characters a bar has. */
const WIDTH = 24;

/** Does long work, and shows how far it is; nothing of that is left at its end. */
export async function withProgress<Result>(
  terminal: Terminal,
  what: string,
  work: (progress: Progress) => Promise<Result>,
): Promise<Result> {
  using progress = new Progress(terminal, what);
  return await work(progress);
}

/** A line, which is removed at the end. */
class Progress implements Disposable {
  readonly #terminal: Terminal;
  readonly #what: string;
  #drawn = "";

  /**
   * @param terminal Where it is drawn, if that is a terminal that wants it.
   * @param what What is done, in a few words.
   */
  constructor(terminal: Terminal, what: string) {
    this.#terminal = terminal;
    this.#what = what;
    this.#draw(`${what} …`);
  }

  /** Shows a bar. @param part How much is done, from 0 to 1. */
  part(part: number): void {
    const done = Math.min(Math.max(part, 0), 1);
    const full = Math.floor(done * WIDTH);
    const bar = "█".repeat(full) + "░".repeat(WIDTH - full);
    this.#draw(`${this.#what} ${bar} ${Math.floor(done * 100)} %`);
  }

  /** Shows how many are done, where nobody knows of how many. */
  count(done: number): void {
    this.#draw(`${this.#what} … ${done}`);
  }

  #draw(line: string): void {
    if (line === this.#drawn) return;
    this.#drawn = line;
    this.#terminal.draw(line);
  }

  /** Removes the line. */
  [Symbol.dispose](): void {
    this.#draw("");
  }
}
