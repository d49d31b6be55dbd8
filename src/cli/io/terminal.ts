/**
 * What a command reads and writes: the process's streams, files, prompts where a person is at them, lines
 * that are typed below what is printed, and QR codes. It uses modules of Node, which Deno, Node and Bun have.
 *
 * @module
 */

import { type Stats, writeSync } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import process from "node:process";
import { clearLine, createInterface, cursorTo, type Interface } from "node:readline";
import { isatty } from "node:tty";
import { CancelledError, STATUS, UsageError } from "./failure.ts";

/** How a value is asked for. */
interface Question {
  /** What is asked. */
  readonly message: string;
  /** How it is given where there is no terminal, for the error. */
  readonly otherwise: string;
  /** Shown while nothing is typed. */
  readonly placeholder?: string;
  /** Whether no answer is an answer. Default: no. */
  readonly optional?: boolean;
  /** Says what is wrong with an answer. */
  readonly check?: (answer: string) => string | undefined;
}

const [STDIN, STDOUT, STDERR] = [0, 1, 2] as const;
const ENCODER = new TextEncoder();
/** What a line that is drawn again and again has to fit into. */
const LEAST_COLUMNS = 60;
/** What a pipe is waited for that is full for now. */
const WAIT = new Int32Array(new SharedArrayBuffer(4));
const STYLES = { ok: 32, warning: 33, error: 31, strong: 1, dim: 2 } as const;

/** The streams of the process. */
export class Terminal {
  /** Whether a person can be asked: prompts are written to standard error. */
  readonly isInteractive: boolean = isatty(STDIN) && isatty(STDERR);
  /** Whether standard input is a terminal, which sends signals to all of its processes. */
  readonly isInput: boolean = isatty(STDIN);
  readonly #canDraw: boolean = isatty(STDERR) && !hasNoColor() && process.env.TERM !== "dumb" &&
    this.columns >= LEAST_COLUMNS;
  #input: AsyncGenerator<string> | undefined;

  /** How many characters fit into a line of standard output. */
  get columns(): number {
    return process.stdout.columns || process.stderr.columns || 80; // 0: a terminal that does not say
  }

  /** Writes a line of the result to standard output. */
  print(line: string): void {
    write(STDOUT, `${line}\n`);
  }

  /** Writes a line for a person to standard error. */
  note(line: string): void {
    write(STDERR, `${line}\n`);
  }

  /** Draws a line for a person over the one before, where that can be; an empty one removes it. */
  draw(line: string): void {
    if (this.#canDraw) write(STDERR, `\r\x1b[K${line}`);
  }

  /** Colours a text for standard output, where it is a terminal that wants that. */
  style(name: keyof typeof STYLES, text: string): string {
    return hasNoColor() || !isatty(STDOUT) ? text : `\x1b[${STYLES[name]}m${text}\x1b[0m`;
  }

  /** Asks for a text. @throws {UsageError} If nobody can be asked. */
  async ask(question: Question): Promise<string> {
    const { text } = await this.#prompts(question);
    return await this.#answer(question, text);
  }

  /** Asks for a secret, which is not shown. @throws {UsageError} If nobody can be asked. */
  async askSecret(question: Question): Promise<string> {
    const { password } = await this.#prompts(question);
    return await this.#answer({ ...question, isSecret: true }, password);
  }

  /** Asks for yes or no. @throws {UsageError} If nobody can be asked. */
  async confirm(question: Pick<Question, "message" | "otherwise">): Promise<boolean> {
    const { confirm, isCancel } = await this.#prompts(question);
    const { message } = question;
    const answer = await confirm({ message, initialValue: false, output: process.stderr });
    if (isCancel(answer)) throw new CancelledError();
    return answer;
  }

  /** Reads the next line of standard input, for secrets that a program hands over. */
  async readLine(what: string): Promise<string> {
    this.#input ??= lines(process.stdin);
    const { value, done } = await this.#input.next();
    if (done === true || value.trim() === "") {
      throw new UsageError(`Cannot read ${what}: standard input has no more lines`);
    }
    return value.replace(/\r$/, "");
  }

  /** Takes a secret from standard input, if the option that is named after it says so, or asks for it. */
  async secret(
    name: "password" | "passphrase",
    { message, isPiped }: { readonly message: string; readonly isPiped: boolean },
  ): Promise<string> {
    if (isPiped) return await this.readLine(`the ${name}`);
    return await this.askSecret({ message, otherwise: `give --${name}-stdin` });
  }

  /** Reads all of standard input. @throws {UsageError} If a person would have to type it. */
  async readText(what: string): Promise<string> {
    if (this.isInput) {
      throw new UsageError(`Cannot read ${what}: give it as an argument, or by a pipe`);
    }
    const text = (await Array.fromAsync(textOf(process.stdin))).join("").trimEnd();
    if (text === "") throw new UsageError(`Cannot read ${what}: standard input is empty`);
    return text;
  }

  async #prompts(
    question: Pick<Question, "message" | "otherwise">,
  ): Promise<typeof import("@clack/prompts")> {
    if (!this.isInteractive) {
      throw new UsageError(`Cannot ask "${question.message}": there is no terminal; ${question.otherwise}`);
    }
    return await import("@clack/prompts");
  }

  async #answer(
    { message, placeholder, optional = false, isSecret = false, check }: Question & { isSecret?: boolean },
    prompt: typeof import("@clack/prompts").text,
  ): Promise<string> {
    const validate = (given = ""): string | undefined => {
      const answer = given.trim();
      return answer !== ""
        ? check?.(answer)
        : optional
        ? undefined
        : "Type something, or press Ctrl-C to leave";
    };
    const answer = await prompt({ message, placeholder, validate, output: process.stderr });
    if (typeof answer === "symbol") throw new CancelledError();
    return (isSecret ? answer : answer?.trim()) ?? ""; // a password may begin with a space
  }
}

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

/** Writes all of a text; a pipe that is closed at the other end ends the process as it ends others. */
function write(stream: number, text: string): void {
  const bytes = ENCODER.encode(text);
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(stream, bytes, written);
    } catch (error) {
      if (failedWith(error, "EPIPE")) process.exit(STATUS.CLOSED_PIPE);
      if (!failedWith(error, "EAGAIN")) throw error;
      Atomics.wait(WAIT, 0, 0, 5);
    }
  }
}

async function* textOf(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    yield typeof bytes === "string" ? bytes : decoder.decode(bytes, { stream: true });
  }
  yield decoder.decode();
}

async function* lines(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of textOf(stream)) {
    const found = (rest + text).split("\n");
    rest = found.pop() ?? "";
    yield* found;
  }
  if (rest !== "") yield rest;
}

/** What others have written, without what moves the cursor of a terminal. */
export function shown(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, " ");
}

/** What runs it. */
export const RUNTIME: "deno" | "node" | "bun" = "deno" in process.versions
  ? "deno"
  : "bun" in process.versions
  ? "bun"
  : "node";

/** What a path leads to; undefined: nothing. */
export async function statOf(path: string): Promise<Stats | undefined> {
  return await stat(path).catch(() => undefined);
}

/** Whether there is something at a path, a link for one. */
export async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(() => true, () => false);
}

/** Whether the system has refused something with a code, such as ENOENT. */
export function failedWith(error: unknown, code: string): boolean {
  return error instanceof Error && (error as Error & { code?: unknown }).code === code;
}

/** Whether colours are not wanted. */
function hasNoColor(): boolean {
  return (process.env.NO_COLOR ?? "") !== "";
}

/** White on black, whatever colours the terminal has: a code the other way round is not read by all. */
const [BEGIN, END] = ["\x1b[97;40m", "\x1b[0m"];

/** Draws bytes as a QR code; undefined: the terminal is too narrow. */
export async function drawnCode(
  bytes: Uint8Array,
  { columns }: { readonly columns: number },
): Promise<readonly string[] | undefined> {
  const { renderUnicodeCompact } = await import("uqr");
  const lines = renderUnicodeCompact(Array.from(bytes), { ecc: "L", border: 2 }).split("\n");
  if (lines.some((line) => line.length > columns)) return undefined;
  return hasNoColor() ? lines : lines.map((line) => `${BEGIN}${line}${END}`);
}
