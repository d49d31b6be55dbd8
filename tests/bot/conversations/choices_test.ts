import { assertEquals, assertStringIncludes } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { menuOf, withLabels, yesOrNo } from "../../../src/bot/context/choices.ts";
import { trying } from "../support.ts";
import { took } from "../text/took.ts";

const YES = ["YES", "yes.", "Yes, please!", "sure", "ok", "y", "✅", "✔", "✔️", "☑️", "👍🏽", "👍️", "👍"];
const NO = ["NO!", "no.", "n", "nope", "No, thanks.", "no thank you", "❌", "✖️", "👎🏿", "👎"];
const WITH_EMOJI = ["yes 🌳 ✂️", "Yes! 🌳✂️.", "yes please 🙏🏽", "ok👍", "yes 🇫🇷 👨‍👩‍👧", "yes ✅ :)"];
const NO_ANSWERS = ["yes 👎", "no 👍🏽", "yes 🌳 ❌", "🌳 yes", "yes 🌳 but no", "no 🌳 yes", "🌳 ✂️", "yes 1"];

Deno.test("confirm() takes words in any case, with punctuation, and reactions in any colour", async () => {
  await using tester = trying((bot) => {
    bot.command("ask", async (c) => c.send(await c.confirm("Shall we?") ? "agreed" : "refused"));
    bot.on("message:text", (c) => c.send(`other: ${c}`));
  }, { rateLimit: false });
  const room = await tester.room("alice");
  const answers = [
    ...[...YES, ...WITH_EMOJI].map((each) => [each, "agreed"]),
    ...[...NO, "no ✂️", "Nope. 🙈"].map((each) => [each, "refused"]),
  ];
  for (const [answer = "", result = ""] of answers) {
    await room.say("!ask");
    const { eventId } = await room.expect("Shall we?");
    await room.expectReaction("✅");
    await room.expectReaction("❌");
    if (/[a-z]/i.test(answer)) await room.say(answer);
    else await room.react(eventId, answer);
    await room.expect(result);
  }
  await room.say("!ask");
  await room.expect("Shall we?");
  for (
    const answer of ["yes and no", "nobody", "!", "okra", "y e s", "yes but no", "no yes", ...NO_ANSWERS]
  ) {
    await room.say(answer);
    await room.expect(`other: ${answer}`);
  }
});

Deno.test("What stands behind a yes is read to a hundred characters", () => {
  const { meaning } = yesOrNo({});
  const answers = [50, 51].map((count) => meaning(`yes${"🌳".repeat(count)}`));
  assertEquals(answers, [true, undefined]);
});

Deno.test("Nothing but punctuation means only itself", () => {
  const { meaning } = menuOf({ "?": "what" }, undefined);
  assertEquals(["!", "?"].map(meaning), [undefined, "?"]);
});

Deno.test("Examples of words are there as far as there are words", () => {
  const examples = [{}, { yes: [], no: ["nie"] }].map((words) => Object.keys(yesOrNo(words).labels));
  assertEquals(examples, [["yes", "no"], ["nie"]]);
});

Deno.test("A question says what its choices are in its own format", async () => {
  const labels = { "1": "<one>", "2": undefined };
  const asked = (format: "plain" | "html" | undefined) => withLabels("Which?", labels, { format, all: true });
  assertEquals(await asked("plain"), "Which?\n\n1 <one>\n2");
  assertEquals(await asked("html"), "Which?<ul><li>1 &lt;one&gt;</li><li>2</li></ul>");
  assertStringIncludes(await asked(undefined), "Which?\n\n- 1 ");
  assertEquals(await withLabels("Which?", {}, { format: "plain", all: true }), "Which?");
});

Deno.test("An answer as long as an event can be is looked at in no time", () => {
  const choices = [yesOrNo({}), menuOf({ "✅": "yes", "❌": "no" }, undefined)];
  for (const part of ["!", "! ", "🌳", "yes ", "yes!"]) {
    const answer = part.repeat(Math.floor(60_000 / part.length));
    for (const long of [answer, `${answer}a`, `yes ${answer}`]) {
      for (const { meaning } of choices) took(100, part, () => meaning(long));
    }
  }
});

Deno.test("confirm() takes the words of another language in place of its own", async () => {
  await using tester = trying((bot) => {
    bot.command("ask", async (c) => {
      await c.send(await c.confirm("Dobrze?", { yes: ["tak", "no"], no: ["nie"] }) ? "agreed" : "refused");
    });
    bot.on("message:text", (c) => c.send(`other: ${c}`));
  });
  const room = await tester.room("alice");
  for (const [answer = "", result = ""] of [["Tak!", "agreed"], ["no", "agreed"], ["Nie.", "refused"]]) {
    await room.say("!ask");
    await room.expect("Dobrze?");
    await room.say("yes");
    await room.expect("other: yes");
    await room.say(answer);
    await room.expect(result);
  }
});

Deno.test("confirm() refuses words that are none, or that mean both, before it asks", async () => {
  const failures: unknown[] = [];
  const wrong = [{ yes: ["no"] }, { no: ["Yes!"] }, { no: ["👍🏽"] }, { yes: [""] }, { yes: "tak" }, {
    no: [1],
  }];
  await using tester = trying((bot) => {
    bot.command("ask", async (c) => {
      for (const words of wrong) await c.confirm("?", words as object).catch((error) => failures.push(error));
      await c.reply("done");
    });
  });
  const room = await tester.room("alice");
  await room.say("!ask");
  await room.expect("done");
  assertEquals(failures.map((error) => error instanceof ValueError), wrong.map(() => true));
});

Deno.test("menu() says what its choices are, and takes what it has said of one", async () => {
  await using tester = trying((bot) => {
    bot.command("pick", async (c) => {
      const colour = await c.menu("Which?", { "🔴": "Red *wine*", "🔵": "blue" });
      await c.send(`You like ${colour}`, { format: "plain" });
    });
    bot.command("number", async (c) => {
      const labels = { "1️⃣": "the first", "👍🏿": "dark" };
      await c.send(`number ${await c.menu("Which?", { "1️⃣": 1, "2️⃣": 2, "👍🏻": 3, "👍🏿": 4 }, { labels })}`);
    });
    bot.command("code", async (c) => {
      await c.send(await c.menu("Which?", { "🔴": "r-1", "🔵": "b-1" }, { labels: false }));
    });
    bot.on("message:text", (c) => c.send(`other: ${c}`));
  });
  const room = await tester.room("alice");
  for (const answer of ["red *WINE*", "Red *wine*.", "🔴"]) {
    await room.say("!pick");
    const { text } = await room.expect(/^Which\?/);
    assertStringIncludes(text, "🔴 Red *wine*");
    assertStringIncludes(text, "🔵 blue");
    await room.say(answer);
    await room.expect("You like Red *wine*");
  }
  for (const [answer = "", result = ""] of [["The first", "1"], ["2️⃣", "2"], ["👍🏿", "4"], ["dark", "4"]]) {
    await room.say("!number");
    const { text } = await room.expect(/^Which\?/);
    assertEquals(text.includes("2️⃣"), false as boolean);
    await room.say(answer);
    await room.expect(`number ${result}`);
  }
  await room.say("!code");
  await room.expect("Which?");
  await room.say("r-1");
  await room.expect("other: r-1");
  await room.say("🔵");
  await room.expect("b-1");
});
