// deno-lint-ignore-file no-boolean-literal-for-arguments -- it is how assertType() is called
import { assert, assertEquals, assertThrows } from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import { ValueError } from "@greenroom/matrix";
import { Bot, Composer, type Context, defineSession, type QueryContext } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";
import {
  COMPILED_BOT_HINTS,
  COMPILED_EVENT_HINTS,
  CONTEXT_ROOM_HINTS,
  EVENT_HINTS,
  ROOM_CONTEXT_HINTS,
  ROOM_HINTS,
} from "../../../src/bot/context/context_hints.ts";
import { BOT_HINTS } from "../../../src/bot/context/context.ts";
import { trying } from "../support.ts";

type Untyped = Record<string, unknown>;

// deno-lint-ignore no-explicit-any
const untyped = (value: unknown): any => value; // as JavaScript has it

function assertHints(of: object, hints: Readonly<Record<string, string>>): void {
  for (const [name, here] of Object.entries(hints)) {
    assertThrows(() => (of as Untyped)[name], ValueError, `has no such member; write ${here}`);
  }
}

/** What a function that gets a message comes to. */
async function inContext(work: (c: Context, bot: Bot) => unknown): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  await using tester = new BotTester((options) => {
    const bot = new Bot({ ...options, saysFailures: false });
    bot.on("message", async (c) => resolve(await work(c, bot)));
    return bot.catch(resolve);
  });
  const room = await tester.room("alice");
  await room.say("hello");
  return await promise;
}

Deno.test("What is written for the membership of a user tells who is in the room from who was banned", async () => {
  assertEquals(CONTEXT_ROOM_HINTS.membership, '(await c.room.getMember(userId))?.membership === "join"');
  await using tester = trying((bot) => {
    bot.command("in <user:user>", async (c) => {
      const isIn = (await c.room.getMember(c.args.user))?.membership === "join";
      await c.reply(isIn ? "in" : "out");
    });
  });
  const room = await tester.room("alice", "bob");
  await room.say("!in @bob:localhost");
  await room.expect("in");
  const path = `/rooms/${encodeURIComponent(room.id)}/ban`;
  await tester.request("alice", "POST", path, { user_id: "@bob:localhost" });
  await tester.settle();
  await room.say("!in @bob:localhost");
  await room.expect("out");
});

Deno.test("Bots, rooms and contexts say what to write for members of other libraries, which is there", async () => {
  const failed = await inContext((c, bot) => {
    assertHints(bot, BOT_HINTS);
    assertHints(bot.store, { namespace: "keys of more parts: bot.store.get([name, key])" });
    assertHints(bot.in(c.roomId), ROOM_HINTS);
    assertHints(c.room, { ...ROOM_HINTS, ...ROOM_CONTEXT_HINTS, ...CONTEXT_ROOM_HINTS });
    assertHints(c, { ...ROOM_HINTS, ...ROOM_CONTEXT_HINTS, ...EVENT_HINTS });
    const is = (path: string, of: unknown) =>
      assert(
        path.split(".").every((name) => {
          const isThere = name in Object(of);
          of = (of as Untyped)[name];
          return isThere;
        }),
        path,
      );
    for (
      const here of Object.values({
        ...ROOM_CONTEXT_HINTS,
        ...EVENT_HINTS,
        ...COMPILED_EVENT_HINTS,
        ...CONTEXT_ROOM_HINTS,
      })
    ) {
      for (const [path] of here.matchAll(/(?<=\bc\.)[\w.]+/g)) {
        if (!path.includes("content") && path !== "args" && path !== "thread") is(path, c);
      }
    }
    for (const here of Object.values({ ...BOT_HINTS, ...COMPILED_BOT_HINTS })) {
      for (const [path] of here.matchAll(/(?<=\bbot\.)[\w.]+/g)) is(path, bot);
    }
    for (const here of Object.values(ROOM_HINTS)) is(/^\w+/.exec(here)?.[0] ?? "", c.room);
  });
  assertEquals(failed, undefined);
});

Deno.test("What a plugin adds to contexts by a name of another library is its own, in its type too", async () => {
  type Own = Context & { user: { points: number }; messages: string[] };
  const seen: unknown[] = [];
  const plugin = new Composer<Own>();
  plugin.on("message:text", (c) => {
    assertType<IsExact<typeof c.user, { points: number }>>(true);
    assertType<IsExact<typeof c.messages, string[]>>(true);
    seen.push(c.user.points, c.messages);
  });
  new Composer().on("message:text", (c) => assertType<IsExact<typeof c, QueryContext<"message:text">>>(true));
  await using tester = new BotTester((options) => {
    const bot = new Bot<Own>(options);
    bot.use((c, next) => {
      c.user = { points: 3 };
      c.messages = ["one"];
      return next();
    });
    return bot.use(plugin);
  });
  const room = await tester.room("alice");
  await room.say("hello");
  await tester.until(() => seen.length === 2, "The plugin was to see it");
  assertEquals(seen, [3, ["one"]]);
});

Deno.test("Options of commands that other libraries have are refused with what to write", () => {
  const command = untyped(new Composer()).command.bind(new Composer());
  assertThrows(() => command("roll", { help: "Rolls" }, () => {}), ValueError, "write description");
  assertThrows(() => command("roll", { adminOnly: true }, () => {}), ValueError, 'write access: "admins"');
});

Deno.test("c.send() may be a reply to any event, as bot.in(room).send() may", async () => {
  await using tester = trying((bot) =>
    bot.command("quote", async (c) => {
      await c.send("from inside", { replyTo: c.replyTo });
      await bot.in(c.roomId).send("from outside", { replyTo: c.replyTo });
    })
  );
  const room = await tester.room("alice");
  const said = await room.say("the words");
  await room.say("!quote", { replyTo: said });
  for (const text of ["from inside", "from outside"]) {
    const { content } = await room.expect(text);
    assertEquals(content["m.relates_to"], { "m.in_reply_to": { event_id: said } });
  }
});

Deno.test("What calls with habits of other libraries come to says what to write", async () => {
  for (
    const [call, text] of [
      [(c) => c.typing("typing"), "c.typing(() => work())"],
      [(c) => c.typing({ timeout: 1 }), "c.typing(() => work())"],
      [(c) => c.setPowerLevel("@a:b", 50), "c.room.setPowerLevel(userId, level)"],
      [(c) => c.enableEncryption(), "c.room.enableEncryption()"],
      [(c) => c.getMembers(), "c.room.getMembers()"],
      [(c) => c.members.size, "await c.room.getMembers()"],
      [(c) => c.getSession(), "await c.getSession(counter)"],
      [(c) => c.endSession(), "defineSession({ name, per, initial })"],
      [(c) => c.session.count++, "give it the option session: { initial: () => ({ … }) }"],
      [async (c) => (await c.session).points, "write const state = await c.getSession(definition)"],
      [(c) => c.reply("a", { html: "<b>a</b>" }), 'no option html; write format: "html"'],
      [(c) => c.send("a", { markdown: true }), "no option markdown; write format, which is Markdown"],
      [(c) => c.sendImage(new Uint8Array(1), { caption: "a", parseMode: "HTML" }), 'write format: "html"'],
      [(c) => c.edit("$a", "a", { notice: true }), 'write msgtype: "m.notice"'],
      [(c) => c.reply("a", { thread: true }), "write c.replyInThread(text)"],
      [(c) => c.reply("a", { threadId: "$a" }), "or bot.in(roomId, { thread }).send(text)"],
      [(c) => c.menu("a?", []), "a list has 1 to 10 choices, and not 0"],
      [(c) => c.menu("a?", Array(11).fill("a")), "and not 11"],
    ] as readonly [(c: ReturnType<typeof untyped>) => unknown, string][]
  ) {
    const failure = String(await inContext((c) => call(untyped(c))));
    assert(failure.includes(text), `${call}: ${failure}`);
  }
});

Deno.test("A session's method is called with its definition as before", async () => {
  const counter = defineSession({ name: "counter", per: "room", initial: () => ({ count: 0 }) });
  assertEquals(await inContext(async (c) => ++(await c.getSession(counter)).count), 1);
});

Deno.test("A menu of a list has numbers, which are answered by reactions, numbers or labels", async () => {
  await using tester = new BotTester((options) => {
    const bot = new Bot(options);
    bot.command("size", async (c) => {
      const size = await c.menu("How large?", ["small", "large"]);
      assertType<IsExact<typeof size, string>>(true);
      await c.reply(`It is ${size}`);
    });
    bot.command("many", async (c) => {
      const many = await c.menu("How many?", Array.from({ length: 10 }, (_, at) => at * 10), {
        labels: false,
      });
      await c.reply(`These are ${many}`);
    });
    return bot;
  });
  const room = await tester.room("alice");
  for (const answer of ["large", "2️⃣"]) {
    await room.say("!size");
    await room.expect("How large?\n\n- 1️⃣ small\n- 2️⃣ large");
    await room.say(answer);
    await room.expect("It is large");
  }
  await room.say("!many");
  await room.expect("How many?");
  await room.say("🔟");
  await room.expect("These are 90");
});
