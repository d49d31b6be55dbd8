/**
 * A bot's process: its progress and its end.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import type { Progress } from "./progress.ts";

/**
 * A moment at which a bot is killed: a time after its start, or after its n-th report of an
 * operation.
 */
export interface Moment {
  /** After which of its lines; undefined: after its start. */
  readonly line?: Progress;
  /** After how many of these. */
  readonly times?: number;
  /** How long after that, in milliseconds. */
  readonly after: number;
  /** How long its line is waited for, in milliseconds. Default: 2,500. */
  readonly patience?: number;
}

/** How a process ended. */
export interface Ending {
  /** The operations that had begun and not ended. */
  readonly underway: readonly string[];
  /** Whether it had ended by itself before it could be killed, which it never should. */
  readonly bySelf: boolean;
  /** The end of what it wrote to standard error. */
  readonly stderr: string;
  /** How long it had run, in milliseconds. */
  readonly lived: number;
  /** By line, how long after its start it was first reported, in milliseconds. */
  readonly firsts: ReadonlyMap<string, number>;
}

/** How long to wait for a line, in milliseconds. */
const PATIENCE_MS = 2_500;
/** After how long a process that does not stop is killed, in milliseconds: a busy machine takes a minute. */
const STOP_MS = 180_000;

/** A running bot. */
export class BotProcess {
  readonly #child: Deno.ChildProcess;
  readonly #begun = performance.now();
  readonly #underway = new Map<string, number>();
  readonly #counts = new Map<string, number>();
  readonly #firsts = new Map<string, number>();
  readonly #reading: Promise<void>;
  readonly #stderr: Promise<string>;
  readonly #waiting = new Set<() => void>();
  #ended = false;

  /**
   * @param program Its program.
   * @param orders Its orders.
   */
  constructor(program: URL, orders: object) {
    const args = ["run", "-A", "--no-check", program.pathname, JSON.stringify(orders)];
    const env = { NO_COLOR: "1" };
    this.#child = new Deno.Command(Deno.execPath(), {
      args,
      env,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#reading = this.#read();
    this.#stderr = new Response(this.#child.stderr).text();
    this.#child.status.then(async () => {
      this.#ended = true;
      this.#heard();
      // The status of one that ended by itself may never be read.
      await this.#child.stdin.close().catch(() => {});
    });
  }

  /** What has begun and not ended. */
  get underway(): string[] {
    return [...this.#underway].filter(([, count]) => count > 0).map(([name]) => name);
  }

  /** Whether it has ended. */
  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Resolves when it has ended. */
  get ended(): Promise<unknown> {
    return this.#child.status;
  }

  /** Stops it where it is, or has it go on. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    if (!this.#ended) this.#child.kill(signal);
  }

  /** Waits for a moment; not for its line if that does not come for long, or it has ended. */
  async reaches({ line, times = 1, patience = PATIENCE_MS, after }: Moment): Promise<void> {
    if (line !== undefined) await this.#waitFor(() => (this.#counts.get(line) ?? 0) >= times, patience);
    await delay(after);
  }

  /** Waits for a moment, and kills it with SIGKILL. */
  async killAt(moment: Moment): Promise<Ending> {
    await this.reaches(moment);
    const bySelf = this.#ended;
    if (!bySelf) this.#child.kill("SIGKILL");
    return await this.#ending(bySelf);
  }

  /** Lets it stop in good order. */
  async stop(): Promise<Ending> {
    await this.#child.stdin.close().catch(() => {}); // it is gone already
    const late = setTimeout(() => this.#child.kill("SIGKILL"), STOP_MS);
    const { success } = await this.#child.status;
    clearTimeout(late);
    return await this.#ending(!success);
  }

  async #ending(bySelf: boolean): Promise<Ending> {
    const lived = performance.now() - this.#begun;
    await this.#child.status;
    await this.#child.stdin.close().catch(() => {});
    await this.#reading;
    const stderr = (await this.#stderr).slice(-2_000);
    return { underway: this.underway, bySelf, stderr, lived, firsts: this.#firsts };
  }

  /** Waits until something holds of what it has said, but not for long. */
  async #waitFor(holds: () => boolean, patience: number): Promise<void> {
    const happened = Promise.withResolvers<void>();
    const look = () => {
      if (this.#ended || holds()) happened.resolve();
    };
    this.#waiting.add(look);
    const timer = setTimeout(happened.resolve, patience);
    look();
    await happened.promise;
    clearTimeout(timer);
    this.#waiting.delete(look);
  }

  #heard(): void {
    for (const look of [...this.#waiting]) look();
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(line);
      this.#heard();
    }
  }

  #take(line: string): void {
    const [verb, ...name] = line.split(" ");
    const what = name.join(" ");
    if (!this.#firsts.has(line)) this.#firsts.set(line, performance.now() - this.#begun);
    this.#counts.set(line, (this.#counts.get(line) ?? 0) + 1);
    this.#underway.set(what, (this.#underway.get(what) ?? 0) + (verb === "begins" ? 1 : -1));
  }
}
