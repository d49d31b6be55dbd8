import { assertEquals } from "@std/assert";
import { Client } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { Homeserver } from "@greenroom/matrix/testing";

for (
  const [name, add] of Object.entries<(bot: Bot) => void>({
    "A command": (bot) =>
      bot.command("close", async (c) => {
        await c.reply("closing");
        await bot.close();
      }),
    "A command that does not await it": (bot) =>
      bot.command("close", async (c) => {
        bot.close();
        await c.reply("closing");
      }),
    "A reminder": (bot) => {
      bot.reminder("close", async (c) => {
        await c.send("closing");
        await bot.close();
      });
      bot.command("close", (c) => c.remind({ in: 0 }, { name: "close" }));
    },
    "A handler of the client": (bot) =>
      bot.client.on("m.room.message", async ({ room_id, content }) => {
        if (content.body !== "!close") return;
        await bot.client.sendText(room_id, "closing");
        await bot.close();
      }),
  })
) {
  Deno.test(`${name} that closes its bot is done once, and the next start does not do it again`, async () => {
    await using homeserver = new Homeserver();
    const { baseUrl, fetch } = homeserver;
    const { userId, accessToken, clientOptions } = homeserver.createUser("bot");
    await using itself = new Client({ ...clientOptions, log: false });
    await using alice = new Client({ ...homeserver.createUser("alice").clientOptions, log: false });
    const room = await alice.createRoom({ invite: [userId], encrypted: false });
    await itself.joinRoom(room);
    const folder = await Deno.makeTempDir();
    const make = () => {
      const bot = new Bot({ homeserver: baseUrl, fetch, accessToken, store: `${folder}/bot.db`, log: false });
      add(bot);
      return bot;
    };
    try {
      const bot = make();
      const running = bot.start({ signals: false });
      await bot.client.ready;
      await alice.sendText(room, "!close");
      await running;
      await alice.sendText(room, "!echo back");
      await using next = make();
      next.command("echo <text>", (c) => c.send(c.args.text));
      await next.syncOnce();
      const said = await Array.fromAsync(alice.iterateMessages(room, "f"));
      const texts = said.filter(({ sender }) => sender !== alice.mxid).map(({ content }) => content.body);
      assertEquals(texts.filter((text) => text !== undefined), ["closing", "back"]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
