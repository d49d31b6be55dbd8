import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { Bot, type BotOptions } from "@greenroom/matrix/bot";
import { ValueError } from "@greenroom/matrix";
import { BotTester, type TestedBotOptions } from "@greenroom/matrix/testing";
import { recordTrace, replayTrace } from "@greenroom/matrix/trace";

const START = '{"line":"start","version":1}\n';
const KEEP = ["!ping", "!remind", "!name", /\d+[smh]/];

/** A bot that answers, asks, reminds and greets. */
function chatty(options: TestedBotOptions & Pick<BotOptions, "sync">, answer = "pong"): Bot {
  const bot = new Bot(options);
  bot.command("ping", async (c) => {
    const id = await c.reply(answer);
    await c.react("👍");
    await c.edit(id, `${answer}!`);
  });
  bot.command("remind <when> <text...>", (c) => c.remind(c.args.when, c.args.text));
  bot.command("name", async (c) => void await c.reply(`Hello, ${await c.ask("Who are you?")}`));
  bot.on("member:join", async (c) => {
    await c.send(`Welcome, ${c.sender}`);
  });
  return bot;
}

/** What a bot does in a conversation, as a trace. */
async function recorded(sync: "classic" | "sliding" = "classic"): Promise<string> {
  let trace = "";
  await using tester = new BotTester((options) => {
    const bot = chatty({ ...options, sync });
    recordTrace(bot.client, { write: (line) => void (trace += line), keep: KEEP, clock: tester.clock });
    return bot;
  });
  const room = await tester.room("alice", "bob");
  await room.say("!ping hunter2");
  await tester.settle();
  await room.as("bob").say("!remind 10m buy the secret cake");
  await tester.pass(600_000);
  await room.say("!name");
  await tester.settle();
  await room.say("Alice Wonder");
  await tester.settle();
  const id = await room.say("never mind", {
    content: { formatted_body: "<b title='sesame'>never</b> mind" },
  });
  await tester.request(
    "alice",
    "PUT",
    `/rooms/${encodeURIComponent(room.id)}/redact/${encodeURIComponent(id)}/1`,
    {
      reason: "hunter3",
    },
  );
  await tester.request("bob", "POST", `/rooms/${encodeURIComponent(room.id)}/leave`, {});
  const other = await tester.room("carol");
  await other.say("!ping");
  await tester.settle();
  return trace;
}

for (const sync of ["classic", "sliding"] as const) {
  Deno.test(`A trace that is played to the same bot has the same answers: ${sync} sync`, async () => {
    const trace = await recorded(sync);
    const { differences, played, sent, refused } = await replayTrace(trace, chatty, { keep: KEEP });
    assertEquals(differences, []);
    assertEquals(refused, []);
    assertEquals([played, sent], [8, 9]);
  });
}

Deno.test("A trace that is played to a bot that answers otherwise says where", async () => {
  const trace = await recorded();
  const { differences } = await replayTrace(trace, (options) => chatty(options, "no"), { keep: KEEP });
  assertEquals(
    differences.map(({ recorded, sent }) => [recorded?.content.body, sent?.content.body]).slice(0, 2),
    [["xxxx", "xx"], ["* xxxx!", "* xx!"]],
  );
});

Deno.test("A bot that says less or more than in the trace differs", async () => {
  const trace = await recorded();
  const { differences } = await replayTrace(trace, (options) => new Bot(options), { keep: KEEP });
  assert(differences.length > 0);
  assert(differences.every(({ sent }) => sent === undefined));
});

Deno.test("A trace has no name, no text, no number and no secret of what was recorded", async () => {
  const trace = await recorded();
  const secrets = [
    "alice",
    "bob",
    "carol",
    "localhost",
    "hunter",
    "cake",
    "Wonder",
    "sesame",
    "secret",
    "never",
  ];
  for (const secret of secrets) assert(!trace.toLowerCase().includes(secret.toLowerCase()), secret);
  assertStringIncludes(trace, "!ping xxxxxx0");
  assertStringIncludes(trace, "!remind 10m xxx xxx xxxxxx xxxx");
  assertStringIncludes(trace, "<b>xxxxx</b> xxxx");
});

Deno.test("What cannot be recorded or replayed is refused with what to give", async () => {
  await using tester = new BotTester((options) => new Bot(options));
  await using bot = new Bot({ baseUrl: tester.homeserver.baseUrl, accessToken: "x" });
  for (const options of [{}, undefined, { write: "a" }]) {
    assertThrows(() => recordTrace(bot.client, options as never), ValueError, "write must be a function");
  }
  const write = () => {};
  for (const client of [undefined, null, {}, bot, "bot"]) {
    assertThrows(() => recordTrace(client as never, { write }), ValueError, "bot.client");
  }
  for (const keep of ["!ping", [1], null, [undefined], {}]) {
    const given = keep as never;
    assertThrows(() => recordTrace(bot.client, { write, keep: given }), ValueError, "keep must be an array");
    const replay = () => replayTrace(START, chatty, { keep: given });
    await assertRejects(replay, ValueError, "keep must be an array");
  }
  for (const trace of [undefined, new Uint8Array(), 1, null]) {
    await assertRejects(() => replayTrace(trace as never, chatty), ValueError, "must be a string");
  }
  await assertRejects(() => replayTrace("hello", chatty), ValueError, "line 1 is not one of a trace");
  await assertRejects(() => replayTrace("", chatty), ValueError, "does not begin as one");
  const twice = '{"line":"start","version":1}\n'.repeat(2);
  await assertRejects(() => replayTrace(twice, chatty), ValueError, "a second recording begins at line 2");
  const bad = '{"line":"start","version":1}\n{"line":"event","room":"!r1:trace"}';
  await assertRejects(() => replayTrace(bad, chatty), ValueError, "line 2 is not one of a trace");
});

Deno.test("A trace whose last line a crash cut off is played without it", async () => {
  const trace = await recorded();
  const whole = await replayTrace(trace, chatty, { keep: KEEP });
  const cut = trace + trace.split("\n").at(-2)?.slice(0, 30);
  assertEquals(await replayTrace(cut, chatty, { keep: KEEP }), whole);
  for (const bad of [`${START}{"line":\n`, `${START}{"line":\n{"line":`, `{"line":"sta`]) {
    await assertRejects(() => replayTrace(bad, chatty), ValueError, "is not one of a trace");
  }
});
