import { assertEquals, assertRejects } from "@std/assert";
import { ForbiddenError, ValueError } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { BotTester, Homeserver, type TestedBotOptions } from "@greenroom/matrix/testing";

/** A bot that is at hand outside of its functions. */
async function scene(setUp: (bot: Bot) => void = () => {}) {
  const made = Promise.withResolvers<Bot>();
  const tester = new BotTester((given: TestedBotOptions) => {
    const bot = new Bot(given);
    setUp(bot);
    made.resolve(bot);
    return bot;
  });
  const room = await tester.room("alice", "bob");
  return {
    tester,
    room,
    bot: await made.promise,
    [Symbol.asyncDispose]: () => tester[Symbol.asyncDispose](),
  };
}

Deno.test("bot.in() speaks in Markdown, in its order, into threads and with mentions", async () => {
  await using here = await scene();
  const { room, bot } = here;
  const speaker = bot.in(room.id);
  await Promise.all([speaker.send("**one**"), speaker.send("two"), speaker.send("`three`")]);
  const { html, content: { msgtype } } = await room.expect("**one**");
  assertEquals([html, msgtype], ["<strong>one</strong>", "m.notice"]);
  await room.expect("two");
  await room.expect("`three`");
  const root = await room.say("a thread");
  await bot.in(room.id, { thread: root }).send("[Bob](https://matrix.to/#/@bob:localhost)");
  const { content, thread } = await room.expect(/Bob/);
  assertEquals(thread, root);
  assertEquals(content["m.mentions"], { user_ids: ["@bob:localhost"] });
});

Deno.test("bot.in() edits, reacts, redacts, polls and sends files", async () => {
  await using here = await scene();
  const { room, bot, tester } = here;
  const speaker = bot.in(room.id);
  const id = await speaker.send("one");
  await speaker.edit(id, "two");
  await speaker.reactTo(id, "👍");
  await speaker.sendFile(new Uint8Array([1, 2, 3]), { filename: "three.bin" });
  const poll = await speaker.sendPoll("Tea?", ["yes", "no"]);
  assertEquals((await speaker.endPoll(poll)).voters, 0);
  const other = await speaker.sendPoll({ question: "Milk?", answers: ["some", "none"], maxSelections: 2 });
  const { answers } = await speaker.endPoll(other);
  assertEquals(answers.map(({ text }) => text), ["some", "none"]);
  await assertRejects(
    () => speaker.sendPoll({ question: "?", answers: ["a"], options: [] } as never),
    ValueError,
    "there is no option options",
  );
  await speaker.redact(await speaker.send("gone"), "mistake");
  await tester.settle();
  assertEquals(room.messages.map(({ text }) => text).slice(0, 2), ["two", "three.bin"]);
});

Deno.test("bot.in() speaks without a start, and waits for one that is under way", async () => {
  await using homeserver = new Homeserver();
  const { accessToken } = homeserver.createUser("bot");
  const { baseUrl, fetch } = homeserver;
  await using bot = new Bot({ baseUrl, fetch, accessToken, log: false });
  const room = await bot.client.createRoom();
  await bot.in(room).send("one");
  using slow = homeserver.faults.add({ kind: "hold", match: { path: "/sync" }, times: 1 });
  const ended = bot.start({ signals: false });
  const sent = bot.in(room).send("two");
  const sends = () => homeserver.requests.filter("PUT", "/send/m.room.message").length;
  while (homeserver.requests.filter("GET", "/sync").length === 0) await new Promise(setImmediate);
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  assertEquals(sends(), 1);
  slow.remove();
  await sent;
  assertEquals(sends(), 2);
  await bot.stop();
  await ended;
});

Deno.test("bot.in() rejects with what the homeserver says, and in a function is a step of it", async () => {
  await using here = await scene((bot) =>
    bot.command("tell", async (c) => {
      await bot.in(c.roomId).send("one");
      const answer = await c.ask("Well?");
      await bot.in(c.roomId).send(`heard ${answer}`);
    })
  );
  const { room, bot } = here;
  await assertRejects(() => bot.in("!nowhere:localhost").send("x"), ForbiddenError);
  await room.say("!tell");
  await room.expect("one");
  await room.expect("Well?");
  await room.say("yes");
  await room.expect("heard yes");
  await room.expectNothing();
});
