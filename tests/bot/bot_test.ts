import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { BotTester, Homeserver } from "@greenroom/matrix/testing";

/** A bot with some functions. */
function trying(
  setUp: (bot: Bot) => void,
  options: Partial<ConstructorParameters<typeof Bot>[0]> = {},
): BotTester {
  return new BotTester((given) => {
    const bot = new Bot({ ...given, ...options });
    setUp(bot);
    return bot;
  });
}

Deno.test("A bot of four lines answers, in Markdown, as a reply that mentions who asked", async () => {
  await using tester = trying((bot) => bot.command("ping", (c) => c.reply("**pong**")));
  const room = await tester.room("alice", "bob");
  const asked = await room.say("!ping");
  const answer = await room.expect("**pong**");
  assertEquals(answer.html, "<strong>pong</strong>");
  assertEquals(answer.replyTo, asked);
  assertEquals(answer.content["m.mentions"], { user_ids: ["@alice:localhost"] });
  assertEquals(answer.content.msgtype, "m.notice");
});

Deno.test("A conversation takes answers of its user alone, survives restarts at each step, and does nothing twice", async () => {
  let once = 0;
  await using tester = trying((bot) => {
    bot.command("signup", async (c) => {
      const name = await c.ask("Your name?");
      const number = await c.step(() => ++once);
      const age = await c.ask(`How old are you, ${name}?`, {
        check: ({ text }) => Number(text) > 0 ? undefined : "A number, please.",
      });
      const isRight = await c.confirm(`${name}, ${age}, number ${number}. Right?`);
      await c.reply(isRight ? "Welcome!" : "Bye.");
    });
  });
  const room = await tester.room("alice", "bob");
  await room.say("!signup");
  await room.expect("Your name?");
  await tester.restart();
  await room.as("bob").say("Bob");
  await room.expectNothing();
  await room.say("Alice");
  await room.expect("How old are you, Alice?");
  await tester.restart();
  await room.say("old");
  await room.expect("A number, please.");
  await room.say("33");
  const question = await room.expect("Alice, 33, number 1. Right?");
  await tester.restart();
  assertEquals(await room.expectReaction("✅"), question.eventId);
  await room.react(question.eventId, "✅");
  await room.expect("Welcome!");
  await room.say("33");
  await room.expectNothing();
  assertEquals(once, 1);
});

Deno.test("A bot with a store alone that its program has logged in is logged out at the homeserver", async () => {
  await using homeserver = new Homeserver();
  homeserver.createUser("bot", { password: "tea" });
  const { baseUrl, fetch } = homeserver;
  await using bot = new Bot({ baseUrl, fetch, mxid: "@bot:localhost", store: new MemoryStore(), log: false });
  await bot.client.login({ password: "tea" });
  await bot.client.logout();
  assertEquals(homeserver.requests.filter("POST", "/logout").length, 1);
});
