/**
 * A contestant: a process of its own that measures what it is ordered to.
 *
 * @module
 */

import { linesOf } from "../../tests/e2e/support/peer/peer_lines.ts";
import type { JobAnswer, JobOrder, Measured } from "./job.ts";

/** How a contestant is started. */
export interface ContestantOptions {
  /** As it appears in the table. */
  readonly name: string;
  /** The program. */
  readonly command: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** Where it makes its files. */
  readonly folder: string;
  /**
   * The most operations of a sample, for contestants that would need minutes; what one costs must
   * not depend on it. Default: any number.
   */
  readonly most?: number;
}

/** An order. */
export interface ContestantOrder extends JobOrder {
  /**
   * How many operations a sample has, for contestants with a limit. Default: as many as of the
   * others.
   */
  readonly few?: number;
}

/** A running contestant, which is idle between orders. */
export class Contestant implements AsyncDisposable {
  readonly name: string;
  readonly #most: number;
  readonly #process: Deno.ChildProcess;
  readonly #orders: WritableStreamDefaultWriter<Uint8Array>;
  readonly #answers: AsyncGenerator<string>;

  private constructor({ name, most = Infinity }: ContestantOptions, process: Deno.ChildProcess) {
    this.name = name;
    this.#most = most;
    this.#process = process;
    this.#orders = process.stdin.getWriter();
    this.#answers = linesOf(process.stdout);
  }

  /** Starts one, and waits until it is ready. */
  static async start(options: ContestantOptions): Promise<Contestant> {
    const { command, args, folder } = options;
    const process = new Deno.Command(command, {
      args: [...args],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
      env: { TMPDIR: folder },
    }).spawn();
    const contestant = new Contestant(options, process);
    await contestant.#answer();
    return contestant;
  }

  /** Has something measured; undefined if this contestant does not know the job. */
  async measure({ job, count, few = count }: ContestantOrder): Promise<Measured | undefined> {
    const order: JobOrder = { job, count: this.#most === Infinity ? count : Math.min(few, this.#most) };
    await this.#orders.write(new TextEncoder().encode(JSON.stringify(order) + "\n"));
    const { wall, cpu, error } = await this.#answer();
    if (error !== undefined) throw new Error(`Cannot measure ${job} with ${this.name}: ${error}`);
    return wall === undefined || cpu === undefined ? undefined : { wall, cpu };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#orders.close();
    await this.#answers.return(undefined);
    await this.#process.status;
  }

  async #answer(): Promise<JobAnswer> {
    const { value, done } = await this.#answers.next();
    if (done === true) throw new Error(`Cannot measure with ${this.name}: it has ended`);
    return JSON.parse(value);
  }
}
