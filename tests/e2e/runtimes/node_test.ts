/** The npm package on Node 24 and Bun, from a project that has nothing else. */

import { assertEquals } from "@std/assert";
import { runtimeTest, Stage } from "./support.ts";

const BOT = `
import { Bot } from "@greenroom/matrix/bot";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";

const { BOT_URL, BOT_TOKEN, BOT_STORE, BOT_ENCRYPTS } = process.env;
await using store = await SqliteStore.open(BOT_STORE);
const bot = new Bot({
  homeserver: BOT_URL,
  accessToken: BOT_TOKEN,
  store,
  encryption: BOT_ENCRYPTS === "true" && { sendTo: "all", accept: "all" },
  log: false,
});
bot.command("name", async (c) => {
  const name = await c.ask("Your name?");
  await c.reply(\`Hello, \${name.text}\`);
});
bot.command("stop", (c) => c.reply("Bye"));
bot.command("fail", () => void Promise.reject(new Error("Nobody awaits it")));
bot.catch((error, c) => c.reply(\`Failed: \${error.message}\`));
await bot.start();
`;

const ENTRIES = `
import { Client, MemoryStore } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { MatrixError } from "@greenroom/matrix/errors";
import { Bot } from "@greenroom/matrix/bot";
import { AppService } from "@greenroom/matrix/appservice";
import * as oauth from "@greenroom/matrix/oauth";
import { Homeserver } from "@greenroom/matrix/testing";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";

export async function main(room: RoomID): Promise<void> {
  await using homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  await using client = new Client({ baseUrl, fetch, store: new MemoryStore() });
  client.on("m.room.message", ({ content }) => { const body: string = content.body; console.log(body); });
  const bot: Bot = new Bot({ homeserver: baseUrl, accessToken: "t", store: await SqliteStore.open(":memory:"), client: undefined as never });
  bot.command("ping", (c) => c.reply("pong"));
  // @ts-expect-error -- a number is no text
  await client.sendText(room, 1);
  console.log(MatrixError, AppService, oauth);
}
`;

/** Runs a program in the project to its end. */
async function run(command: string, args: readonly string[], cwd: string, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd, env }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, output: text(stdout) + text(stderr) };
}

/** Runs the bot until it was asked to stop by a signal. */
function startBot(command: string, cwd: string, env: Record<string, string>) {
  const child = new Deno.Command(command, { args: ["bot.mjs"], cwd, env, stdout: "piped", stderr: "piped" })
    .spawn();
  const output = child.output();
  return async (signal: "SIGTERM" | "SIGKILL") => {
    child.kill(signal);
    const { code, stderr } = await output;
    return { code, stderr: new TextDecoder().decode(stderr) };
  };
}

for (const [name, path] of [["Node 24", "node/bin/node"], ["Bun", "bun/bin/bun.exe"]] as const) {
  for (const encrypted of [false, true]) {
    const kind = encrypted ? "an encrypted" : "a plain";
    runtimeTest(
      `${name} runs ${kind} bot, which goes on with a conversation after kill -9`,
      async (folder) => {
        const app = `${folder}/app`;
        const command = `${folder}/tools/node_modules/${path}`;
        await Deno.writeTextFile(`${app}/bot.mjs`, BOT);
        const data = await Deno.makeTempDir({ prefix: "greenroom-runtime-" });
        await using stage = new Stage(encrypted);
        const url = await stage.homeserver.listen();
        const env = {
          BOT_URL: url,
          BOT_TOKEN: stage.bot.accessToken,
          BOT_STORE: `${data}/bot.db`,
          BOT_ENCRYPTS: String(encrypted),
        };
        const first = startBot(command, app, env);
        const room = await stage.room();
        await stage.say(room, "!name");
        assertEquals(await stage.heard(1), ["Your name?"]);
        await first("SIGKILL");
        await stage.say(room, "Alice");
        const second = startBot(command, app, env);
        assertEquals((await stage.heard(2)).slice(1), ["Hello, Alice"]);
        // Bun loses in whose scope that was.
        const failed = name === "Bun" ? [] : ["Failed: Nobody awaits it"];
        if (failed.length > 0) await stage.say(room, "!fail");
        await stage.heard(2 + failed.length);
        await stage.say(room, "!stop");
        assertEquals(await stage.heard(3 + failed.length), ["Your name?", "Hello, Alice", ...failed, "Bye"]);
        const { code, stderr } = await second("SIGTERM");
        assertEquals({ code, stderr }, { code: 143, stderr: "" });
        const types = new Set(stage.homeserver.room(room).messages.map(({ type }) => type));
        assertEquals(types.has("m.room.encrypted"), encrypted);
        await Deno.remove(data, { recursive: true });
      },
    );
  }
}

runtimeTest("The declarations of the npm package hold for nodenext and for bundlers", async (folder) => {
  const app = `${folder}/app`;
  await Deno.writeTextFile(`${app}/entries.ts`, ENTRIES);
  for (const [module, resolution] of [["nodenext", "nodenext"], ["esnext", "bundler"]] as const) {
    const { code, output } = await run(
      `${folder}/tools/node_modules/node/bin/node`,
      [
        `${folder}/tools/node_modules/typescript/bin/tsc`,
        ...[
          "--noEmit",
          "--strict",
          "--target",
          "es2023",
          "--lib",
          "esnext,dom,dom.iterable,dom.asynciterable",
        ],
        ...["--module", module, "--moduleResolution", resolution, "--typeRoots"],
        ...[`${folder}/tools/node_modules/@types`, "--types", "node", "entries.ts"],
      ],
      app,
    );
    assertEquals({ code, output }, { code: 0, output: "" }, resolution);
  }
});
