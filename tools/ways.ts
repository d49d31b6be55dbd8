/**
 * How many files and functions a message passes on each of its ways:
 * `deno task ways [--list="plain receive"]`.
 *
 * A program walks each way twice, the second time with some messages more; what coverage counts
 * more often then is on the way. The way of a receipt is that from a response to its handlers.
 * How the files lie is counted by `tools/check_structure.ts --table`.
 *
 * @module
 */

import { ROOT } from "./process.ts";
import { REPEATS, type Way, WAYS } from "./ways/way.ts";

/** What V8 writes of a script. */
interface ScriptCoverage {
  url: string;
  functions: { functionName: string; ranges: { startOffset: number; count: number }[] }[];
}

/** How often each function of the sources ran. */
async function callsOf(way: Way, extra: number): Promise<Map<string, number>> {
  const folder = await Deno.makeTempDir({ prefix: "ways-" });
  try {
    const args = ["run", "-A", "--no-check", "--quiet", `--coverage=${folder}`, `${ROOT}tools/ways/walk.ts`];
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...args, way, String(extra)],
      env: { NO_COLOR: "1" },
    }).output();
    if (!success) throw new Error(`Cannot walk "${way}": ${new TextDecoder().decode(stderr)}`);
    const calls = new Map<string, number>();
    for await (const { name, isFile } of Deno.readDir(folder)) {
      if (!isFile || !name.endsWith(".json")) continue;
      const { url, functions }: ScriptCoverage = JSON.parse(await Deno.readTextFile(`${folder}/${name}`));
      const path = url.split(ROOT)[1] ?? "";
      if (!path.startsWith("src/") || path.startsWith("src/testing/")) continue;
      for (const { functionName, ranges: [range] } of functions) {
        const key = `${path} ${range?.startOffset} ${functionName}`;
        calls.set(key, (calls.get(key) ?? 0) + (range?.count ?? 0));
      }
    }
    return calls;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The functions that run at least once for each message, by file. */
async function wayOf(way: Way): Promise<Map<string, string[]>> {
  const [short, long] = [await callsOf(way, 0), await callsOf(way, REPEATS)];
  const passed = [...long].filter(([key, count]) => count - (short.get(key) ?? 0) >= REPEATS);
  const byFile = Map.groupBy(passed.map(([key]) => key), (key) => key.split(" ")[0] ?? "");
  return new Map(
    [...byFile].toSorted().map(([file, keys]) => [file, keys.map((key) => key.split(" ")[2] ?? "")]),
  );
}

const list = Deno.args.find((arg) => arg.startsWith("--list="))?.slice("--list=".length);
if (list === undefined) {
  for (const way of WAYS) {
    const files = await wayOf(way);
    const functions = [...files.values()].reduce((sum, names) => sum + names.length, 0);
    console.log(`${way.padEnd(24)} ${files.size} files, ${functions} functions`);
  }
} else {
  for (const [file, names] of await wayOf(list as Way)) console.log(`${file}: ${names.join(" ")}`);
}
