import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Bot, Composer, type Context, defineSession } from "@greenroom/matrix/bot";
import type { BotTester } from "@greenroom/matrix/testing";
import { trying } from "../support.ts";

const COUNT = defineSession({ name: "count", per: "room", initial: () => ({ count: 0 }) });

/** What a function does without `await`, and what becomes of it. */
const FORGETFUL: Record<string, { run: (c: Context, bot: Bot) => unknown; says: readonly string[] }> = {
  "a reply": { run: (c) => void c.reply("pong"), says: ["pong"] },
  "a reply with formatting": { run: (c) => void c.reply("**pong**"), says: ["**pong**"] },
  "several replies, in their order": {
    run: (c) => {
      c.reply("**one**");
      c.send("two");
      c.reply("`three`").then(() => c.send("four"));
    },
    says: ["**one**", "two", "`three`", "four"],
  },
  "an edit": { run: (c) => void c.send("one").then((id) => c.edit(id, "**two**")), says: ["**two**"] },
  "a long text": { run: (c) => void c.send(`${"a".repeat(20_000)}\n\n${"b".repeat(20_000)}`), says: [] },
  "a reply in a thread": { run: (c) => void c.replyInThread("*pong*"), says: ["*pong*"] },
  "what comes of a step": {
    run: (c) => void c.step(() => Promise.resolve("pong")).then((text) => c.reply(text)),
    says: ["pong"],
  },
  "a function of its own": {
    run: (c) => {
      const answer = async (): Promise<void> => {
        await c.send("one");
        await c.isAdmin(c.sender);
        await c.send("*two*");
      };
      answer();
    },
    says: ["one", "*two*"],
  },
};

/** What the bot has said since. */
async function said(tester: BotTester, room: Awaited<ReturnType<BotTester["room"]>>): Promise<string[]> {
  await tester.settle();
  return room.messages.map(({ text }) => text);
}

for (const [what, { run, says }] of Object.entries(FORGETFUL)) {
  Deno.test(`A function that does not await ${what} loses nothing`, async () => {
    let ended = 0;
    await using tester = trying((bot) => {
      bot.command("go", (c, next) => {
        run(c, bot);
        return next();
      });
      bot.use(() => void ended++);
    });
    const room = await tester.room("alice");
    await room.say("!go");
    await tester.until(() => room.messages.length >= Math.max(says.length, 1), "It was to speak");
    if (says.length > 0) assertEquals(await said(tester, room), says);
    assertEquals(tester.logged.filter((line) => !/^(?:The bot has|Syncs, until)/.test(line)), []);
  });
}

Deno.test("A question that is not awaited is put, and its answer goes on where it was asked", async () => {
  await using tester = trying((bot) => {
    bot.command("name", (c) => {
      c.ask("*Your name?*").then((name) => c.reply(`Hello, ${name}`));
    });
    bot.command("sure", (c) => void c.confirm("Sure?").then((isSure) => c.send(`${isSure}`)));
    bot.command(
      "wait",
      (c) => void c.wait({ filter: "message:text" }).then(({ text }) => c.send(`It was ${text}`)),
    );
  });
  const room = await tester.room("alice");
  await room.say("!name");
  await room.expect("*Your name?*");
  await tester.restart();
  await room.say("Alice");
  await room.expect("Hello, Alice");
  await room.say("!sure");
  await room.expect("Sure?");
  await room.say("yes");
  await room.expect("true");
  await room.say("!wait");
  await tester.settle();
  await room.say("tea");
  await room.expect("It was tea");
});

Deno.test("A session that is not awaited is changed in the commit of the function", async () => {
  await using tester = trying((bot) => {
    bot.command("count", (c) => {
      c.getSession(COUNT).then((state) => void state.count++);
    });
    bot.command("tell", async (c) => c.reply(`${(await c.getSession(COUNT)).count}`));
  });
  const room = await tester.room("alice");
  await room.say("!count");
  await room.say("!count");
  await tester.restart();
  await room.say("!tell");
  await room.expect("2");
});

Deno.test("A step that fails and is not awaited is reported as any failure, and the bot goes on", async () => {
  for (const catches of [false, true]) {
    const caught: unknown[] = [];
    const reported: unknown[] = [];
    await using tester = trying((bot) => {
      bot.command("go", (c) => {
        c.reply("first");
        c.reactTo("$gone", "");
      });
      bot.command("deep", (c) => {
        const inner = async (): Promise<void> => {
          await c.send("deep");
          throw new RangeError("too deep");
        };
        inner();
      });
      bot.client.on("HANDLER_ERROR", ({ error }) => void reported.push(error));
      if (catches) bot.catch((error, c) => void (caught.push(error), c.send("*caught*")));
    });
    const room = await tester.room("alice");
    const failures = catches ? caught : reported;
    await room.say("!go");
    await tester.until(() => failures.length === 1, "It was to fail");
    assertStringIncludes(String(failures[0]), "Cannot react");
    await room.say("!deep");
    await tester.until(() => failures.length === 2, "It was to fail");
    assert(failures[1] instanceof RangeError);
    await tester.settle();
    const lines = await said(tester, room);
    assertEquals(lines.filter((line) => line === "Sorry, that failed.").length, catches ? 0 : 2);
    assertEquals(lines.filter((line) => line === "*caught*").length, catches ? 2 : 0);
    const logged = tester.logged.filter((line) => line.includes("did not await"));
    assertEquals(logged.length, catches ? 0 : 2);
    if (!catches) assertStringIncludes(logged[0] ?? "", 'command: "go"');
    assertEquals(reported.length, catches ? 0 : 2);
  }
});

Deno.test("A step that is not awaited fails behind a boundary: bot.catch() gets it", async () => {
  const caught: string[] = [];
  await using tester = trying((bot) => {
    const inner = new Composer();
    inner.command("go", (c) => void c.reactTo("$gone", ""));
    inner.command("wait", (c) => c.reactTo("$gone", ""));
    bot.errorBoundary((_, c) => void caught.push(`boundary ${c}`), inner);
    bot.catch((_, c) => void caught.push(`catch ${c}`));
  });
  const room = await tester.room("alice");
  await room.say("!go");
  await room.say("!wait");
  await tester.until(() => caught.length === 2, "Both were to fail");
  assertEquals(caught, ["catch !go", "boundary !wait"]);
});

Deno.test("What is called when a function has ended is said in the log once, and sends", async () => {
  const later = Promise.withResolvers<void>();
  await using tester = trying((bot) => {
    bot.command("go", (c) => {
      later.promise.then(() => c.reply("**late**")).then(() => c.send("later"));
    });
    bot.command("ping", (c) => c.reply("pong"));
  });
  const room = await tester.room("alice");
  await room.say("!go");
  await room.say("!ping");
  await room.expect("pong");
  later.resolve();
  await tester.until(() => room.messages.length === 3, "It was to speak");
  assertEquals(await said(tester, room), ["pong", "**late**", "later"]);
  const logged = tester.logged.filter((line) => line.includes("went on when it had ended"));
  assertEquals(logged.length, 1);
  for (const part of ['command: "go"', "@alice:localhost", room.id]) {
    assertStringIncludes(logged[0] ?? "", part);
  }
});

const TOO_LATE: Record<string, (c: Context) => Promise<unknown>> = {
  "ask": (c) => c.ask("Who?"),
  "wait for an answer": (c) => c.wait(),
  "confirm": (c) => c.confirm("Sure?"),
  "take the session": (c) => c.getSession(COUNT),
  "remind": (c) => c.remind({ in: 1_000 }, "Tea!"),
};
/** What the log says was to be done, where it is not that. */
const STEPS: Record<string, string> = { confirm: "ask" };

for (const [what, run] of Object.entries(TOO_LATE)) {
  Deno.test(`A function that wants to ${what} when it has ended gets an error, and the process goes on`, async () => {
    const later = Promise.withResolvers<void>();
    const reported: unknown[] = [];
    await using tester = trying((bot) => {
      bot.command("go", (c) => void later.promise.then(() => run(c)));
      bot.client.on("HANDLER_ERROR", ({ error }) => void reported.push(error));
      bot.command("tell", async (c) => c.reply(`${(await c.getSession(COUNT)).count}`));
    });
    const room = await tester.room("alice");
    await room.say("!go");
    await tester.settle();
    later.resolve();
    await tester.until(() => reported.length === 1, "It was to be reported");
    assertStringIncludes(String(reported[0]), "the function has ended");
    await room.say("!tell");
    await tester.until(() => room.messages.some(({ text }) => text === "0"), "It was to go on");
    assert(!room.messages.some(({ text }) => text.endsWith("?")), "nothing was to be asked");
    assert(
      tester.logged.some((line) => new RegExp(`step: .${STEPS[what] ?? what}`).test(line)),
      tester.logged.join("\n"),
    );
  });
}

Deno.test("What a function does while it waits for an answer is said in the log, and done when that comes", async () => {
  const gate = Promise.withResolvers<void>();
  await using tester = trying((bot) => {
    bot.command("go", async (c) => {
      const other = gate.promise.then(() => c.send("other"));
      const answer = await c.ask("Well?");
      await other;
      await c.send(`So ${answer}`);
    });
  });
  const room = await tester.room("alice");
  await room.say("!go");
  await room.expect("Well?");
  gate.resolve();
  await tester.settle();
  assertEquals(tester.logged.filter((line) => line.includes("while it waits for an answer")).length, 1);
});

Deno.test("A reminder's function and a schedule's that await nothing do all, and say what failed", async () => {
  await using tester = trying((bot) => {
    bot.command("tea", (c) => void c.remind({ in: 60_000 }, { name: "tea" }));
    bot.reminder("tea", (c) => {
      c.send("*Tea!*");
      c.reactTo("$gone", "");
    });
  });
  const room = await tester.room("alice");
  await room.say("!tea");
  await tester.settle();
  await tester.pass(61_000);
  await room.expect("*Tea!*");
  await tester.until(
    () => tester.logged.some((line) => line.includes("did not await")),
    "It was to be logged",
  );
  assertStringIncludes(tester.logged.find((line) => line.includes("did not await")) ?? "", 'reminder: "tea"');
});
