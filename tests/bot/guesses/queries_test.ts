import { assert, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Bot, Composer, type Query } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";
import { OTHER_QUERIES } from "../../../src/bot/run/other_queries.ts";
import { complaintsOf } from "../../types/compiler.ts";

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

Deno.test("The compiler says what to write for a query that there is not", async () => {
  const said = await complaintsOf(`
    import { Composer } from "@greenroom/matrix/bot";
    const plugin = new Composer();
    plugin.on("image", (c) => c.reply("A picture!"));
    plugin.on(["join"], (c) => c.reply("Welcome!"));
    plugin.on("m.room.topc", (c) => c.reply("A topic!"));
    plugin.on("reminder");
  `);
  for (
    const here of [
      "message:image",
      "member:join",
      "a query like message:text, or a type of event",
      "bot.reminder(…)",
    ]
  ) assert(said.includes(`WriteInstead<"${here}`), `${here}: ${said}`);
  assert(said.includes("Found 4 errors"), said);
});

Deno.test("The compiler refuses any text as a query, and takes a query that is known later", async () => {
  const said = await complaintsOf(`
    import { Bot, Composer, type Query } from "@greenroom/matrix/bot";
    declare const text: string;
    declare const query: Query;
    new Composer().on(text, () => {});
    new Composer().on([text], () => {});
    Bot.fromEnv().on(text, () => {});
    Bot.fromEnv().on(query, () => {}).on(["message:text", query], () => {});
  `);
  assert(said.includes(`WriteInstead<"a query like message:text, or a type of event`), said);
  assert(said.includes("Found 3 errors"), said);
});

Deno.test("c.is() refuses a query that there is not", async () => {
  const errors: unknown[] = [];
  await using tester = new BotTester((options) => {
    const bot = new Bot({ ...options, saysFailures: false });
    bot.on("message", (c) => {
      assert(
        c.is("message:text") && c.is("m.room.message") && !c.is("message:image") && !c.is("m.room.topic"),
      );
      c.is("image" as Query);
    });
    return bot.catch((error) => errors.push(error));
  });
  const room = await tester.room("alice");
  await room.say("hello");
  await tester.until(() => errors.length === 1, "c.is() was to fail");
  assert(
    String(errors[0]).includes('is "image": there is no such query; write message:image'),
    String(errors[0]),
  );
});
