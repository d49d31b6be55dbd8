import { assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { TIMERS } from "../../../src/bot/timers/timer.ts";
import { trying } from "../support.ts";

const HOUR = 3_600_000;

Deno.test("A user has no more reminders pending in a room than maxReminders says, and others have theirs", async () => {
  let made: Bot | undefined;
  await using tester = trying((bot) => {
    made = bot;
    bot.command("remind <count>", async (c) => {
      try {
        const { count } = c.args;
        await Promise.all(Array.from({ length: Number(count) }, () => c.remind({ in: HOUR }, "Tea!")));
        await c.reply("Noted");
      } catch (error) {
        await c.reply(error instanceof ValueError ? "Too many" : "Failed");
      }
    });
    bot.command("forget", async (c) => {
      for (const { id, by } of await bot.reminders.list({ roomId: c.roomId })) {
        if (by === c.sender) return void await c.reply(String(await bot.reminders.cancel(id)));
      }
    });
  }, { maxReminders: 3 });
  const room = await tester.room("alice", "bob");
  const ask = async (user: "alice" | "bob", text: string, answer: string) => {
    await room.as(user).say(text);
    await room.expect(answer);
  };
  await ask("alice", "!remind 3", "Noted");
  await ask("alice", "!remind 1", "Too many");
  await ask("bob", "!remind 1", "Noted");
  await tester.restart();
  await ask("alice", "!remind 1", "Too many");
  await ask("alice", "!forget", "true");
  await ask("alice", "!remind 1", "Noted");
  await ask("alice", "!remind 1", "Too many");
  await tester.pass(HOUR);
  for (let said = 0; said < 4; said++) await room.expect("Tea!");
  await ask("alice", "!remind 2", "Noted");
  assertEquals((await made?.reminders.list({ roomId: room.id }))?.length, 2);
});

Deno.test("A reminder that is gone counts until it would have been due", async () => {
  let made: Bot | undefined;
  await using tester = trying((bot) => {
    made = bot;
    bot.command("remind", async (c) => {
      const outcome = await c.remind({ in: HOUR }, "Tea!").then(() => "Noted", () => "Too many");
      await c.reply(outcome);
    });
  }, { maxReminders: 1 });
  const room = await tester.room("alice");
  const ask = async (answer: string) => {
    await room.say("!remind");
    await room.expect(answer);
  };
  await ask("Noted");
  for (const { id } of await made?.reminders.list({ roomId: room.id }) ?? []) {
    await made?.client.sessions.end(TIMERS, id); // as when a process ends before it counts that
  }
  await ask("Too many");
  await tester.pass(HOUR);
  await ask("Noted");
});

Deno.test("maxReminders has to be a number of at least 1", () => {
  assertThrows(
    () => new Bot({ baseUrl: "https://example.org", accessToken: "t", maxReminders: 0 }),
    ValueError,
  );
});

Deno.test("The reminders' functions work apart from the bot, too", async () => {
  await using tester = trying((bot) => {
    const { list, cancel } = bot.reminders;
    bot.command("go", async (c) => {
      for (const { id } of await list()) await c.reply(String(await cancel(id)));
    });
    bot.command("tea", async (c) => void await c.remind({ in: HOUR }, "Tea!"));
  });
  const room = await tester.room("alice");
  await room.say("!tea");
  await tester.settle();
  await room.say("!go");
  await room.expect("true");
});
