// deno-lint-ignore-file no-boolean-literal-for-arguments -- it is how assertType() is called
import { assertType, type IsExact } from "@std/testing/types";
import {
  type Args,
  Bot,
  type CommandContext,
  Composer,
  type Context,
  type QueryContext,
} from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";

/** A context on which a plugin has set something. */
type Counted = Context & { count: number };

const AT = { baseUrl: "https://matrix.example.org", accessToken: "t" } as const;

Deno.test("Without a type of its own, a bot's functions get plain contexts, and branches narrow them", () => {
  const bot = new Bot(AT);
  bot.use((c) => assertType<IsExact<typeof c, Context>>(true));
  bot.on("reaction", (c) => assertType<IsExact<typeof c, QueryContext<"reaction">>>(true));
  bot.reaction("👍", (c) => assertType<IsExact<typeof c, QueryContext<"reaction">>>(true));
  bot.hears("hello", (c) => assertType<IsExact<typeof c, CommandContext>>(true));
  bot.hears(/hello/, (c) => assertType<IsExact<typeof c.match, RegExpExecArray>>(true));
  bot.command("add <n>", (c) => assertType<IsExact<typeof c, CommandContext<Args<"add <n>">>>>(true));
  bot.on("message:image").filter((c) => {
    assertType<IsExact<typeof c, QueryContext<"message:image">>>(true);
    return true;
  });
});

Deno.test("What a plugin adds to contexts reaches the functions of each kind, in their types and as they run", async () => {
  const plugin = new Composer<Counted>();
  plugin.hears(/^hears/, (c) => {
    assertType<IsExact<typeof c.count, number>>(true);
    assertType<IsExact<typeof c.match, RegExpExecArray>>(true);
    return c.reply(`hears ${c.count}`);
  });
  plugin.on("message:image").filter((c) => c.count > 0, (c) => c.reply(`filter ${c.event.content.url}`));
  plugin.reaction("👍", (c) => c.send(`reaction ${c.count} ${c.event.content["m.relates_to"].key}`));
  const caught = plugin.errorBoundary((_error, c) => c.reply(`boundary ${c.count}`));
  caught.command("fail", (c) => {
    throw new Error(`after ${c.count}`);
  });
  const plain = new Composer(); // it asks for nothing
  plain.hears("plain", (c) => c.reply("plain"));
  await using tester = new BotTester((options) => {
    const bot = new Bot<Counted>(options);
    bot.use((c, next) => {
      c.count = c.text.length;
      return next();
    });
    bot.use(plugin);
    bot.use(plain);
    bot.command("add <n>", (c) => {
      assertType<IsExact<typeof c.args, Args<"add <n>">>>(true);
      return c.reply(`command ${c.count} ${c.args.n}`);
    });
    return bot;
  });
  const room = await tester.room("alice");
  for (
    const [said, answer] of [
      ["hears", "hears 5"],
      ["!add 3", "command 6 3"],
      ["plain", "plain"],
      ["!fail", "boundary 5"],
    ] as const
  ) {
    await room.say(said);
    await room.expect(answer);
  }
});

Deno.test("What needs more of a context than a bot has is refused by its type", () => {
  const bot = new Bot(AT);
  const plugin = new Composer<Counted>();
  // @ts-expect-error nothing sets `count` on this bot's contexts
  bot.use(plugin);
  // @ts-expect-error the same of a function
  bot.command("count", (c: Counted) => c.reply(String(c.count)));
  const counted = new Bot<Counted>(AT);
  counted.use(plugin);
  counted.catch((_error, c) => assertType<IsExact<typeof c, Context>>(true)); // a new context
  counted.command("ask", async (c) => {
    const answer = await c.ask("How many?");
    // @ts-expect-error an answer is a plain context
    return answer.count;
  });
});
