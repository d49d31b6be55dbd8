/**
 * Runs a program to its end and keeps what it printed.
 *
 * @module
 */

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

/** The folder of the repository. */
export const ROOT: string = new URL("../", import.meta.url).pathname;

/**
 * Runs a program in the repository's folder and waits for its end.
 *
 * @param command The program; `deno` is the one that runs this, because there may be none on the
 * `PATH`.
 * @param args Its arguments.
 * @param env Variables added to its environment.
 */
export async function run(
  command: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<ProcessResult> {
  const child = new Deno.Command(command === "deno" ? Deno.execPath() : command, {
    args,
    cwd: ROOT,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let output = "";
  const collect = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
    let own = "";
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      output += text;
      own += text;
    }
    return own;
  };
  const [{ code }, stdout] = await Promise.all([child.status, collect(child.stdout), collect(child.stderr)]);
  return { code, output, stdout };
}
