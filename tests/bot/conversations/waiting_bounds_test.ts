import { assertEquals } from "@std/assert";
import type { RoomID } from "@greenroom/matrix/types";
import { trying } from "../support.ts";

const DAY = 86_400_000;

Deno.test("A question waits from one millisecond to 30 days, and no other time is taken", async () => {
  const refused: [number, string][] = [];
  await using tester = trying((bot) =>
    bot.command("wait <ms>", async (c) => {
      const timeout = Number(c.args.ms);
      const answer = await c.ask("Who?", { timeout }).catch((error: Error) => {
        if (error.name === "ValueError") refused.push([timeout, error.message]);
        throw error;
      });
      await c.reply(`It is ${answer}`);
    })
  );
  const room = await tester.room("alice");
  const message = `Cannot wait for an answer: timeout must be a duration like "2m", or from 1 to ${
    30 * DAY
  } milliseconds`;
  const wrong = [0, -1, 30 * DAY + 1, NaN];
  for (const timeout of wrong) {
    await room.say(`!wait ${timeout}`);
    await room.expect("Sorry, that failed.");
  }
  assertEquals(refused, wrong.map((timeout) => [timeout, message]));
  await room.say(`!wait ${30 * DAY}`);
  await room.expect("Who?");
  await room.say("Bob");
  await room.expect("It is Bob");
});

Deno.test("menu() says nothing of a choice whose label is blank, or the choice itself, nor where it is to say nothing", async () => {
  await using tester = trying((bot) => {
    bot.command("pick", async (c) => void await c.menu("Which?", { "🔴": " ", "🔵": "🔵", "🟢": "green" }));
    bot.command("code", async (c) => void await c.menu("Which?", { "🔴": "r-1" }, { labels: false }));
  });
  const room = await tester.room("alice", "bob");
  await room.say("!pick");
  const { text } = await room.expect(/^Which\?/);
  assertEquals(["🟢 green", "🔵 🔵", "🔴"].map((label) => text.includes(label)), [true, false, false], text);
  await room.as("bob").say("!code");
  assertEquals((await room.expect(/^Which\?/)).text, "Which?");
});

Deno.test("c.ask() without a question says nothing, and takes the next answer", async () => {
  await using tester = trying((bot) =>
    bot.command("name", async (c) => void await c.reply(`Hello, ${await c.ask(undefined)}`))
  );
  const room = await tester.room("alice");
  await room.say("!name");
  await room.say("Alice");
  await room.expect("Hello, Alice");
});

Deno.test("A question that is put into another room from a thread is answered in the room itself", async () => {
  const office: { roomId?: RoomID } = {};
  await using tester = trying((bot) =>
    bot.command("ban", async (c) => {
      const answer = await c.ask("Ban them?", { ...office, from: "anyone" });
      await c.reply(`The answer is ${answer}`);
    })
  );
  const moderators = await tester.room("bob");
  office.roomId = moderators.id;
  const room = await tester.room("alice");
  const first = await room.say("a thread");
  await room.say("!ban", { thread: first });
  await moderators.expect("Ban them?");
  await moderators.say("no");
  await room.expect("The answer is no");
});
