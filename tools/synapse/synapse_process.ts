/**
 * A process of Synapse.
 *
 * @module
 */

import { delay } from "@std/async/delay";

/** Minutes on a busy machine; one that has ended is not waited for. */
const START_ATTEMPTS = 6_000;
const START_INTERVAL_MS = 100;
const STOP_DEADLINE_MS = 60_000;
const LOG_TAIL_LINES = 40;

/** What a process of Synapse is. */
export interface SynapseProcessOptions {
  /** The Python that has Synapse. */
  readonly python: string;
  /** The module of `synapse.app`: `homeserver`, or `generic_worker`. */
  readonly app: string;
  /** The files of its configuration, the later over the earlier. */
  readonly configs: readonly string[];
  /** The file that its output goes to. */
  readonly log: string;
  /** The address that it answers at. */
  readonly url: string;
}

/** A process of Synapse, which can be ended and started again. It ends with the process that started it. */
export class SynapseProcess implements AsyncDisposable {
  readonly #options: SynapseProcessOptions;
  #process: Deno.ChildProcess;
  #ended = false;

  private constructor(options: SynapseProcessOptions) {
    this.#options = options;
    this.#process = this.#spawn();
  }

  /** The ID of the process. */
  get pid(): number {
    return this.#process.pid;
  }

  /**
   * Starts one, and waits until it answers.
   *
   * @throws {Error} If it does not come up: with the end of its log.
   */
  static async start(options: SynapseProcessOptions): Promise<SynapseProcess> {
    const process = new SynapseProcess(options);
    try {
      await process.#waitUntilItAnswers();
    } catch (error) {
      await process.#end();
      throw error;
    }
    return process;
  }

  /** Ends the process, and starts another of the same configuration. */
  async restart(): Promise<void> {
    await this.#end();
    this.#process = this.#spawn();
    await this.#waitUntilItAnswers();
  }

  /** The last lines of its output. */
  async logTail(): Promise<string> {
    const log = await Deno.readTextFile(this.#options.log).catch(() => "");
    return log.trimEnd().split("\n").slice(-LOG_TAIL_LINES).join("\n");
  }

  /** Ends it, with force if it takes too long. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  #spawn(): Deno.ChildProcess {
    const { python, app, configs, log } = this.#options;
    const process = new Deno.Command(python, {
      args: [`${import.meta.dirname}/launch.py`, log, app, ...configs],
      // The order of its sets, so that it is the same in every run: read markers have one.
      env: { PYTHONHASHSEED: "1" },
      stdin: "piped", // its end shows Synapse that this process has ended
      stdout: "null",
      stderr: "null",
    }).spawn();
    this.#ended = false;
    process.status.then(() => this.#ended = true);
    return process;
  }

  async #end(): Promise<void> {
    const deadline = new AbortController();
    if (!this.#ended) this.#process.kill("SIGTERM");
    const late = delay(STOP_DEADLINE_MS, { signal: deadline.signal }).then(() => {
      if (!this.#ended) this.#process.kill("SIGKILL");
    }, () => {});
    await this.#process.status;
    deadline.abort();
    await late;
    await this.#process.stdin.close().catch(() => {}); // the other end is gone
  }

  async #waitUntilItAnswers(): Promise<void> {
    for (let attempt = 0; attempt < START_ATTEMPTS; attempt++) {
      if (this.#ended) throw new Error(`Cannot start Synapse: it ended; its log:\n${await this.logTail()}`);
      try {
        const response = await fetch(`${this.#options.url}/_matrix/client/versions`);
        await response.body?.cancel();
        if (response.ok) return;
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // not listening yet
      }
      await delay(START_INTERVAL_MS);
    }
    throw new Error(`Cannot start Synapse: it does not answer; its log:\n${await this.logTail()}`);
  }
}
