/**
 * Lines that are typed below what is printed, or that a pipe says.
 *
 * @module
 */

import process from "node:process";
import { clearLine, createInterface, cursorTo, type Interface } from "node:readline";
import type { Terminal } from "./terminal.ts";

/** Reads standard input by lines. What is printed in between does not mix with what is being typed. */
export class TypedLines implements Disposable {
  /** Resolves at Ctrl-C. */
  readonly interrupted: Promise<"interrupted">;
  readonly #terminal: Terminal;
  readonly #interface: Interface;
  /** Begun at once: a line that comes before it is asked for waits in it. */
  readonly #lines: AsyncIterator<string>;

  /** Begins to read. */
  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#interface = createInterface({
      input: process.stdin,
      ...terminal.isInteractive ? { output: process.stderr, terminal: true } : {},
      prompt: "> ",
    });
    this.#lines = this.#interface[Symbol.asyncIterator]();
    const { promise, resolve } = Promise.withResolvers<"interrupted">();
    this.interrupted = promise;
    this.#interface.once("SIGINT", () => {
      terminal.note("");
      resolve("interrupted");
    });
    process.once("SIGINT", () => resolve("interrupted")); // without a terminal
  }

  /** What is typed, with a prompt for each line. */
  async *lines(): AsyncGenerator<string> {
    for (;;) {
      this.#prompt();
      const { value, done } = await this.#lines.next();
      if (done === true) return;
      yield value;
    }
  }

  /** Prints a line of the result, above the line that is being typed. */
  print(line: string): void {
    if (this.#terminal.isInteractive) {
      cursorTo(process.stderr, 0);
      clearLine(process.stderr, 0);
    }
    this.#terminal.print(line);
    this.#prompt();
  }

  #prompt(): void {
    const preserveCursor = true;
    if (this.#terminal.isInteractive) this.#interface.prompt(preserveCursor);
  }

  [Symbol.dispose](): void {
    this.#interface.close();
  }
}
