/**
 * Runs a program to its end and keeps what it printed; and lets processes do something one after the other.
 *
 * @module
 */

import { dirname } from "node:path";
import { abortable } from "@std/async/abortable";

/** What a program that has ended left behind. */
export interface ProcessResult {
  /** Its exit code. */
  code: number;
  /**
   * Everything it wrote, to standard output and standard error, in the order in which it arrived.
   */
  output: string;
  /** What of it went to standard output. */
  stdout: string;
}

/** The code of a program that was killed because it hung, as `timeout` has it. */
const HUNG = 124;

/** The folder of the repository. */
export const ROOT: string = new URL("../", import.meta.url).pathname;

/**
 * Runs a program in the repository's folder and waits for its end. A program that hangs is killed, and fails,
 * also if only what it has started still holds its output.
 *
 * @param command The program; `deno` is the one that runs this, because there may be none on the
 * `PATH`.
 * @param args Its arguments.
 * @param env Variables added to its environment.
 * @param options `limit`: After how long it is taken to hang, in milliseconds; 40 minutes by default,
 * which is more than any of them takes on a busy machine, but for the tests on Synapse.
 */
export async function run(
  command: string,
  args: string[],
  env: Record<string, string> = {},
  { limit = 40 * 60_000 } = {},
): Promise<ProcessResult> {
  const child = new Deno.Command(command === "deno" ? Deno.execPath() : command, {
    args,
    cwd: ROOT,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const hung = new AbortController();
  const timer = setTimeout(() => hung.abort(), limit);
  let output = "";
  const collect = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
    let own = "";
    for await (const text of stream.pipeThrough(new TextDecoderStream(), { signal: hung.signal })) {
      output += text;
      own += text;
    }
    return own;
  };
  const ended = Promise.all([child.status, collect(child.stdout), collect(child.stderr)]);
  try {
    const [{ code }, stdout] = await abortable(ended, hung.signal);
    return { code, output, stdout };
  } catch (error) {
    if (!hung.signal.aborted) throw error;
    kill(child);
    await child.status;
    const said = `${output.trimEnd()}\n${command} did not end within ${
      limit / 60_000
    } minutes, and was killed\n`;
    return { code: HUNG, output: said, stdout: "" };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Does something while no other process does: the others wait. The system drops the lock when its holder
 * dies.
 *
 * @param file The file of the lock, which stays.
 */
export async function inTurn<T>(file: string, work: () => Promise<T>): Promise<T> {
  await Deno.mkdir(dirname(file), { recursive: true });
  using lock = await Deno.open(file, { create: true, write: true });
  const exclusive = true;
  await lock.lock(exclusive);
  return await work();
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended, and what it has started holds its output.
  }
}
