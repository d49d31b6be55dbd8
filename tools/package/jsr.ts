/**
 * Builds what is published on JSR: `deno task jsr` makes `.cache/jsr/`, from where `deno publish` takes it.
 *
 * Deno bundles the entries, with vodozemac-wasm and what is used of the standard library: a bot's first start
 * asks for a hundred files in place of four hundred, and nothing has to be compiled. The sources go along.
 * They are the types of the entries (`@ts-self-types`), so that editors, the compiler and the reference show
 * them. Libraries of npm stay dependencies.
 *
 * @module
 */

import { join, relative } from "node:path/posix";
import ts from "typescript";
import denoJson from "../../deno.json" with { type: "json" };
import { bundle, copySources, filesIn, js } from "./bundle.ts";
import { mergeChunks } from "./merge_chunks.ts";
import { ROOT, run } from "../process.ts";
import { commandResult, type Step, type StepResult } from "../step.ts";

const OUTPUT = `${ROOT}.cache/jsr`;
const CODE = "dist";
const PAGES = ["README.md", "CHANGELOG.md", "LICENSE"];
/**
 * Libraries that bots import late. Deno fetches those of late imports one after the other, and all others at
 * once: so the entry of bots also imports a file of each that does nothing. `fast-png` has none.
 */
const LATE = ["blurhash", "jpeg-js", "markdown-it", "oauth4webapi"];
/** What is always loaded together: with the client, with the engine of encryption, with a bot. */
const MERGES = [
  { name: "client.js", root: "mod.js" },
  { name: "engine.js", root: "engine-" },
  { name: "bot.js", root: "src/bot/mod.js", spares: ["types.js", "errors.js", "src/store/"] },
];
/** Where a bundle says that code of the standard library begins; this is npm's copy of it. */
const STD = /^\/\/ \S*\/deno-std\/[\d.]+\/(.+)\.js$/gm;

/**
 * Builds the package, and vodozemac-wasm beside it.
 *
 * @param folder Where; what is there is removed.
 */
export async function buildJsr(folder: string = OUTPUT): Promise<void> {
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  await Deno.mkdir(folder, { recursive: true });
  folder = await Deno.realPath(folder); // maps name sources from where these are, not from a link to that
  const { publish } = denoJson;
  const exports = Object.fromEntries(
    Object.entries(denoJson.exports).map(([name, path]) => [name, `./${join(CODE, js(path))}`]),
  );
  await copySources(folder, {
    ...{ exports, publish: { ...publish, include: [...publish.include, CODE] } },
    ...{ tasks: undefined, fmt: undefined, lint: undefined, test: undefined },
  });
  for (const page of PAGES) await Deno.copyFile(ROOT + page, join(folder, page));
  await bundleCode(folder);
}

async function bundleCode(folder: string): Promise<void> {
  const [code, cache] = [join(folder, CODE), join(folder, ".deno")];
  const entries = Object.values(denoJson.exports);
  // A cache in the folder: names of chunks depend on where the standard library is.
  await bundle(entries, { from: folder, to: code, args: ["--sourcemap=linked"], env: { DENO_DIR: cache } });
  await Deno.remove(cache, { recursive: true });
  await checkPinned(join(folder, "deno.lock"));
  await mergeChunks(code, MERGES);
  for (const path of await filesIn(code, ".js")) {
    const text = withoutComments(await Deno.readTextFile(path));
    await Deno.writeTextFile(path, text.replace(STD, "// @std/$1: the Deno authors, MIT license"));
  }
  for (const entry of entries) {
    const path = join(code, js(entry));
    const types = relative(join(path, ".."), join(folder, entry));
    const early = entry !== denoJson.exports["./bot"]
      ? []
      : LATE.map((name) => `import "${name}/package.json" with { type: "json" };`);
    const first = [`/* @ts-self-types="${types}" */`, ...early].join(" ");
    // In one line, so that the map holds.
    await Deno.writeTextFile(path, `${first} ${await Deno.readTextFile(path)}`);
  }
  for (const path of await filesIn(code, ".map")) {
    const { sourcesContent: _, ...map } = JSON.parse(await Deno.readTextFile(path)); // the sources are there
    await Deno.writeTextFile(path, JSON.stringify(map));
  }
}

/**
 * Blanks the comments of members of classes, the only ones that Deno keeps: they are a tenth of the code, and
 * for the dash in one of them V8 would keep all of a file in two bytes a letter. Lines stay, so that maps
 * hold.
 */
function withoutComments(text: string): string {
  let left = "";
  let at = 0;
  const visit = (node: ts.Node): void => {
    if (ts.isClassElement(node)) {
      for (const { pos, end } of ts.getLeadingCommentRanges(text, node.pos) ?? []) {
        left += text.slice(at, pos) + text.slice(pos, end).replace(/[^\n]/g, "");
        at = end;
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("module.js", text, ts.ScriptTarget.ESNext));
  return left + text.slice(at);
}

/** Compares what Deno has fetched with the repository's lock file: it mends a copy in silence. */
async function checkPinned(lock: string): Promise<void> {
  const [fetched, pinned] = await Promise.all([lock, `${ROOT}deno.lock`].map(async (path) => {
    const { npm }: { npm: Record<string, { integrity: string }> } = JSON.parse(await Deno.readTextFile(path));
    return npm;
  }));
  const other = Object.entries(fetched ?? {}).find(([name, { integrity }]) =>
    integrity !== pinned?.[name]?.integrity
  );
  if (other !== undefined) {
    throw new Error(
      `Cannot build the package: ${other[0]} is not the one of deno.lock; look at the registry`,
    );
  }
}

/**
 * What is published passes JSR's checks, and can be loaded. The compiler and the reference take it as they
 * take the sources.
 */
export const published: Step = {
  name: "published package",
  async run(): Promise<StepResult> {
    const folder = await Deno.makeTempDir({ prefix: "greenroom-jsr-" });
    try {
      await buildJsr(folder);
      const config = `--config=${folder}/deno.json`;
      const entries = Object.values(denoJson.exports).map((path) => join(folder, CODE, js(path)));
      const files = await filesIn(join(folder, CODE), ".js");
      const loads = files.map((path) => `await import("file://${path}");`).join("\n");
      const types = ["test", "-A", "--no-check", "--quiet", "tests/types/complaints_test.ts"];
      const results = [
        commandResult(await run("deno", ["publish", config, "--dry-run", "--allow-dirty", "--quiet"])),
        commandResult(await run("deno", ["doc", config, "--lint", ...entries])),
        commandResult(await run("deno", ["eval", "--quiet", config, loads])), // each import finds its name
        commandResult(await run("deno", types, { GREENROOM_CONFIG: `${folder}/deno.json` })),
      ];
      const failures = results.filter(({ failed }) => failed > 0);
      return {
        passed: results.length - failures.length,
        failed: failures.length,
        output: failures.map(({ output }) => output).join("\n"),
      };
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};

if (import.meta.main) await buildJsr();
