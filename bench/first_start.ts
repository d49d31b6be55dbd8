/**
 * How long the first start of a bot takes with an empty cache, over a link of 50 ms each way:
 * `deno run -A bench/first_start.ts [ROUNDS]`.
 *
 * A registry on loopback has the package as JSR would, and packages of npm. The bot is encrypted and stores
 * in a SQLite file; its start ends with its first sync, on a homeserver without delay. What is published is
 * compared with the sources.
 *
 * @module
 */

import { Homeserver } from "@greenroom/matrix/testing";
import denoJson from "../deno.json" with { type: "json" };
import { run } from "../tools/process.ts";
import { others, published, sources } from "./first_start/packages.ts";
import { type Package, SlowRegistry } from "./first_start/registry.ts";
import { number, row } from "./support/markdown.ts";
import { median } from "./support/statistics.ts";

const EACH_WAY_MS = 50;
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

if (import.meta.main) {
  const rounds = Number(Deno.args[0] ?? 3);
  const folder = await Deno.makeTempDir({ prefix: "greenroom-packages-" });
  // All is built before anything is measured: that would share the machine with it.
  const kinds = { sources: await sources(), "as published": await published(`${folder}/published`) };
  const rest = await others(`${folder}/others`);
  console.log(row(["What is published", "first, s", "next, s", "JSR files", "KiB", "npm requests", "KiB"]));
  console.log(row(["---", "---:", "---:", "---:", "---:", "---:", "---:"]));
  for (const [name, own] of Object.entries(kinds)) {
    console.log(await measure(name, [own, ...rest], rounds));
  }
  await Deno.remove(folder, { recursive: true });
}
