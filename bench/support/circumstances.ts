/**
 * When, where and with what something was measured.
 *
 * @module
 */

import { run } from "../../tools/process.ts";

/** When, where and with what. */
export interface Circumstances {
  /** The day, the commit and the machine, as lines of a list in Markdown. */
  readonly lines: readonly string[];
  /** The same in a few words. */
  readonly label: string;
}

/** Looks; `paths` are what the measurement depends on. */
export async function circumstances(paths: readonly string[]): Promise<Circumstances> {
  const info = await Deno.readTextFile("/proc/cpuinfo").catch(() => "");
  const model = info.match(/^model name\s*: (.*)$/m)?.[1] ?? Deno.build.arch;
  const commit = (await run("git", ["rev-parse", "--short", "HEAD"])).output.trim();
  const dirty = (await run("git", ["status", "--porcelain", "--", ...paths])).output.trim();
  const load = Deno.loadavg().map((each) => each.toFixed(1)).join(", ");
  const memory = (Deno.systemMemoryInfo().total / 2 ** 30).toFixed(0);
  const cores = `${navigator.hardwareConcurrency} × ${model}`;
  const day = `${new Date().toISOString().slice(0, 10)}, commit ${commit}${
    dirty === "" ? "" : " with changes on top"
  }`;
  return {
    lines: [
      `- ${day}`,
      `- ${cores}, ${memory} GiB, ${Deno.build.os}; load average at the end: ${load}`,
    ],
    label: `${day}; ${cores}; Deno ${Deno.version.deno}`,
  };
}
