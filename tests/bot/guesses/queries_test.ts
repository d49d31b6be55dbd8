import { assert, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Bot, Composer, type Query } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";
import { OTHER_QUERIES } from "../../../src/bot/run/queries.ts";
import { trying } from "../support.ts";

Deno.test("A query that other libraries have is refused with what to write, which is there", () => {
  const bot = new Bot({ homeserver: "https://matrix.example.org", log: false });
  for (const [query, here] of Object.entries(OTHER_QUERIES)) {
    const action = `Cannot listen to "${query}": there is no such query; write ${here}`;
    assertThrows(() => bot.on(query as never, () => {}), ValueError, action);
    const [, method] = /^bot\.(\w+)\(/.exec(here) ?? [];
    if (method !== undefined) assert(method in bot, here);
    else if (!here.includes(" ")) new Composer().on(here as never, () => {});
  }
});

Deno.test("A query with a typing error is refused with the nearest, and others as no type of event", () => {
  const plugin = new Composer();
  for (
    const [query, mend] of [
      ["mesage:text", "did you mean message:text?"],
      ["member:joined", "did you mean member:join?"],
      ["poll:votes", "did you mean poll:vote?"],
      ["something", "it is no type of event either"],
      ["constructor", "it is no type of event either"],
    ] as const
  ) {
    assertThrows(
      () => plugin.on(query as never, () => {}),
      ValueError,
      `"${query}": there is no such query; ${mend}`,
    );
  }
  assertThrows(() => plugin.on(7 as never, () => {}), ValueError, "what is of type number");
});

Deno.test("c.is() refuses a query that there is not", async () => {
  const errors: unknown[] = [];
  await using tester = new BotTester((options) => {
    const bot = new Bot({ ...options, saysFailures: false });
    bot.on("message", (c) => {
      assert(
        c.is("message:text") && c.is("m.room.message") && !c.is("message:image") && !c.is("m.room.topic"),
      );
      c.is("photo" as Query);
    });
    return bot.catch((error) => errors.push(error));
  });
  const room = await tester.room("alice");
  await room.say("hello");
  await tester.until(() => errors.length === 1, "c.is() was to fail");
  assert(
    String(errors[0]).includes('is "photo": there is no such query; write message:image'),
    String(errors[0]),
  );
});

Deno.test("Kinds of messages and members are queries by their own names, with the type of their event", async () => {
  await using tester = trying((bot) => {
    bot.on("join", (c) => c.send(`Welcome, ${c.event.state_key}`, { format: "plain" }));
    bot.on(
      ["image", "file"],
      (c) => c.reply(`${c.event.content.msgtype} ${c.is("image")} ${c.is("message:file")}`),
    );
    bot.command("picture", async (c) => {
      await c.reply("Send one");
      const { event } = await c.wait({ filter: "image" });
      await c.reply(`Thank you for ${event.content.body satisfies string}`);
    });
  });
  const room = await tester.room("alice");
  const path = encodeURIComponent(room.id);
  await tester.request("alice", "POST", `/rooms/${path}/invite`, { user_id: tester.userId("bob") });
  await tester.request("bob", "POST", `/join/${path}`, {});
  await room.expect("Welcome, @bob:localhost");
  const picture = { msgtype: "m.image", body: "a.png", url: "mxc://localhost/a" };
  await room.send("m.room.message", picture);
  await room.expect("m.image true false");
  await room.say("!picture");
  await room.expect("Send one");
  await room.say("no picture");
  await room.send("m.room.message", picture);
  await room.expect("Thank you for a.png");
});
