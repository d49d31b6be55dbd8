/**
 * How many files and functions a message passes on each of its ways: `deno task ways`.
 *
 * A program walks each way twice, the second time with some messages more; what coverage counts
 * more often then is on the way. The numbers stand in ARCHITECTURE.md. How the files lie is counted by
 * `tools/check_structure.ts --table`.
 *
 * - `--list=message` names the files and functions of a way.
 * - `--check` fails where a way has become longer than ARCHITECTURE.md says; not for late keys, since
 *   a busy machine makes detours there.
 * - `--write` writes the numbers there.
 *
 * @module
 */

import { ROOT, run } from "./process.ts";
import { REPEATS, type Way, WAYS } from "./ways/way.ts";

/** A way whose length depends on how busy the machine is. */
const UNEVEN: Way = "late key";
const PAGE = `${ROOT}ARCHITECTURE.md`;

/** What V8 writes of a script. */
interface ScriptCoverage {
  url: string;
  functions: { functionName: string; ranges: { startOffset: number; count: number }[] }[];
}

/** How often each function of the sources ran. */
async function callsOf(way: Way, extra: number): Promise<Map<string, number>> {
  const folder = await Deno.makeTempDir({ prefix: "ways-" });
  const stores = await Deno.makeTempDir({ dir: folder });
  try {
    const args = ["run", "-A", "--no-check", "--quiet", `--coverage=${folder}`, `${ROOT}tools/ways/walk.ts`];
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...args, way, String(extra), stores],
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

/** How long a way is. */
interface Length {
  files: number;
  functions: number;
}

async function lengthOf(way: Way): Promise<Length> {
  const files = await wayOf(way);
  return { files: files.size, functions: [...files.values()].flat().length };
}

const isLonger = (length: Length, limit: Length | undefined): boolean =>
  limit === undefined || length.files > limit.files || length.functions > limit.functions;

const isRow = (line: string): boolean => /^\|[^|]*\|[^|]*\| +\d+ +\| +\d+ +\|$/.test(line);

/** What the page says of each way. */
function writtenLengths(page: string): Map<string, Length> {
  const rows = page.split("\n").filter(isRow).map((line) => line.split("|").map((cell) => cell.trim()));
  return new Map(
    rows.map((
      [, way = "", , files, functions],
    ) => [way, { files: Number(files), functions: Number(functions) }]),
  );
}

/** The page with these lengths. */
function withLengths(page: string, lengths: ReadonlyMap<Way, Length>): string {
  const rows = [...lengths].map((
    [way, { files, functions }],
  ) => [way, WAYS[way], `${files}`, `${functions}`]);
  const table = rows.map((cells) => `| ${cells.join(" | ")} |`);
  const lines = page.split("\n");
  const [first, last] = [lines.findIndex(isRow), lines.findLastIndex(isRow)];
  if (first === -1) throw new Error(`Cannot write the ways: ${PAGE} has no table of them`);
  return lines.toSpliced(first, last - first + 1, ...table).join("\n");
}

const ways = Object.keys(WAYS) as Way[];
const list = ways.find((way) => Deno.args.includes(`--list=${way}`));
if (list === undefined) {
  const page = await Deno.readTextFile(PAGE);
  const written = writtenLengths(page);
  const lengths = new Map<Way, Length>();
  let longer = 0;
  for (const way of ways) {
    const limit = written.get(way);
    let length = await lengthOf(way);
    // On a busy machine something else may run within it: what looks longer is measured again.
    if (way !== UNEVEN && isLonger(length, limit)) length = await lengthOf(way);
    lengths.set(way, length);
    if (way !== UNEVEN && isLonger(length, limit)) longer++;
    const comparison = limit === undefined ? "" : `, ARCHITECTURE.md: ${limit.files} and ${limit.functions}`;
    console.log(`${way.padEnd(22)} ${length.files} files, ${length.functions} functions${comparison}`);
  }
  if (Deno.args.includes("--write")) {
    await Deno.writeTextFile(PAGE, withLengths(page, lengths));
    await run("deno", ["fmt", "-q", PAGE]);
  }
  if (Deno.args.includes("--check") && longer > 0) {
    console.error(
      `${longer} ways have become longer; shorten them, or say why in the commit and run --write`,
    );
    Deno.exit(1);
  }
} else {
  for (const [file, names] of await wayOf(list)) console.log(`${file}: ${names.join(" ")}`);
}
