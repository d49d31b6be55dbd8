/**
 * Builds the npm package, for Node, Bun and browsers:
 * `deno task npm` makes `.cache/npm/`, and a `.tgz` of it.
 *
 * Deno bundles the code, once for each platform, with `src/base/platform/deno.ts` replaced; the entries share
 * what they have in common. TypeScript makes the declarations, a file for each source, so that a class is the
 * same whichever entry it is imported by. Libraries of the registry stay dependencies.
 *
 * @module
 */

import * as esbuild from "esbuild";
import ts from "typescript";
import { dirname, join, relative } from "node:path/posix";
import denoJson from "../deno.json" with { type: "json" };
import { bundle, copySources, filesIn, js } from "./package/bundle.ts";
import { keepScopes } from "./npm/scopes.ts";
import { ROOT, run } from "./process.ts";

/** Where the package is made. */
export const OUTPUT = `${ROOT}.cache/npm`;
const PLATFORMS = ["node", "browser"] as const;
const PORT = "src/base/platform/mod.ts";
/** What one platform has, by the end of the other's. */
const ONLY: Readonly<Record<string, (typeof PLATFORMS)[number]>> = {
  "./cli": "node",
  "./store/indexeddb": "browser",
  "./store/sqlite": "node",
};
/** Deno's own database. */
const LEFT_OUT = ["./store/kv"];
const CLI = "src/cli/mod.js";

type Platform = (typeof PLATFORMS)[number];

const entries = Object.entries(denoJson.exports).filter(([name]) => !LEFT_OUT.includes(name))
  .map(([name, path]) => ({ name, path: path.replace("./", "") }));

function entriesOf(platform: Platform): typeof entries {
  return entries.filter(({ name }) => (ONLY[name] ?? platform) === platform);
}

/** The libraries that the product's code imports, with their versions. */
async function dependencies(code: readonly string[]): Promise<Record<string, string>> {
  const texts = await Promise.all(code.map((path) => Deno.readTextFile(path)));
  const found = Object.entries(denoJson.imports as Record<string, string>).flatMap(([name, target]) => {
    const version = /^npm:(?:@[^/]+\/)?[^@]+@(.+)$/.exec(target)?.[1];
    const isUsed = texts.some((text) =>
      new RegExp(`(?:from|import|import\\()\\s*"${name}(?:/[^"]*)?"`).test(text)
    );
    return version !== undefined && isUsed ? [[name, version]] : [];
  });
  return Object.fromEntries(found);
}

/** Bundles all entries for a platform. */
async function bundleFor(platform: Platform, folder: string): Promise<string[]> {
  const port = join(folder, PORT);
  const text = await Deno.readTextFile(`${ROOT}${PORT}`);
  await Deno.writeTextFile(port, text.replace('"./deno.ts"', `"./${platform}.ts"`));
  if (platform === "browser") await replaceForBrowsers(folder);
  const target = join(OUTPUT, platform);
  await bundle(entriesOf(platform).map(({ path }) => path), { from: folder, to: target });
  const files = await filesIn(target, ".js");
  if (platform === "browser") await keepScopes(files, target);
  else await makeProgram(join(target, CLI));
  return files;
}

/** The suites for stores take `node:assert` for granted, and a bot's store is in IndexedDB. */
async function replaceForBrowsers(folder: string): Promise<void> {
  for (const file of await filesIn(join(folder, "src/testing/conformance"), ".ts")) {
    const text = await Deno.readTextFile(file);
    const there = '"../../base/platform/browser_assert.ts"';
    await Deno.writeTextFile(file, text.replaceAll(/"node:(?:assert|util)"/g, there));
  }
  const lazy = join(folder, "src/bot/env.ts");
  const text = (await Deno.readTextFile(lazy)).replaceAll(/store\/(?:sqlite|kv)\.ts/g, "store/indexeddb.ts");
  await Deno.writeTextFile(lazy, text.replaceAll(/(?:Sqlite|Kv)Store/g, "IndexedDbStore"));
}

/** Has a file run as a program. */
async function makeProgram(file: string): Promise<void> {
  await Deno.writeTextFile(file, `#!/usr/bin/env node\n${await Deno.readTextFile(file)}`);
  await Deno.chmod(file, 0o755);
}

/** Emits the declarations of all entries. */
async function declare(folder: string): Promise<string[]> {
  const { stdout } = await run("deno", ["types"]);
  const lib = join(folder, "deno.d.ts");
  await Deno.writeTextFile(lib, stdout);
  const outDir = join(OUTPUT, "types");
  const program = ts.createProgram([lib, ...entries.map(({ path }) => join(folder, path))], {
    allowImportingTsExtensions: true,
    declaration: true,
    emitDeclarationOnly: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    noCheck: true,
    lib: ["lib.esnext.d.ts"],
    outDir,
    paths: {
      "@greenroom/vodozemac-wasm": [join(folder, "vodozemac-wasm/mod.ts")],
      ...Object.fromEntries(
        ["async", "bytes", "encoding", "jsonc"].map((name) => [
          `@std/${name}/*`,
          [join(folder, `third_party/jsr/std-${name}/*.d.ts`)],
        ]),
      ),
    },
    rootDir: folder,
    skipLibCheck: true,
    strict: true,
    target: ts.ScriptTarget.ESNext,
    types: [],
  });
  program.emit();
  const files = await filesIn(outDir, ".d.ts");
  for (const file of files) {
    const text = await Deno.readTextFile(file);
    const vodozemac = relative(dirname(file), join(outDir, "vodozemac-wasm/mod.js"));
    await Deno.writeTextFile(
      file,
      text.replace(/((?:from|import\()\s*"\.{1,2}\/[^"]+)\.ts"/g, '$1.js"')
        .replace(
          /"@greenroom\/vodozemac-wasm"/g,
          `"${vodozemac.startsWith(".") ? vodozemac : `./${vodozemac}`}"`,
        ),
    );
  }
  return files;
}

function exportsOf({ name, path }: (typeof entries)[number]): Record<string, string> {
  const types = `./types/${path.replace(/\.ts$/, ".d.ts")}`;
  const only = ONLY[name];
  if (only !== undefined) return { types, default: `./${only}/${js(path)}` };
  return { types, browser: `./browser/${js(path)}`, default: `./node/${js(path)}` };
}

/**
 * Builds the package.
 *
 * @returns The path of the `.tgz`.
 */
export async function buildNpm(): Promise<string> {
  await Deno.remove(OUTPUT, { recursive: true }).catch(() => {});
  await Deno.mkdir(OUTPUT, { recursive: true });
  const folder = await Deno.makeTempDir({ prefix: "greenroom-npm-" });
  try {
    await copySources(folder);
    const code = [...await bundleFor("node", folder), ...await bundleFor("browser", folder)];
    code.push(...await declare(folder));
    const { name, version, description, license } = denoJson;
    const manifest = {
      ...{ name, version, description, license, type: "module" },
      engines: { node: ">=24.2" },
      bin: { greenroom: `./node/${CLI}` },
      exports: Object.fromEntries(entries.map((entry) => [entry.name, exportsOf(entry)])),
      dependencies: await dependencies(code),
    };
    await Deno.writeTextFile(join(OUTPUT, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    for (const file of ["README.md", "CHANGELOG.md", "LICENSE"]) {
      await Deno.copyFile(ROOT + file, join(OUTPUT, file));
    }
    return await pack(`${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
  } finally {
    await esbuild.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** What npm makes of a folder: a tar, in which all stands in `package/`. */
async function pack(name: string): Promise<string> {
  const path = `${OUTPUT}/${name}`;
  const files = await Array.fromAsync(Deno.readDir(OUTPUT), (entry) => entry.name);
  const { code, output } = await run("tar", [
    "-czf",
    path,
    "--transform=s,^,package/,",
    "-C",
    OUTPUT,
    ...files,
  ]);
  if (code !== 0) throw new Error(`Cannot pack ${path}: ${output}`);
  return path;
}

if (import.meta.main) console.log(await buildNpm());
