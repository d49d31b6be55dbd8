import { assertEquals } from "@std/assert";
import { MemoryStore, ValueError } from "@greenroom/matrix";
import { Bot, type Query } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";
import { trying } from "../support.ts";

const POLL = { "org.matrix.msc1767.text": "Tea?", "org.matrix.msc3381.poll.start": {} };
const STICKER = { body: "a cat", url: "mxc://localhost/cat", info: {} };

const WAITED: [query: Query, type: string, content: Record<string, unknown>][] = [
  ["sticker", "m.sticker", STICKER],
  ["poll:start", "org.matrix.msc3381.poll.start", POLL],
  ["org.example.own", "org.example.own", { own: true }],
];

for (const [query, type, content] of WAITED) {
  for (const when of ["at once", "after a restart", "while the bot was away"] as const) {
    Deno.test(`What a function waits for is heard though no function listens to it: ${query}, ${when}`, async () => {
      const store = new MemoryStore();
      await using tester = new BotTester((given) => {
        const bot = new Bot({ ...given, store });
        bot.command("go", async (c) => {
          await c.reply("now");
          const answer = await c.wait({ filter: query });
          await c.reply(`heard ${answer.event.type}`);
        });
        return bot;
      });
      const room = await tester.room("alice", "bob");
      await room.send(type, content as never); // nobody waits for it
      await room.say("!go");
      await room.expect("now");
      await tester.settle();
      if (when === "while the bot was away") await tester.stop();
      if (when === "after a restart") await tester.restart();
      await room.send(type, content as never);
      if (when === "while the bot was away") await tester.start();
      await room.expect(`heard ${type}`);
    });
  }
}

Deno.test("c.wait() refuses what is neither a query nor a type of event", async () => {
  const errors: unknown[] = [];
  await using tester = trying((bot) => {
    bot.catch((error) => void errors.push(error));
    bot.command("go", async (c) => void await c.wait({ filter: "stiker" as "sticker" }));
  });
  const room = await tester.room("alice");
  await room.say("!go");
  await room.expect("Sorry, that failed.");
  assertEquals(errors.map((error) => error instanceof ValueError), [true]);
});
