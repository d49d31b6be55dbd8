/**
 * A turn: a contestant is started, does its jobs, reports what they took, and ends.
 *
 * @module
 */

import type { Entrant } from "./entrants.ts";
import type { Job } from "./inputs/plan.ts";
import type { Pace } from "./stub/paced_session.ts";

/** What a job took. */
export interface Played {
  readonly job: Job["name"];
  /** Milliseconds on the clock. */
  readonly wall: number;
  /** Milliseconds on the processor, of all threads of the client's process. */
  readonly cpu: number;
  /**
   * The most memory that the process ever had up to then, in bytes; 0 if the system does not say.
   */
  readonly memory: number;
  /** How many events were counted. */
  readonly events: number;
  /** How many sync responses it was given. */
  readonly syncs: number;
}

/** How a contestant answered at a rate. */
export interface AnsweredPace extends Pace {
  /** Milliseconds that the process had the processor for. */
  readonly cpu: number;
  /** Milliseconds for which nothing else could run: of 1,000 looks the longest but one. */
  readonly turn: number;
}

/** What a contestant says in the end. */
export interface Answer {
  /** Of the rates at which messages came, or of the time that it waited. */
  readonly paces?: readonly AnsweredPace[];
  /** Of the jobs, if it had to do them. */
  readonly results?: readonly Played[];
  /** Milliseconds that the process had the processor for. */
  readonly cpu?: number;
  /** Bytes: the most it ever had; if it had to be idle, what it has. */
  readonly memory: number;
  /** What it runs on. */
  readonly runtime: string;
  /**
   * Milliseconds from its start to its answer; from its start to the first event, if that is all it
   * had to do.
   */
  readonly wall: number;
}

/** The orders of a contestant. */
export interface Turn {
  /** The stub homeserver's address. */
  readonly url: string;
  /** The client's name there, which is new. */
  readonly token: string;
  /** What to do. Default: all jobs. */
  readonly what?: "all" | "start" | "idle" | "wait" | "answer";
  /** More options. Default: none. */
  readonly more?: readonly string[];
  /** How many clients, if they are to be idle. */
  readonly clients?: number;
  /** Ends it early. Default: nothing does. */
  readonly signal?: AbortSignal;
}

/** How long a turn may take, in milliseconds. */
const PATIENCE_MS = 900_000;

/** Has a contestant take its turn, in an empty folder. */
export async function takeTurn(
  { name, command, args, cwd, env = {} }: Entrant,
  { url, token, what = "all", clients = 1, more = [], signal }: Turn,
): Promise<Answer> {
  const folder = await Deno.makeTempDir({ prefix: "greenroom-bench-" });
  const order = [
    `--url=${url}`,
    `--token=${token}`,
    `--what=${what}`,
    `--clients=${clients}`,
    `--folder=${folder}`,
    ...more,
  ];
  try {
    const begun = performance.now();
    const child = new Deno.Command(command, {
      args: [...args, ...order],
      cwd,
      env: { NO_COLOR: "1", NODE_NO_WARNINGS: "1", ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      signal: AbortSignal.any([AbortSignal.timeout(PATIENCE_MS), ...signal === undefined ? [] : [signal]]),
    }).spawn();
    const said = readAnswer(child.stdout);
    const [{ line, at }, errors] = await Promise.all([said, new Response(child.stderr).text(), child.status]);
    if (line === undefined) {
      throw new Error(`Cannot measure ${name}: it has ended without an answer\n${errors}`);
    }
    return { ...JSON.parse(line), wall: at - begun };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * The last line that begins like JSON, and when the first line came: a contestant reports its start
 * before it measures it.
 */
async function readAnswer(stream: ReadableStream<Uint8Array>): Promise<{ line?: string; at: number }> {
  let [text, at] = ["", 0];
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    text += decoder.decode(bytes, { stream: true });
    at ||= performance.now();
  }
  return { line: text.split("\n").findLast((line) => line.startsWith("{")), at };
}
