import { assert, assertEquals } from "@std/assert";
import type { Bot } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

const SORRY = "Sorry, that failed.";

/** What a bot says when its command `fail` throws. */
async function saidAfterFailure(make: (bot: Bot) => void): Promise<readonly string[]> {
  await using tester = trying((bot) => {
    make(bot);
    bot.command("fail", () => Promise.reject(new RangeError("too far")));
  });
  const room = await tester.room("alice");
  await room.say("!fail");
  await tester.settle();
  return room.messages.map(({ text }) => text);
}

Deno.test("A command that fails gets one answer: of who catches the failure, or else of the bot", async () => {
  const cases: readonly [string, (bot: Bot) => unknown, readonly string[]][] = [
    ["nobody catches it", () => {}, [SORRY]],
    ["a function in front says something", (bot) =>
      bot.use(async (c, next) => {
        try {
          await next();
        } catch {
          await c.reply("No luck");
        }
      }), ["No luck"]],
    ["a function in front throws it again", (bot) =>
      bot.use(async (_, next) => {
        try {
          await next();
        } finally {
          await Promise.resolve();
        }
      }), [SORRY]],
    ["bot.catch() says something", (bot) => bot.catch((_, c) => c.reply("No luck")), ["No luck"]],
    [
      "bot.catch() says something that it does not await",
      (bot) => bot.catch((_, c) => void c.reply("No luck")),
      ["No luck"],
    ],
    ["bot.catch() only notes it", (bot) => bot.catch(() => {}), [SORRY]],
    ["bot.catch() fails itself", (bot) => bot.catch(() => Promise.reject(new Error("also"))), [SORRY]],
  ];
  for (const [what, make, answers] of cases) assertEquals(await saidAfterFailure(make), answers, what);
});

Deno.test("A command in an error boundary gets the boundary's answer alone", async () => {
  await using tester = trying((bot) =>
    bot.errorBoundary((_, c) => c.reply("No luck"))
      .command("fail", () => Promise.reject(new RangeError("too far")))
  );
  const room = await tester.room("alice");
  await room.say("!fail");
  await tester.settle();
  assertEquals(room.messages.map(({ text }) => text), ["No luck"]);
});

Deno.test("A command that fails after an answer, or in place of one, gets one answer too", async () => {
  for (const catches of [false, true]) {
    await using tester = trying((bot) => {
      bot.command("ask", async (c) => {
        await c.ask("Well?", { timeout: 60_000 }).catch(() => {});
        throw new RangeError("too far");
      });
      if (catches) bot.catch(() => {});
    });
    const room = await tester.room("alice");
    await room.say("!ask");
    await room.expect("Well?");
    await room.say("so");
    await room.expect(SORRY);
    await room.say("!ask");
    await room.expect("Well?");
    await tester.pass(60_000);
    await room.expect(SORRY);
    await tester.settle();
    assertEquals(room.messages.filter(({ text }) => text === SORRY).length, 2);
  }
});

Deno.test("A command that nobody answers in time, and that does not say so, is named in the log once", async () => {
  await using tester = trying((bot) => {
    bot.command("quiz", async (c) => void await c.wait({ timeout: 60_000 }));
    bot.command("quiet", async (c) => {
      await c.wait({ timeout: 60_000 }).catch(() => {});
    });
  });
  const room = await tester.room("alice");
  for (const text of ["!quiz", "!quiet", "!quiz"]) {
    await room.say(text);
    await tester.settle();
    await tester.pass(60_000);
    await tester.settle();
  }
  const logged = tester.logged.filter((line) => line.includes("Nobody answered in time"));
  assertEquals(logged.length, 1);
  assert(logged[0]?.includes('command: "quiz"'), logged[0]);
});

Deno.test("A command that fails twice, awaited and not, gets one answer", async () => {
  for (const catches of [false, true]) {
    await using tester = trying((bot) => {
      bot.command("fail", async (c) => {
        void c.step(() => Promise.reject(new RangeError("one")));
        await c.send("trying");
        throw new RangeError("two");
      });
      if (catches) bot.catch(() => {});
    });
    const room = await tester.room("alice");
    await room.say("!fail");
    await tester.pass(1_000);
    await tester.settle();
    assertEquals(room.messages.map(({ text }) => text), ["trying", SORRY]);
  }
});

Deno.test("A command that has answered did not fail where a function around it does", async () => {
  for (const catches of [false, true]) {
    await using tester = trying((bot) => {
      bot.use(async (_, next) => {
        await next();
        throw new RangeError("the metrics are away");
      });
      bot.command("ping", (c) => c.reply("pong"));
      if (catches) bot.catch(() => {});
    });
    const room = await tester.room("alice");
    await room.say("!ping");
    await room.expect("pong");
    await room.expectNothing();
  }
});
