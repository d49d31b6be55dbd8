import { trying } from "../support.ts";

Deno.test("A command is described by a text in front of its function, which knows its arguments", async () => {
  await using tester = trying((bot) =>
    bot.command("greet <whom>", "Says hello", (c) => c.reply(`Hello, ${c.args.whom satisfies string}`))
  );
  const room = await tester.room("alice");
  await room.say("!help");
  await room.expect(/greet <whom>.*Says hello/);
  await room.say("!greet Bob");
  await room.expect("Hello, Bob");
});
