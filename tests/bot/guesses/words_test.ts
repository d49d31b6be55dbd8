import { assert, assertEquals } from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import { type Args, Composer } from "@greenroom/matrix/bot";
import { argumentsOf, parsePattern, PillText } from "../../../src/bot/commands/commands.ts";
import { trying } from "../support.ts";
import { took } from "../text/took.ts";

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

Deno.test("A command with an alias takes no words where another goes on from the alias", async () => {
  await using tester = trying((bot) => {
    bot.command("list", { aliases: ["todo", "todo all"] }, (c) => c.reply(`list ${c.args.join("-")}.`));
    bot.command("todo add <text>", (c) => c.reply("added"));
    bot.command("show", { aliases: ["show all"] }, (c) => c.reply(`shown ${c.args.join("-")}.`));
  });
  const room = await tester.room("alice");
  for (
    const [text, answer] of [
      ["!todo", "list ."],
      ["!todo add milk", "added"],
      ["!todo ad milk", '"ad milk" is too much\n\nUsage: !list'],
      ["!list ad milk", '"ad milk" is too much\n\nUsage: !list'],
      ["!show al milk", "shown al-milk."],
    ] as const
  ) {
    await room.say(text);
    await room.expect(answer);
  }
});

Deno.test("A command takes words although a tree after it has a command of the same name", async () => {
  await using tester = trying((bot) => {
    bot.command("echo", (c) => c.reply(`first ${c.args.join("-")}.`));
    bot.use(new Composer().command("echo", (c) => c.reply("second")));
  });
  const room = await tester.room("alice");
  await room.say("!echo one two");
  await room.expect("first one-two.");
});

/** The words of a text. */
function wordsIn(text: string): unknown {
  const given = argumentsOf(parsePattern("echo", {}), text, new PillText(text), { takesWords: true });
  assert(!(given instanceof Promise) && "args" in given);
  return given.args;
}

Deno.test("Words in quotation marks are one wherever they stand", () => {
  for (
    const [text, words] of [
      ['a "b c" d "e f"', ["a", "b c", "d", "e f"]],
      ['"a b" "c', ["a b", '"c']],
      ["“a b” “c “d e” f", ["a b", "c “d e", "f"]],
      ['“a "b c” d" "e f"', ['a "b c', 'd"', "e f"]],
      ['"a b"c d "e f"', ['"a', 'b"c', "d", "e f"]],
      ["“a “b c”d “e", ["“a", "“b", "c”d", "“e"]],
    ] as const
  ) assertEquals(wordsIn(text), words, text);
});

Deno.test("Words of long texts are taken apart in linear time, and the last of very many has the rest", () => {
  for (const text of ["“ ".repeat(50_000), `${"“ ".repeat(50_000)}”x`, `${"“a ".repeat(33_000)}" `]) {
    const [open = ""] = text.split(" ", 1);
    const words = took(10, text, () => wordsIn(text));
    const rest = text.trim().slice(999 * (open.length + 1));
    assertEquals(words, [...new Array(999).fill(open), rest]);
  }
});

Deno.test("Arguments that only args names come in its order, and a text at the end is the rest", async () => {
  await using tester = trying((bot) => {
    bot.command("repeat", { args: { times: "number", text: "text" } }, (c) => {
      // deno-lint-ignore no-boolean-literal-for-arguments -- it is how assertType() is called
      assertType<IsExact<typeof c.args, { readonly times: number; readonly text: string }>>(true);
      return c.reply(Array.from({ length: c.args.times }, () => c.args.text).join(", "));
    });
    bot.command("go", { args: { where: "text", fast: "flag" } }, (c) => {
      // deno-lint-ignore no-boolean-literal-for-arguments -- it is how assertType() is called
      assertType<IsExact<typeof c.args, { readonly where: string; readonly fast: boolean }>>(true);
      return c.reply(`${c.args.where} ${c.args.fast}`);
    });
    bot.command("list", { description: "Lists words" }, (c) => c.reply(c.args.join("+")));
  });
  const room = await tester.room("alice");
  await room.say("!repeat 2 tea for two");
  await room.expect("tea for two, tea for two");
  await room.say("!repeat twice tea");
  await room.expect(/times: must be a number/);
  await room.say("!go home --fast");
  await room.expect("home true");
  await room.say("!list a b");
  await room.expect("a+b");
  assertEquals(
    parsePattern("repeat", { args: { times: "number", text: "text" } }).usage,
    "<times> <text...>",
  );
});

Deno.test("The types of arguments: a list without a pattern, else names", () => {
  // deno-lint-ignore no-boolean-literal-for-arguments -- it is how assertType() is called
  assertType<IsExact<Args<"echo">, string[]>>(true);
  const named: Args<"add <n>"> = { n: "1" };
  assert(named.n === "1");
});
