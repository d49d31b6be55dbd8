/**
 * What a command reads and writes: the process's streams, and prompts where a person is at them.
 *
 * @module
 */

import process from "node:process";
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

const ENCODER = new TextEncoder();
const STYLES = { ok: 32, warning: 33, error: 31, strong: 1, dim: 2 } as const;

/** The streams of the process. */
export class Terminal {
  /** Whether a person can be asked: prompts are written to standard error. */
  readonly isInteractive: boolean = Deno.stdin.isTerminal() && Deno.stderr.isTerminal();
  #input: AsyncGenerator<string> | undefined;

  /** How many characters fit into a line of standard output. */
  get columns(): number {
    try {
      return Deno.consoleSize().columns || 80; // 0: a terminal that does not say
    } catch {
      return 80;
    }
  }

  /** Writes a line of the result to standard output. */
  print(line: string): void {
    write(Deno.stdout, `${line}\n`);
  }

  /** Writes a line for a person to standard error. */
  note(line: string): void {
    write(Deno.stderr, `${line}\n`);
  }

  /** Colours a text for standard output, where it is a terminal that wants that. */
  style(name: keyof typeof STYLES, text: string): string {
    return Deno.noColor || !Deno.stdout.isTerminal() ? text : `\x1b[${STYLES[name]}m${text}\x1b[0m`;
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
    this.#input ??= lines(Deno.stdin.readable);
    const { value, done } = await this.#input.next();
    if (done === true || value.trim() === "") {
      throw new UsageError(`Cannot read ${what}: standard input has no more lines`);
    }
    return value.replace(/\r$/, "");
  }

  /** Reads all of standard input. @throws {UsageError} If a person would have to type it. */
  async readText(what: string): Promise<string> {
    if (Deno.stdin.isTerminal()) {
      throw new UsageError(`Cannot read ${what}: give it as an argument, or by a pipe`);
    }
    const text = (await new Response(Deno.stdin.readable).text()).trimEnd();
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

/** Writes all of a text; a pipe that is closed at the other end ends the process as it ends others. */
function write(stream: typeof Deno.stdout | typeof Deno.stderr, text: string): void {
  const bytes = ENCODER.encode(text);
  try {
    for (let written = 0; written < bytes.length;) written += stream.writeSync(bytes.subarray(written));
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) Deno.exit(STATUS.CLOSED_PIPE);
    throw error;
  }
}

async function* lines(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
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
