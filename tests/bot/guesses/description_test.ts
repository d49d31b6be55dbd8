import { assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Composer } from "@greenroom/matrix/bot";
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

Deno.test("A command has several names by a list: its arguments are those of the first", async () => {
  await using tester = trying((bot) => {
    bot.command(
      ["greet <whom>", "hello", "say hello"],
      "Says hello",
      (c) => c.reply(`Hello, ${c.args.whom satisfies string}`),
    );
    bot.command(["roll", "dice"], { aliases: ["die"] }, (c) => c.reply(`${c.args.length}`));
  });
  const room = await tester.room("alice");
  for (const name of ["greet", "hello", "say hello"]) {
    await room.say(`!${name} Bob`);
    await room.expect("Hello, Bob");
  }
  for (const name of ["roll", "dice", "die"]) {
    await room.say(`!${name} 1 2`);
    await room.expect("2");
  }
  await room.say("!help greet");
  await room.expect(/Also: `!hello`, `!say hello`/);
});

Deno.test("What is no name of a command is refused", () => {
  for (const wrong of [undefined, 7, [], [["a"]], ["a", undefined]]) {
    assertThrows(
      () => new Composer().command(wrong as never, () => {}),
      ValueError,
      "Cannot add a command: its name must be a text, or a list of names",
    );
  }
});
