import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Bot, type BotOptions, Composer, defineSession } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

// As JavaScript, JSON and casts let pass.
// deno-lint-ignore no-explicit-any
type Any = any;
const HOMESERVER = "https://matrix.example.org";

Deno.test("A format or a kind of message that there is not is refused, wherever a text is said", async () => {
  const refused: string[] = [];
  await using tester = trying((bot) =>
    bot.command("try", async (c: Any) => {
      for (const options of [{ format: "plain text" }, { format: "md" }, { msgtype: "text" }] as Any[]) {
        const image = { ...options, caption: "*c*" };
        for (
          const say of [
            () => c.reply("*a*", options),
            () => c.send("*a*", options),
            () => c.edit("$id", "*a*", options),
            () => c.ask("*a*", options),
            () => bot.send(c.roomId, "*a*", options),
            () => c.later("1m", "*a*", options),
            () => c.sendImage(new Uint8Array([1]), image),
          ]
        ) await say().then(() => refused.push("said"), (error: unknown) => refused.push(String(error)));
      }
      await c.reply("done");
    })
  );
  const room = await tester.room("alice");
  await room.say("!try");
  await room.expect("done");
  for (const text of refused) {
    assert(
      / (?:format must be one of markdown, html, plain, and is |msgtype must be one of m\.notice, m\.text, m\.emote, and is "text"|there is no option msgtype)/
        .test(text),
      text,
    );
  }
  assertEquals(refused.length, 21);
  const options = { homeserver: HOMESERVER, msgtype: "text" } as Any as BotOptions;
  assertThrows(() => new Bot(options), ValueError, 'msgtype must be one of m.notice, m.text, and is "text"');
});

Deno.test("A composer in itself is refused, directly or by way of another", () => {
  const [bot, inner, outer] = [new Bot({ homeserver: HOMESERVER }), new Composer(), new Composer()];
  assertThrows(() => bot.use(bot), ValueError, "Cannot use a composer in itself");
  outer.filter(() => true, inner);
  assertThrows(() => inner.use(outer), ValueError, "Cannot use a composer in itself");
  bot.use(outer, inner); // twice is no circle
});

Deno.test("A session whose beginning is no object, as that of an async function, says so", async () => {
  for (const initial of [() => {}, () => Promise.resolve({}), () => "none"] as Any[]) {
    const points = defineSession({ name: "points", per: "user", initial });
    const failures: unknown[] = [];
    await using tester = trying((bot) => {
      bot.catch((error) => void failures.push(error));
      bot.command("points", (c) => c.getSession(points));
    });
    await (await tester.room("alice")).say("!points");
    await tester.settle();
    assertEquals(failures.length, 1);
    await assertRejects(
      () => Promise.reject(failures[0]),
      ValueError,
      'Cannot begin the session "points": its initial must return an object, and at once',
    );
  }
});

Deno.test("A step with a name, a poll with one answer and a file's path are refused with what to give", async () => {
  const refused: string[] = [];
  await using tester = trying((bot) =>
    bot.command("try", async (c: Any) => {
      for (
        const act of [
          () => c.step("roll", () => 1),
          () => c.sendPoll("To be?", "Yes"),
          () => c.sendImage("cat.png"),
        ]
      ) await act().catch((error: unknown) => void refused.push(String(error)));
      await c.reply("done");
    })
  );
  const room = await tester.room("alice");
  await room.say("!try");
  await room.expect("done");
  assertEquals(refused, [
    "ValueError: Cannot take a step: its function is of type string; give a function",
    'ValueError: Cannot start the poll: its answers must be a list, as ["Yes", "No"]',
    "ValueError: Cannot send an image: give its bytes, not a path or an address",
  ]);
});
