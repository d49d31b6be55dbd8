/**
 * A process with tests of an instrumented tree, bounded in memory and time.
 *
 * @module
 */

import type { Reply, Request, TestRun } from "./types.ts";

/** What JavaScript may keep, in MiB, and what the whole process may. */
const HEAP_MIB = 600;
const PROCESS_BYTES = 2_500 * 2 ** 20;
/**
 * How long the processor may work for a test: a while, and longer if the test always takes long.
 */
const TEST_MS = 1_000;
const TIMES_AS_LONG = 5;
/** How long anything may take by the clock on the wall, however busy the machine is. */
const WALL_MS = 60_000;
/** What the processor may work before a test has begun. */
const LOAD_MS = 60_000;
/** How the system counts: pages of memory, and parts of a second. */
const PAGE_BYTES = 4096;
const TICK_MS = 10;

/** How trying a mutant ended. */
export type Outcome =
  | { readonly kind: "survived" }
  | {
    readonly kind: "killed";
    readonly killer: number | undefined;
    readonly how: "failed" | "time" | "memory or exit";
  }
  /**
   * A test failed, and goes on failing without the mutant: what was tried before may have spoilt
   * the process.
   */
  | { readonly kind: "tainted"; readonly killer: number | undefined };

/** Tests of some files, loaded in a process of their own. */
export class TestProcess {
  readonly #child: Deno.ChildProcess;
  readonly #replies: AsyncGenerator<Reply>;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;
  readonly #watch: ReturnType<typeof setInterval>;
  #why: "time" | undefined;
  /** What the processor has worked for it, and when that is too much. */
  #workedMs = 0;
  #limitMs = LOAD_MS;

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
    this.#replies = replies(child.stdout);
    this.#stdin = child.stdin.getWriter();
    this.#watch = setInterval(() => this.#checkLimits(), 250);
  }

  /**
   * Starts one.
   *
   * @param root The instrumented tree.
   * @param files The test files.
   * @param mutant The mutant that is on while they are loaded; 0: none.
   * @returns The process, and the mutants that were reached while it loaded; no process if it ended
   * over that.
   */
  static async start(
    root: string,
    { files, mutant = 0 }: { readonly files: readonly string[]; readonly mutant?: number },
  ): Promise<{ readonly process: TestProcess | undefined; readonly reached: readonly number[] }> {
    const child = new Deno.Command("nice", {
      args: [
        "-n",
        "10",
        Deno.execPath(),
        "run",
        "--allow-all",
        "--no-check",
        `--v8-flags=--max-old-space-size=${HEAP_MIB}`,
        "bench/mutation/worker.ts",
        String(mutant),
        ...files,
      ],
      cwd: root,
      env: { NO_COLOR: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const process = new TestProcess(child);
    const reply = await process.#next();
    if (reply?.kind === "loaded") return { process, reached: reply.reached };
    await process.end();
    return { process: undefined, reached: [] };
  }

  /** Runs each test once. */
  async baseline(): Promise<readonly TestRun[]> {
    const runs: TestRun[] = [];
    await this.#ask({ kind: "baseline" });
    for (;;) {
      const reply = await this.#next();
      this.#limitMs = this.#workedMs + LOAD_MS;
      if (reply === undefined) throw new Error("Cannot run the tests without a mutant: their process ended");
      if (reply.kind === "baseline") return runs;
      if (reply.kind === "ran") runs.push(reply.test);
    }
  }

  /**
   * Runs tests with a mutant until one fails. After `killed` for another reason than a failure, the
   * process is gone.
   */
  async attempt(mutant: number, tests: readonly TestRun[]): Promise<Outcome> {
    const byIndex = new Map(tests.map((test) => [test.index, test]));
    await this.#ask({ kind: "try", mutant, tests: [...byIndex.keys()] });
    let running: TestRun | undefined;
    for (;;) {
      const reply = await this.#next();
      if (reply === undefined) {
        return { kind: "killed", killer: running?.index, how: this.#why ?? "memory or exit" };
      }
      if (reply.kind === "begin") {
        running = byIndex.get(reply.test);
        this.#limitMs = this.#workedMs + TEST_MS + TIMES_AS_LONG * (running?.ms ?? 0);
      }
      if (reply.kind !== "tried") continue;
      if (reply.killer === undefined) return { kind: "survived" };
      if (reply.tainted) return { kind: "tainted", killer: reply.killer };
      return { kind: "killed", killer: reply.killer, how: "failed" };
    }
  }

  /** Ends it. */
  async end(): Promise<void> {
    clearInterval(this.#watch);
    this.#kill();
    await this.#stdin.abort().catch(() => {});
    await this.#child.status;
  }

  async #ask(request: Request): Promise<void> {
    await this.#stdin.write(new TextEncoder().encode(`${JSON.stringify(request)}\n`)).catch(() => {});
  }

  /** What it says next; undefined if it is gone, or says nothing for too long and is gone now. */
  async #next(): Promise<Reply | undefined> {
    const timer = setTimeout(() => this.#kill("time"), WALL_MS);
    try {
      return (await this.#replies.next()).value;
    } finally {
      clearTimeout(timer);
    }
  }

  #kill(why?: "time"): void {
    this.#why = why;
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
  }

  /**
   * Ends it when it has worked too long, or takes too much memory: the heap's limit does not bound
   * what is outside of it.
   */
  #checkLimits(): void {
    let fields: string[];
    try {
      fields = Deno.readTextFileSync(`/proc/${this.#child.pid}/stat`).split(") ")[1]?.split(" ") ?? [];
    } catch {
      return; // It has ended, or the system is another.
    }
    this.#workedMs = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    if (this.#workedMs > this.#limitMs) this.#kill("time");
    else if (Number(fields[21]) * PAGE_BYTES > PROCESS_BYTES) this.#kill();
  }
}

/** What it says, among what the tests print; a line that its end has torn is left out. */
async function* replies(stdout: ReadableStream<Uint8Array>): AsyncGenerator<Reply, undefined> {
  let torn = "";
  for await (const text of stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (torn + text).split("\n");
    torn = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("\u0001")) yield JSON.parse(line.slice(1));
  }
  return undefined;
}
