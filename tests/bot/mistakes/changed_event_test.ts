import { assertEquals, assertStringIncludes } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { Bot, type Context } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";
import { trying } from "../support.ts";

/** Changes what a message says. */
function change(c: Context): void {
  (c.event.content as { body: string }).body = "changed";
}

for (const when of ["before it asks", "when it was answered"] as const) {
  Deno.test(`A function that changes its event ${when} goes on with its conversation`, async () => {
    await using tester = trying((bot) =>
      bot.command("go", async (c) => {
        if (when === "before it asks") change(c);
        await c.reply("first?");
        const answer = await c.wait({ filter: "message:text" });
        change(c);
        change(answer);
        await c.reply(`got ${answer}`);
        await c.reply(`got ${await c.wait({ filter: "message:text" })}`);
      })
    );
    const room = await tester.room("alice", "bob");
    for (const [said, answer] of [["!go", "first?"], ["one", "got one"], ["two", "got two"]] as const) {
      await room.say(said);
      await room.expect(answer);
    }
  });
}

Deno.test("A conversation whose command is not there any more ends with an error that says so", async () => {
  let hasCommand = true;
  const store = new MemoryStore();
  await using tester = new BotTester((given) => {
    const bot = new Bot({ ...given, store });
    if (hasCommand) bot.command("go", async (c) => void await c.ask("Well?"));
    bot.command("other", (c) => c.reply("other"));
    return bot;
  });
  const room = await tester.room("alice");
  await room.say("!go");
  await room.expect("Well?");
  hasCommand = false;
  await tester.restart();
  await room.say("yes");
  await room.say("!other");
  await room.expect("other");
  const failed = tester.logged.filter((line) => line.includes("no function did what was done"));
  assertEquals(failed.length, 1);
  assertStringIncludes(failed[0] ?? "", "ConversationError");
});
