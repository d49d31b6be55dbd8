/**
 * Bots in processes of their own, which a test kills, against any homeserver.
 *
 * @module
 */

/** The settings of a bot. */
export interface ProcessSettings {
  /** The homeserver. */
  readonly baseUrl: string;
  /** Its token. */
  readonly token: string;
  /** Its file. */
  readonly path: string;
  /** Whether it has encryption. Default: no. */
  readonly encryption?: boolean;
  /** What it answers to `question`. Default: nothing. */
  readonly says?: string;
  /** How many of its seconds go by in a second. Default: 1. */
  readonly speed?: number;
}

const PROGRAM = new URL("killable_program.ts", import.meta.url).pathname;

/** A process of a bot. */
export class KillableProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #lines: AsyncIterator<string>;

  /** Starts it. */
  constructor(settings: ProcessSettings) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--no-check", "--quiet", "--no-prompt", "--allow-read", "--allow-write", "--allow-env"],
        ...["--allow-net=127.0.0.1,localhost", PROGRAM, JSON.stringify(settings)],
      ],
      stdout: "piped",
    }).spawn();
    this.#lines = lines(this.#child.stdout);
  }

  /** The rest of the next line of its output that begins with a word. */
  async says(word: string): Promise<string> {
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done === true) throw new Error(`It ended without saying "${word}"`);
      if (value.startsWith(word)) return value.slice(word.length + 1);
    }
  }

  /** Resolves when it has ended. */
  async ended(): Promise<void> {
    while ((await this.#lines.next()).done !== true);
    await this.#child.status;
  }

  /** Kills it with SIGKILL, if it has not ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.ended();
  }
}

async function* lines(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string, undefined> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const found = (rest + text).split("\n");
    rest = found.pop() ?? "";
    yield* found;
  }
}
