/**
 * How long the first start of a bot takes with an empty cache, over a link of 50 ms each way:
 * `deno run -A bench/first_start.ts [ROUNDS]`.
 *
 * A registry on loopback has the package as JSR would, and packages of npm. The bot is encrypted and stores in a
 * SQLite file; its start ends with its first sync, on a homeserver without delay. Compared are the sources, as they
 * are published, and the same code in chunks that Deno has bundled.
 *
 * @module
 */

import { relative } from "node:path";
import { Homeserver } from "@greenroom/matrix/testing";
import denoJson from "../deno.json" with { type: "json" };
import { ROOT, run } from "../tools/process.ts";
import { type Package, SlowRegistry } from "./first_start/registry.ts";
import { number, row } from "./support/markdown.ts";
import { median } from "./support/statistics.ts";

const EACH_WAY_MS = 50;
const STD = ["async", "bytes", "encoding"];
const VERSION = denoJson.version;

const BOT = `
import { Bot } from "jsr:@greenroom/matrix@${VERSION}/bot";
import { SqliteStore } from "jsr:@greenroom/matrix@${VERSION}/store/sqlite";
const [homeserver, accessToken] = Deno.args;
const store = await SqliteStore.open("bot.db");
const bot = new Bot({ homeserver, accessToken, store, encryption: { sendTo: "all", accept: "all" }, log: false });
bot.command("ping", (c) => c.reply("pong"));
void bot.start();
await bot.client.ready;
Deno.exit();
`;

/** What stands in imports of what is published. */
const published: Readonly<Record<string, string>> = {
  ...denoJson.imports as Record<string, string>,
  "@greenroom/vodozemac-wasm": `jsr:@greenroom/vodozemac-wasm@^${VERSION}`,
};

function withPublishedImports(text: string): string {
  return text.replace(
    /(\b(?:from|import)\s*\(?\s*")([^".][^"]*)"/g,
    (whole, before: string, name: string) => {
      const found = Object.entries(published).find(([key]) => name === key || name.startsWith(`${key}/`));
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

/** What the package needs of JSR. */
async function others(): Promise<Package[]> {
  return await Promise.all(STD.map(async (name): Promise<Package> => {
    const folder = `${ROOT}third_party/jsr/std-${name}`;
    const config = JSON.parse(await Deno.readTextFile(`${folder}/deno.json`));
    return { ...config, files: await filesUnder(folder, [""]) };
  }));
}

async function sources(): Promise<Package[]> {
  const files = await filesUnder(ROOT.replace(/\/$/, ""), ["mod.ts", "types.ts", "errors.ts", "src"]);
  const folder = `${ROOT}vodozemac-wasm`;
  const wasm = {
    exports: { ".": "./mod.ts" },
    files: await filesUnder(folder, ["mod.ts", "src", "vodozemac.json"]),
  };
  return [
    { name: denoJson.name, version: VERSION, exports: denoJson.exports, files },
    { name: "@greenroom/vodozemac-wasm", version: VERSION, ...wasm },
    ...await others(),
  ];
}

/** @param external The libraries that are no part of the chunks. */
async function chunks(folder: string, external: readonly string[]): Promise<Package[]> {
  const entries = Object.values(denoJson.exports);
  const { code, output } = await run("deno", [
    ...[
      "bundle",
      "--quiet",
      "--platform=browser",
      "--code-splitting",
      "--no-lock",
      ...external.flatMap((name) => [`--external=${name}`, `--external=${name}/*`]),
    ],
    ...[`--outdir=${folder}`, ...entries],
  ]);
  if (code !== 0) throw new Error(`Cannot bundle: ${output}`);
  const exports = Object.fromEntries(
    Object.entries(denoJson.exports).map(([name, path]) => [name, path.replace(/\.ts$/, ".js")]),
  );
  return [{ name: denoJson.name, version: VERSION, exports, files: await filesUnder(folder, [""]) }];
}

/** How long it takes, with the caches as they are. */
async function start(folder: string, env: Record<string, string>): Promise<number> {
  await using homeserver = new Homeserver();
  const { accessToken } = homeserver.createUser("bot");
  const args = ["run", "-A", "--no-config", "--no-lock", "bot.ts", await homeserver.listen(), accessToken];
  const before = performance.now();
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: folder, env }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return performance.now() - before;
}

async function measure(name: string, packages: readonly Package[], rounds: number): Promise<string> {
  const upstream = (await run("npm", ["config", "get", "registry"])).stdout.trim();
  const kept = new Map<string, Uint8Array<ArrayBuffer>>();
  const times: { cold: number; warm: number }[] = [];
  let traffic = { jsr: { requests: 0, bytes: 0 }, npm: { requests: 0, bytes: 0 } };
  for (let round = 0; round <= rounds; round++) {
    const folder = await Deno.makeTempDir({ prefix: "greenroom-first-" });
    await Deno.writeTextFile(`${folder}/bot.ts`, BOT);
    await using registry = new SlowRegistry(packages, { roundTrip: 2 * EACH_WAY_MS, upstream, kept });
    const env = { ...registry.env, DENO_DIR: `${folder}/cache`, NO_COLOR: "1" };
    const cold = await start(folder, env);
    traffic = { jsr: { ...registry.jsr }, npm: { ...registry.npm } };
    if (round > 0) times.push({ cold, warm: await start(folder, env) }); // the first fetches what npm has
    await Deno.remove(folder, { recursive: true });
  }
  const middle = (kind: "cold" | "warm") => number(median(times.map((each) => each[kind])) / 1000);
  const { jsr, npm } = traffic;
  return row([
    ...[name, middle("cold"), middle("warm"), number(jsr.requests), number(jsr.bytes / 1024)],
    ...[number(npm.requests), number(npm.bytes / 1024)],
  ]);
}

/** The libraries of npm that the package imports. */
function libraries(): string[] {
  const imports = Object.entries(denoJson.imports as Record<string, string>);
  return imports.filter(([, at]) => at.startsWith("npm:")).map(([name]) => name);
}

if (import.meta.main) {
  const rounds = Number(Deno.args[0] ?? 3);
  const folder = await Deno.makeTempDir({ prefix: "greenroom-chunks-" });
  const kinds = {
    sources: sources(),
    chunks: chunks(`${folder}/own`, libraries()),
    "chunks, with libraries": chunks(`${folder}/all`, []),
  };
  console.log(row(["What is published", "first, s", "next, s", "JSR files", "KiB", "npm requests", "KiB"]));
  console.log(row(["---", "---:", "---:", "---:", "---:", "---:", "---:"]));
  for (const [name, packages] of Object.entries(kinds)) {
    console.log(await measure(name, await packages, rounds));
  }
  await Deno.remove(folder, { recursive: true });
}
