/**
 * What Deno makes of entries: a file for each, and chunks that they share. Libraries of npm stay imports.
 *
 * @module
 */

import { join } from "node:path/posix";
import denoJson from "../../deno.json" with { type: "json" };
import { ROOT, run } from "../process.ts";

const SOURCES = ["mod.ts", "types.ts", "errors.ts", "src", "third_party", "vodozemac-wasm"];
const LIBRARIES = Object.entries(denoJson.imports as Record<string, string>)
  .filter(([, at]) => at.startsWith("npm:")).map(([name]) => name);

/**
 * Copies the sources with the lock file, so that nothing of the repository is changed.
 *
 * @param to The folder, which is there.
 * @param config What differs in `deno.json`.
 */
export async function copySources(to: string, config: object = {}): Promise<void> {
  const { code, output } = await run("cp", ["-r", ...SOURCES.map((each) => ROOT + each), to]);
  if (code !== 0) throw new Error(`Cannot copy the sources: ${output}`);
  // What stands in for packages of JSR is not published.
  const links = denoJson.workspace.filter((path) => path.startsWith("./third_party/jsr/"));
  const all = { ...denoJson, workspace: ["./vodozemac-wasm"], links, ...config };
  await Deno.writeTextFile(join(to, "deno.json"), `${JSON.stringify(all, null, 2)}\n`);
  await Deno.copyFile(`${ROOT}deno.lock`, join(to, "deno.lock"));
}

/** How entries are bundled. */
interface BundleOptions {
  /** The folder of the sources. */
  readonly from: string;
  /** The folder for the result. */
  readonly to: string;
  /** More arguments of `deno bundle`. */
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
}

/** Bundles entries. */
export async function bundle(
  entries: readonly string[],
  { from, to, args = [], env }: BundleOptions,
): Promise<void> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--platform=browser", "--code-splitting", `--outdir=${to}`],
      ...LIBRARIES.flatMap((name) => [`--external=${name}`, `--external=${name}/*`]),
      ...args,
      ...entries,
    ],
    cwd: from,
    env,
  }).output();
  if (code !== 0) throw new Error(`Cannot bundle for ${to}: ${new TextDecoder().decode(stderr)}`);
  for (const file of await filesIn(to, ".js")) {
    await Deno.writeTextFile(file, keepNames(await Deno.readTextFile(file)));
  }
}

/**
 * Gives classes their names back, which stacks and `constructor.name` show: where a class uses itself,
 * bundlers call it `_Client` or `Client2`. A space takes the place of what they added, so that source maps
 * hold.
 */
export function keepNames(code: string): string {
  const renamed = new Map(
    [...code.matchAll(/\b(\w+) = class (_\1|\1\d+)\b/g)].map(([, name = "", other = ""]) =>
      [other, other.startsWith("_") ? other.replace("_", " ") : name.padEnd(other.length)] as const
    ),
  );
  if (renamed.size === 0) return code;
  const others = new RegExp(`(?<![\\w$#]|[^.]\\.)(?:${[...renamed.keys()].join("|")})\\b`, "g");
  return code.replace(others, (other) => renamed.get(other) ?? other);
}

/** The files in a folder, with those in its folders, whose names end so. */
export async function filesIn(folder: string, end: string): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) { for (const file of await filesIn(path, end)) files.push(file); }
    else if (name.endsWith(end)) files.push(path);
  }
  return files;
}

/** A source's name once it is JavaScript. */
export const js = (path: string): string => path.replace(/\.ts$/, ".js");
