/**
 * A program in a terminal, as a person uses it.
 *
 * @module
 */

const RELAY = new URL("terminal.py", import.meta.url).pathname;
/** What moves the cursor and colours. */
// deno-lint-ignore no-control-regex
const SEQUENCES = /\x1b\[[\d;?]*[A-Za-z]/g;

/** Where and how it runs. */
export interface TerminalOptions {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  /** Default: 80. */
  readonly columns?: number;
}

/** The program; what is typed and shown goes through a process of Python. */
export class TerminalProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #keys: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #output: ReadableStreamDefaultReader<string>;
  /** All that was shown. */
  shown = "";
  #seen = 0;

  constructor(program: readonly string[], { cwd, env, columns = 80 }: TerminalOptions) {
    this.#child = new Deno.Command(Deno.env.get("GREENROOM_PYTHON") ?? "python3", {
      args: [RELAY, String(columns), ...program],
      ...{ cwd, clearEnv: env !== undefined, env },
      ...{ stdin: "piped", stdout: "piped", stderr: "inherit" } as const,
    }).spawn();
    this.#keys = this.#child.stdin.getWriter();
    this.#output = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Waits until a text is shown, after what was waited for before. */
  async expect(text: string): Promise<void> {
    while (this.shown.indexOf(text, this.#seen) < 0) {
      if (!await this.#read()) throw new Error(`It ended without "${text}":\n${this.shown}`);
    }
    this.#seen = this.shown.indexOf(text, this.#seen) + text.length;
  }

  /** Waits for the line in which a prompt is answered, which is drawn last, and answers it. */
  async answer(prompt: string, keys: string): Promise<void> {
    await this.expect(prompt);
    await this.expect("└");
    await this.type(keys);
  }

  async type(keys: string): Promise<void> {
    await this.#keys.write(new TextEncoder().encode(keys));
  }

  /** Waits for its end, and returns its status. */
  async ended(): Promise<number> {
    while (await this.#read());
    await this.#keys.close().catch(() => {});
    return (await this.#child.status).code;
  }

  /** Hangs up, if it has not ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.ended();
  }

  async #read(): Promise<boolean> {
    const { value, done } = await this.#output.read();
    this.shown += (value ?? "").replaceAll(SEQUENCES, "");
    return !done;
  }
}
