import { assert } from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import type { Args } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

Deno.test("A command without arguments in its pattern has a list of words, mentions as IDs", async () => {
  await using tester = trying((bot) => {
    bot.command("echo", (c) => {
      const [first, ...others] = c.args;
      return c.reply(`${c.args.length}: ${first} | ${others.join(" ")}.`, { format: "plain" });
    });
  });
  const room = await tester.room("alice", "bob");
  for (
    const [text, answer] of [
      ["!echo", "0: undefined | ."],
      ["!echo  one two\nthree", "3: one | two three."],
      ['!echo "one two" three', "2: one two | three."],
    ] as const
  ) {
    await room.say(text);
    await room.expect(answer);
  }
  await room.say("!echo Bob B. now", {
    content: {
      format: "org.matrix.custom.html",
      formatted_body: '!echo <a href="https://matrix.to/#/@bob:localhost">Bob B.</a> now',
    },
  });
  await room.expect("2: @bob:localhost | now.");
});

Deno.test("What only begins like a command calls none, nor does one of several words with a typing error", async () => {
  await using tester = trying((bot) => {
    bot.command("leave", (c) => c.reply(`leaving ${c.args.join("-")}.`));
    bot.command("todo", (c) => c.reply(`todo ${c.args.join("-")}.`));
    bot.command("todo add <text>", (c) => c.reply("added"));
  });
  const room = await tester.room("alice"); // a direct chat: no prefix is needed
  for (
    const [text, answer] of [
      ["leave", "leaving ."],
      ["leave me alone", '"me alone" is too much\n\nUsage: !leave'],
      ["!leave me alone", "leaving me-alone."],
      ["!todo", "todo ."],
      ["!todo ad milk", '"ad milk" is too much\n\nUsage: !todo'],
    ] as const
  ) {
    await room.say(text);
    await room.expect(answer);
  }
});

Deno.test("The types of arguments: a list without a pattern, else names", () => {
  // deno-lint-ignore no-boolean-literal-for-arguments -- it is how assertType() is called
  assertType<IsExact<Args<"echo">, string[]>>(true);
  const named: Args<"add <n>"> = { n: "1" };
  assert(named.n === "1");
});
