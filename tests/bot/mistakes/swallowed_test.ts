import { assertEquals } from "@std/assert";
import { trying } from "../support.ts";

Deno.test("A function that keeps messages from the commands behind it is warned of, once a command", async () => {
  await using tester = trying((bot) => {
    bot.command("before", (c) => c.reply("before"));
    bot.on("message:text", (c, next) => c.text.includes("go on") ? next() : c.reply("taken"));
    bot.command("ping [how...]", (c) => c.reply("pong"));
  });
  const room = await tester.room("alice", "bob");
  const warned = () => tester.logged.filter((line) => line.startsWith("A command was not called"));
  for (
    const [said, answer] of [["!before", "before"], ["hello", "taken"], ["!ping go on", "pong"]] as const
  ) {
    await room.say(said);
    await room.expect(answer);
  }
  await tester.settle();
  assertEquals(warned(), []);
  for (let round = 0; round < 2; round++) {
    await room.say("!ping");
    await room.expect("taken");
  }
  await tester.settle();
  assertEquals(warned().map((line) => line.includes('"ping"')), [true]);
});
