/**
 * Bundles what the playground of the site runs: the npm package's code for browsers, and
 * `site/playground/engine.ts` over it.
 *
 * @module
 */

import denoJson from "../../deno.json" with { type: "json" };
import { buildNpm, OUTPUT } from "../npm.ts";
import { ROOT, run } from "../process.ts";

/** What the conformance of stores imports of Node; the playground does not call it. */
const OF_NODE = /import\s*\{([^}]*)\}\s*from\s*"node:(?:assert|util)";?/g;

/** Writes the modules into a folder; `engine.js` is the one to import. */
export async function writePlayground(folder: string): Promise<void> {
  await buildNpm();
  const sources = await Deno.makeTempDir();
  try {
    const { code, output } = await run("cp", [
      "-r",
      `${OUTPUT}/browser`,
      `${sources}/package`,
    ]);
    if (code !== 0) throw new Error(`Cannot bundle the playground: ${output}`);
    for (
      const name of [
        "engine.ts",
        "evaluate.ts",
        "failures.ts",
        "lines.ts",
        "place_of_mistake.js",
        "windows.ts",
      ]
    ) {
      await Deno.copyFile(`${ROOT}site/playground/${name}`, `${sources}/${name}`);
    }
    await Deno.writeTextFile(
      `${sources}/deno.json`,
      JSON.stringify({ imports: importsOfPackage() }),
    );
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "bundle",
        "--quiet",
        "--platform=browser",
        "--code-splitting",
        "--minify",
        "--no-lock",
        `--outdir=${folder}`,
        "engine.ts",
      ],
      cwd: sources,
    }).output();
    if (!success) {
      throw new Error(
        `Cannot bundle the playground: ${new TextDecoder().decode(stderr)}`,
      );
    }
    const engine = await Deno.readTextFile(`${folder}engine.js`);
    const withoutNode = engine.replaceAll(
      OF_NODE,
      (_, names: string) => `const {${names.replaceAll(" as ", ":")}} = {};`,
    );
    await Deno.writeTextFile(`${folder}engine.js`, withoutNode);
  } finally {
    await Deno.remove(sources, { recursive: true });
  }
}

/** The libraries as the repository pins them, and the package's entries as they are built. */
function importsOfPackage(): Record<string, string> {
  const libraries = Object.entries(denoJson.imports).filter(([, target]) => target.startsWith("npm:"));
  const entries = Object.entries(denoJson.exports).map((
    [entry, path],
  ) => [
    denoJson.name + entry.slice(1),
    `./package/${path.slice(2).replace(/\.ts$/, ".js")}`,
  ]);
  return Object.fromEntries([...libraries, ...entries]);
}
