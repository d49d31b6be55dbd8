/**
 * The packages that a registry has, as they would be published.
 *
 * @module
 */

import { relative } from "node:path";
import denoJson from "../../deno.json" with { type: "json" };
import { bundle, js } from "../../tools/package/bundle.ts";
import { buildJsr } from "../../tools/package/jsr.ts";
import { ROOT } from "../../tools/process.ts";
import type { Package } from "./registry.ts";

const STD = ["async", "bytes", "encoding", "jsonc"];
const VERSION = denoJson.version;

/** What stands in imports of what is published. */
const IMPORTS: Readonly<Record<string, string>> = {
  ...denoJson.imports as Record<string, string>,
  "@greenroom/vodozemac-wasm": `jsr:@greenroom/vodozemac-wasm@^${VERSION}`,
};

function withPublishedImports(text: string): string {
  return text.replace(
    /(\b(?:from|import)\s*\(?\s*")([^".][^"]*)"/g,
    (whole, before: string, name: string) => {
      const found = Object.entries(IMPORTS).find(([key]) => name === key || name.startsWith(`${key}/`));
      return found === undefined ? whole : `${before}${found[1]}${name.slice(found[0].length)}"`;
    },
  );
}

async function filesUnder(folder: string, paths: readonly string[]): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const add = async (path: string): Promise<void> => {
    if ((await Deno.stat(path)).isDirectory) {
      for await (const { name } of Deno.readDir(path)) await add(`${path}/${name}`);
    } else if (/\.(?:ts|js|json)$/.test(path) && !path.endsWith(".d.ts")) {
      files.set(relative(folder, path), withPublishedImports(await Deno.readTextFile(path)));
    }
  };
  for (const path of paths) await add(`${folder}/${path}`);
  return files;
}

/** What the package needs of JSR; here the standard library's files are from npm's copy of it. */
export async function others(folder: string): Promise<Package[]> {
  const library = await Promise.all(STD.map(async (name): Promise<Package> => {
    const own = `${ROOT}third_party/jsr/std-${name}`;
    const config = JSON.parse(await Deno.readTextFile(`${own}/deno.json`));
    const exports: Record<string, string> = config.exports;
    const paths = Object.values(exports).map((path) => `${own}/${path}`);
    await bundle(paths, { from: ROOT, to: `${folder}/${name}`, args: ["--no-lock"] });
    const scripts = Object.fromEntries(Object.entries(exports).map(([entry, path]) => [entry, js(path)]));
    return { ...config, exports: scripts, files: await filesUnder(`${folder}/${name}`, [""]) };
  }));
  const wasm = await filesUnder(`${ROOT}vodozemac-wasm`, ["mod.ts", "src", "vodozemac.json"]);
  return [
    { name: "@greenroom/vodozemac-wasm", version: VERSION, exports: { ".": "./mod.ts" }, files: wasm },
    ...library,
  ];
}

const SOURCES = ["mod.ts", "types.ts", "errors.ts", "src"];

/** The package as sources. */
export async function sources(): Promise<Package> {
  const files = await filesUnder(ROOT.replace(/\/$/, ""), SOURCES);
  return { name: denoJson.name, version: VERSION, exports: denoJson.exports, files };
}

/** The package as it is published, built in a folder. */
export async function published(folder: string): Promise<Package> {
  await buildJsr(folder);
  const { exports } = JSON.parse(await Deno.readTextFile(`${folder}/deno.json`));
  const files = await filesUnder(folder, [...SOURCES, "dist"]);
  return { name: denoJson.name, version: VERSION, exports, files };
}
