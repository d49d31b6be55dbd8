import { assert, assertMatch } from "@std/assert";
import { trying } from "../support.ts";

Deno.test("An answer is checked once, whatever the check would say of it later", async () => {
  const taken = new Set(["eve"]);
  await using tester = trying((bot) => {
    bot.command("signup", async (c) => {
      const name = await c.ask("Your name?", {
        check: ({ text }) => taken.has(text) ? "That one is taken." : undefined,
      });
      await c.step(() => void taken.add(name.text));
      await c.reply(await c.confirm(`You are ${name}?`) ? `Welcome, ${name}` : "Bye");
    });
  });
  const room = await tester.room("alice");
  await room.say("!signup");
  await room.expect("Your name?");
  await room.say("eve");
  await room.expect("That one is taken.");
  taken.delete("eve");
  await room.say("alice");
  await room.expect("You are alice?");
  await room.say("yes");
  await room.expect("Welcome, alice");
});

Deno.test("A user who answers wrong 550 times has one conversation, which stays short", async () => {
  await using tester = trying((bot) => {
    bot.command("age", async (c) => {
      const age = await c.ask("Your age?", {
        check: ({ text }) => Number(text) > 0 ? undefined : "A number, please.",
      });
      await age.reply(`${age}.`);
    });
  }, { rateLimit: false });
  const room = await tester.room("alice");
  await room.say("!age");
  await room.expect("Your age?");
  for (let index = 0; index < 550; index++) {
    await room.say("old");
    await room.expect("A number, please.");
  }
  let size = 0;
  for await (const { value } of tester.store.list([])) size += JSON.stringify(value)?.length ?? 0;
  assert(size < 500_000, `the store has ${size} characters`);
  await room.say("40");
  await room.expect("40.");
});

Deno.test("What a handler does within step() is part of it, and it can't ask there", async () => {
  const failures: unknown[] = [];
  await using tester = trying((bot) => {
    bot.command("draw", async (c) => {
      const card = await c.step(async () => {
        await c.reply("Drawing …");
        return "ace";
      });
      await c.step(() => c.ask("Within?")).catch(({ message }) => failures.push(message));
      const keep = await c.ask("Keep it?");
      await c.reply(`${card}: ${keep}`);
    });
  });
  const room = await tester.room("alice");
  await room.say("!draw");
  await room.expect("Drawing …");
  await room.expect("Keep it?");
  await room.say("yes");
  await room.expect("ace: yes");
  assertMatch(String(failures[0]), /Cannot ask within c\.step\(\)/);
});
