/** The npm package in Chromium. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { inChromium, Pages } from "./chromium.ts";
import { runtimeTest, Stage } from "./support.ts";

/** The first run of what follows stays in the middle of its second call, until it is cut off. */
const PAGE = `
import { IndexedDbStore } from "@greenroom/matrix/store/indexeddb";

const { url: homeserver, mxid, accessToken, encrypted, run } =
  Object.fromEntries(new URLSearchParams(location.search));
const encryption = encrypted === "true" && { sendTo: "all", accept: "all" };
const store = await IndexedDbStore.open("bot");
const pause = () => new Promise((resolve) => setTimeout(resolve, 1));
let calls = 0;
const cut = async () => { if (run === "1" && ++calls === 2) await new Promise(() => {}); };
`;

const PROGRAMS = {
  client: `${PAGE}
import { Client } from "@greenroom/matrix";

const client = new Client({ baseUrl: homeserver, mxid, accessToken, store, encryption, log: false });
client.on("INVITE", async ({ room_id, state_key }) => {
  if (state_key === mxid) await client.joinRoom(room_id);
});
client.on("m.room.message", async ({ room_id, sender, content }, context) => {
  if (sender === mxid || content.body !== "!twice") return;
  const own = context.inside(client);
  await own.sendText(room_id, "one");
  await pause();
  await own.sendText(room_id, "two");
  await cut();
  await own.sendText(room_id, "three");
}, { name: "twice" });
await client.start();
`,
  bot: `${PAGE}
import { Bot } from "@greenroom/matrix/bot";

const bot = new Bot({ homeserver, mxid, accessToken, store, encryption, log: false });
bot.use(async (c, next) => {
  await pause();
  await next();
});
bot.command("twice", async (c) => {
  await c.reply("one");
  await pause();
  await c.client.sendText(c.roomId, "two");
  await cut();
  await c.reply("three");
});
bot.command("name", async (c) => {
  const name = await c.ask("Your name?");
  await pause();
  await name.reply("Hello, " + name.text);
});
await bot.start();
`,
} as const;

const CSP = `
import { Client } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";

globalThis.main = async () => {
  const homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  const { userId: mxid, accessToken } = homeserver.createUser("bot");
  const client = new Client({ baseUrl, fetch, mxid, accessToken, log: false, encryption: true });
  return await client.start().then(() => "started", (error) => String(error));
};
`;

for (const kind of ["client", "bot"] as const) {
  for (const encrypted of [false, true]) {
    for (const end of ["reload", "kill"] as const) {
      const what = `${encrypted ? "an encrypted" : "a plain"} ${kind}`;
      runtimeTest(
        `In Chromium, ${what} says nothing twice when a ${end} cuts a handler off`,
        async (folder) => {
          await using stage = new Stage(encrypted);
          await using pages = await Pages.of(folder, PROGRAMS[kind]);
          const { userId: mxid, accessToken } = stage.bot;
          const query = {
            url: await stage.homeserver.listen(),
            mxid,
            accessToken,
            encrypted: String(encrypted),
          };
          await pages.open({ ...query, run: "1" });
          const room = await stage.room();
          await stage.say(room, "!twice");
          if (kind === "client") await stage.heard(3); // its handlers do not wait for one another
          await stage.say(room, "!twice");
          await stage.heard(5);
          await pages[end]({ ...query, run: "2" });
          assertEquals(await stage.heard(6), ["one", "two", "three", "one", "two", "three"]);
          if (kind === "bot") {
            await stage.say(room, "!name");
            await stage.heard(7);
            await pages[end]({ ...query, run: "3" });
            await stage.say(room, "Alice");
            assertEquals((await stage.heard(8)).slice(6), ["Your name?", "Hello, Alice"]);
          }
          const types = stage.homeserver.room(room).messages.map(({ type }) => type);
          assertEquals(types.includes("m.room.encrypted"), encrypted);
        },
      );
    }
  }
}

runtimeTest(
  "In Chromium, a policy that refuses WebAssembly ends a client, and the error names the mend",
  async (folder) => {
    const error = String(await inChromium(folder, CSP, "script-src 'self'"));
    assertStringIncludes(error, "'wasm-unsafe-eval'");
  },
);
