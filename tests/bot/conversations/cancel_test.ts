import { assertEquals } from "@std/assert";
import { type Context, defineSession } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

const NOTES = defineSession({ name: "notes", per: "user", initial: () => ({}) });

Deno.test("!cancel ends the user's conversation, also without a catch, and only theirs", async () => {
  await using tester = trying((bot) =>
    bot.command("ask", async (c) => {
      const answer = await c.ask("Well?");
      await answer.reply(`thanks, ${answer}`);
    })
  );
  const room = await tester.room("alice", "bob");
  await room.say("!cancel");
  await room.expect("There is nothing to cancel.");
  await room.say("!ask");
  await room.expect("Well?");
  await room.as("bob").say("!ask");
  await room.expect("Well?");
  await room.say("!cancel");
  await room.expect("Cancelled.");
  await room.say("hello");
  await room.expectNothing();
  await room.as("bob").say("hello");
  await room.expect("thanks, hello");
  assertEquals(tester.logged.filter((line) => line.includes("failed")), []);
});

Deno.test("!cancel has one answer: what the function says, or that it is cancelled", async () => {
  const caught: unknown[] = [];
  await using tester = trying((bot) => {
    const asks = (ended: (c: Context, error: unknown) => unknown) => async (c: Context) => {
      await c.ask("Well?").catch((error) => ended(c, error));
    };
    bot.command("silent", asks(() => undefined));
    bot.command("throws", asks((_, error) => Promise.reject(error)));
    bot.command("notes", asks((c) => c.getSession(NOTES)));
    bot.command("says", asks((c) => c.send("Another time, then.")));
    bot.command(
      "says-and-throws",
      asks((c, error) => c.reply("Another time, then.").then(() => Promise.reject(error))),
    );
    bot.catch((error) => caught.push(error));
  });
  const room = await tester.room("alice");
  for (
    const [command, answer] of [
      ["silent", "Cancelled."],
      ["throws", "Cancelled."],
      ["notes", "Cancelled."],
      ["says", "Another time, then."],
      ["says-and-throws", "Another time, then."],
    ] as const
  ) {
    await room.say(`!${command}`);
    await room.expect("Well?");
    await room.say("!cancel");
    await room.expect(answer);
    await room.expectNothing();
  }
  assertEquals(caught, []);
});
