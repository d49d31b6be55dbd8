/**
 * What functions have as `c.session`.
 *
 * @module
 */

// deno-lint-ignore-file no-boolean-literal-for-arguments -- it is how assertType() is called
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import { ValueError } from "@greenroom/matrix";
import {
  Bot,
  type Context,
  ConversationEndedError,
  ConversationError,
  defineSession,
  type SessionScope,
  type WithSession,
} from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";
import { atEachCrashInRoom, countTwice } from "./crashing_room.ts";
import { hostOf } from "./living.ts";
import { passTimes } from "../support.ts";

interface Counted {
  count: number;
}
type Counting = Context & WithSession<Counted>;

const session = { initial: (): Counted => ({ count: 0 }) };
const kept = defineSession<Counted>({ name: "session", per: "room", ...session });

/** Tries a bot whose functions have a session. */
function counting(
  setUp: (bot: Bot<Counting>) => void,
  more: { readonly per?: SessionScope; readonly name?: string } = {},
): BotTester {
  return new BotTester((options) => {
    const bot = new Bot<Counting>({ ...options, session: { ...session, ...more } });
    setUp(bot);
    return bot;
  });
}

Deno.test("c.session is typed by the bot, in all of its functions", () => {
  const make = () => {
    const bot = Bot.fromEnv({ session });
    bot.command("count <n:number>", (c) => {
      assertType<IsExact<typeof c.session, Counted>>(true);
      assertType<IsExact<typeof c.args.n, number>>(true);
    });
    bot.on("image", (c) => assertType<IsExact<typeof c.session, Counted>>(true));
    return bot;
  };
  assertType<IsExact<ReturnType<typeof make>, Bot<Context & WithSession<Counted>>>>(true);
  const said = () => Bot.fromEnv<Counting>({ session });
  assertType<IsExact<ReturnType<typeof said>, Bot<Counting>>>(true);
  const without = () => [Bot.fromEnv(), Bot.fromEnv({ prefix: "?" })] as const;
  assertType<IsExact<ReturnType<typeof without>, readonly [Bot, Bot]>>(true);
});

Deno.test("c.session is read and set as data, is a room's, and is kept", async () => {
  await using tester = counting((bot) => {
    bot.command("count", (c) => {
      c.session.count++;
      return c.reply(`${c.session.count}`);
    });
    bot.command("set <n:number>", (c) => {
      c.session = { count: c.args.n };
    });
    bot.command("forget", (c) => {
      c.session = undefined as never;
    });
  });
  const [room, other] = [await tester.room("alice", "bob"), await tester.room("alice")];
  await room.say("!count");
  await room.expect("1");
  await room.as("bob").say("!count");
  await room.expect("2");
  await other.say("!count");
  await other.expect("1");
  await tester.restart();
  await room.say("!count");
  await room.expect("3");
  await room.say("!set 40");
  await room.say("!count");
  await room.expect("41");
  await room.say("!forget");
  await room.say("!count");
  await room.expect("1");
});

Deno.test("c.session per user is the same in each room", async () => {
  await using tester = counting(
    (bot) => bot.hears("clap", (c) => c.reply(`${++c.session.count}`)),
    { per: "user" },
  );
  const [room, other] = [await tester.room("alice", "bob"), await tester.room("alice")];
  await room.say("clap");
  await room.expect("1");
  await other.say("clap");
  await other.expect("2");
  await room.as("bob").say("clap");
  await room.expect("1");
});

Deno.test("A function that throws changes nothing of c.session", async () => {
  await using tester = counting((bot) => {
    bot.command("fail", (c) => {
      c.session.count = 100;
      throw new TypeError("no");
    });
    bot.command("count", (c) => c.reply(`${c.session.count}`));
  });
  const room = await tester.room("alice");
  await room.say("!fail");
  await room.expect("Sorry, that failed.");
  await room.say("!count");
  await room.expect("0");
});

Deno.test("After an answer c.session is what others have made of it, also by c.getSession()", async () => {
  await using tester = counting((bot) => {
    bot.command("slow", async (c) => {
      c.session.count += 10;
      await c.ask("Ready?");
      const same = await c.getSession(kept);
      c.session.count += 100;
      await c.reply(`${same.count}`);
    });
    bot.command("count", (c) => c.reply(`${++c.session.count}`));
  });
  const room = await tester.room("alice", "bob");
  await room.say("!slow");
  await room.expect("Ready?");
  await room.as("bob").say("!count");
  await room.expect("11");
  await room.say("yes");
  await room.expect("111");
});

Deno.test("After a question that nobody has answered c.session is what others have made of it, and is kept", async () => {
  await using tester = counting((bot) => {
    bot.command("ask", async (c) => {
      c.session.count += 10;
      try {
        await c.ask("Name?", { timeout: "1m" });
      } catch (error) {
        if (!(error instanceof ConversationEndedError)) throw error;
        await c.send(`${c.session.count += 100} at the ${error.reason}`);
      }
    });
    bot.command("count", (c) => c.reply(`${++c.session.count}`));
  });
  const room = await tester.room("alice", "bob");
  await room.say("!ask");
  await room.expect("Name?");
  await room.as("bob").say("!count");
  await room.expect("11");
  await tester.pass(60_000);
  await room.expect("111 at the timeout");
  await room.say("!count");
  await room.expect("112");
});

Deno.test("Wrong answers do not make the record of a conversation longer, with c.session too", async () => {
  await using tester = counting((bot) =>
    bot.command("age", async (c) => {
      const age = await c.ask("How old?", {
        check: ({ text }) => Number(text) > 0 ? undefined : "A number.",
      });
      await c.reply(`${age}: ${++c.session.count}`);
    })
  );
  const room = await tester.room("alice");
  await room.say("!age");
  await room.expect("How old?");
  for (let each = 0; each < 3; each++) {
    await room.say("old");
    await room.expect("A number.");
  }
  await room.say("7");
  await room.expect("7: 1");
});

Deno.test("A reminder has the session of its room; a schedule has none, and says so", async () => {
  const failures: string[] = [];
  await using tester = counting((bot) => {
    bot.command("later", (c) => {
      c.session.count = 7;
      return c.remind({ in: 1_000 }, { name: "tell" });
    });
    bot.reminder("tell", (c) => c.send(`${(c as unknown as Counting).session.count}`));
    bot.every("* * * * *", (c) => {
      try {
        (c as unknown as Counting).session.count++;
      } catch (error) {
        failures.push((error as Error).message);
      }
    });
  });
  await passTimes(tester, "7");
  assertEquals(failures, [
    "Cannot use c.session: there is none here; use bot.session(definition, key), with the key of the session",
  ]);
});

Deno.test("A function that says whose a session is gets events alone: reminders and schedules have none", async () => {
  const per = (event: object): string => (event as { sender: string }).sender.replace(/^.*:/, "");
  const servers = defineSession<Counted>({ name: "servers", ...session, per });
  const messages: string[] = [];
  await using tester = counting(
    (bot) => {
      bot.command("later", async (c) => {
        c.session.count++;
        await c.remind({ in: 1_000 }, { name: "tell" });
      });
      bot.reminder("tell", async (c) => {
        const { message } = await assertRejects(() => c.getSession(servers), ValueError);
        messages.push(message);
        await c.send("told");
      });
      bot.every("* * * * *", () => void messages.push("every minute"));
    },
    { per },
  );
  await passTimes(tester, "told");
  assertEquals(messages, [
    'Cannot use the session "servers": there is no event here; give the key with it',
    "every minute",
  ]);
});

Deno.test("c.session is refused when its function has ended: nobody would keep what is made of it", async () => {
  const kept: Counting[] = [];
  await using tester = counting((bot) =>
    bot.command("count", (c) => {
      kept.push(c);
      return c.reply(`${++c.session.count}`);
    })
  );
  const room = await tester.room("alice");
  await room.say("!count");
  await room.expect("1");
  await tester.settle();
  const [c] = kept as [Counting];
  const { message } = assertThrows(() => c.session.count++, ConversationError);
  assertEquals(message, "Cannot use c.session: the function has ended; await what it does before");
  assertThrows(() => c.session = { count: 9 }, ConversationError);
  await room.say("!count");
  await room.expect("2");
});

Deno.test("Without the option, c.session says what to do", async () => {
  const messages: string[] = [];
  await using tester = new BotTester((options) => {
    const bot = new Bot(options);
    bot.command("count", (c) => {
      try {
        (c as unknown as Counting).session.count++;
      } catch (error) {
        messages.push((error as Error).message);
      }
    });
    return bot;
  });
  const room = await tester.room("alice");
  await room.say("!count");
  await tester.settle();
  assertEquals(messages, [
    "Cannot use c.session: the bot has none; give it the option session: { initial: () => ({ … }) }, or write " +
    "const state = await c.getSession(definition)",
  ]);
});

Deno.test("c.session counts each event once, through answers and a crash at any moment", async () => {
  await atEachCrashInRoom({
    isEncrypted: false,
    setUp(client) {
      const bot = new Bot<Counting>({ session, appservice: hostOf(client) });
      bot.command("count", async (c) => {
        c.session.count++;
        await c.ask(`${c.session.count}, and then?`);
        c.session.count++;
        await c.reply(`${c.session.count}`);
      });
      bot.start({ signals: false });
    },
  }, async (stage) => {
    await countTwice(stage);
    const { bot } = stage;
    const left = (await bot.records("session")).filter(({ key }) => key.at(-2) === "session");
    assertEquals(left.map(({ value }) => value), [{ count: 2 }], bot.crashes.join());
  });
});
