/**
 * The orders of contestants: an order is a line of JSON, and so is its answer.
 *
 * @module
 */

import process from "node:process";
import { linesOf } from "../../tests/e2e/support/peer/peer_lines.ts";

/** What is to be measured. */
export interface JobOrder {
  /** The name of the job. */
  readonly job: string;
  /** How many operations make a sample. */
  readonly count: number;
}

/**
 * What was measured, or why it was not; a contestant that does not know the job has nothing to say.
 */
export interface JobAnswer {
  /** Microseconds of one operation. */
  readonly wall?: number;
  /** Microseconds that the process had the processor for it. */
  readonly cpu?: number;
  /** What went wrong. */
  readonly error?: string;
}

/** How long something took, in microseconds. */
export interface Measured {
  /** From its beginning to its end. */
  readonly wall: number;
  /** On the processor, all threads together. */
  readonly cpu: number;
}

/** Runs a job once: prepares, and measures `count` operations. */
export type Job = (count: number) => Promise<Measured>;

const encoder = new TextEncoder();

function say(answer: JobAnswer): void {
  Deno.stdout.writeSync(encoder.encode(JSON.stringify(answer) + "\n"));
}

/** Takes orders until there are no more. */
export async function serveJobs(jobs: Readonly<Record<string, Job>>): Promise<void> {
  say({});
  for await (const line of linesOf(Deno.stdin.readable)) {
    const { job, count }: JobOrder = JSON.parse(line);
    const run = Object.hasOwn(jobs, job) ? jobs[job] : undefined;
    try {
      const measured = await run?.(count);
      say(measured === undefined ? {} : { wall: measured.wall / count, cpu: measured.cpu / count });
    } catch (error) {
      say({ error: error instanceof Error ? error.stack ?? String(error) : String(error) });
    }
  }
}

/** Measures. */
export async function timed(work: () => unknown): Promise<Measured> {
  const [start, before] = [performance.now(), process.cpuUsage()];
  await work();
  const wall = (performance.now() - start) * 1000;
  const { user, system } = process.cpuUsage(before);
  return { wall, cpu: user + system };
}

/** An option of the command line, `--name=value`. */
export function option(name: string, byDefault: string): string {
  return Deno.args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? byDefault;
}
