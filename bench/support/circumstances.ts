/**
 * When, where and with what something was measured.
 *
 * @module
 */

import { run } from "../../tools/process.ts";

/** The day, the commit and the machine, as lines of a list in Markdown; `paths` are what the measurement depends on. */
export async function circumstances(paths: readonly string[]): Promise<string[]> {
  const info = await Deno.readTextFile("/proc/cpuinfo").catch(() => "");
  const model = info.match(/^model name\s*: (.*)$/m)?.[1] ?? Deno.build.arch;
  const commit = (await run("git", ["rev-parse", "--short", "HEAD"])).output.trim();
  const dirty = (await run("git", ["status", "--porcelain", "--", ...paths])).output.trim();
  const load = Deno.loadavg().map((each) => each.toFixed(1)).join(", ");
  const memory = (Deno.systemMemoryInfo().total / 2 ** 30).toFixed(0);
  return [
    `- ${new Date().toISOString().slice(0, 10)}, commit ${commit}${
      dirty === "" ? "" : " with changes on top"
    }`,
    `- ${navigator.hardwareConcurrency} × ${model}, ${memory} GiB, ${Deno.build.os}; load average at the end: ${load}`,
  ];
}
