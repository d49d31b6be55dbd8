import { assert, assertEquals } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { trying } from "../support.ts";

Deno.test("c.remind() takes a time as people write it: a duration, or a moment", async () => {
  const refused: unknown[] = [];
  await using tester = trying((bot) => {
    bot.command("remind <when> <text...>", async (c) => {
      try {
        await c.remind(c.args.when, c.args.text);
      } catch (error) {
        refused.push(error);
        await c.reply("No");
      }
    });
  });
  const room = await tester.room("alice");
  await room.say("!remind 1h30m Tea!");
  await tester.pass(90 * 60_000);
  await room.expect("Tea!");
  const moment = new Date(tester.clock.now() + 120_000).toISOString().slice(0, 16);
  await room.say(`!remind ${moment} Cake!`);
  await tester.pass(120_000);
  await room.expect("Cake!");
  await room.say("!remind soon Water!");
  await room.expect("No");
  const [error] = refused;
  assert(error instanceof ValueError);
  assertEquals(
    error.message,
    "Cannot remind: when must be a Date, { in: milliseconds }, or a text like 1h30m or 2026-12-24T18:00, and is " +
      '"soon"',
  );
});
