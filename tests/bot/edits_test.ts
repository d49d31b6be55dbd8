import { assertEquals } from "@std/assert";
import { type Bot, Composer, POLL_EVENTS, pollResponse, pollStart, type Query } from "@greenroom/matrix/bot";
import type { EventID, JsonObject } from "@greenroom/matrix/types";
import { trying } from "./support.ts";

const edited = (body: string, event_id: string) => ({
  msgtype: "m.text",
  body: `* ${body}`,
  "m.new_content": { msgtype: "m.text", body },
  "m.relates_to": { rel_type: "m.replace", event_id },
});

Deno.test("An edit counts only if its sender wrote what it edits", async () => {
  const heard: string[] = [];
  const failures: unknown[] = [];
  const log = { debug() {}, info() {}, warn() {}, error: (message: string) => void failures.push(message) };
  await using tester = trying((bot) => bot.on("edit", (c) => void heard.push(`${c.sender} ${c.text}`)), {
    log,
  });
  const room = await tester.room("alice", "bob");
  const first = await room.say("one");
  await room.as("bob").send("m.room.message", edited("forged", first));
  await room.send("m.room.message", {
    ...edited("of nothing", first),
    "m.relates_to": { rel_type: "m.replace" },
  });
  await room.send("m.room.message", edited("two", first));
  await tester.settle();
  assertEquals(heard, ["@alice:localhost two"]);
  assertEquals(failures, []);
});

Deno.test("An edit whose new content is no object reaches no function for edits", async () => {
  const heard: unknown[] = [];
  await using tester = trying((bot) => bot.on(["edit", "edit:text"], (c) => void heard.push(c.text)));
  const room = await tester.room("alice");
  const first = await room.say("one");
  for (const content of [null, "two", 2, ["two"]]) {
    await room.send("m.room.message", { ...edited("two", first), "m.new_content": content });
  }
  await room.send("m.room.message", edited("three", first));
  await tester.settle();
  assertEquals(heard, ["three"]);
});

Deno.test("Who wrote what is edited is asked only if somebody listens to edits", async () => {
  const heard: string[] = [];
  const hear = (c: { text: string }) => void heard.push(c.text);
  const tree = (query: Query): Composer => {
    const plugin = new Composer();
    plugin.on(query, hear);
    return plugin;
  };
  const bots: Record<string, [(bot: Bot) => unknown, number]> = {
    "commands, text, reactions": [(bot) => {
      bot.command("ping", (c) => c.send("pong"));
      bot.on(["message", "message:text", "reaction"], hear);
      bot.hears(/two/, hear);
    }, 0],
    "a tree without edits": [(bot) => bot.use(tree("message")), 0],
    "a filter within": [(bot) => bot.on("message").filter(() => true, hear), 0],
    "edits": [(bot) => bot.on("edit:text", hear), 1],
    "the type": [(bot) => bot.on("m.room.message", hear), 1],
    "middleware for everything": [(bot) => bot.use(hear), 1],
    "a filter of everything": [(bot) => {
      bot.command("ping", (c) => c.send("pong"));
      bot.filter(() => true, hear);
    }, 1],
    "a tree within a tree": [(bot) => bot.errorBoundary(() => {}).use(tree("edit")), 1],
  };
  for (const [name, [setUp, asks]] of Object.entries(bots)) {
    await using tester = trying((bot) => void setUp(bot));
    const room = await tester.room("alice");
    const first = await room.say("one");
    await tester.settle();
    heard.length = 0;
    await room.send("m.room.message", edited("two", first));
    await tester.settle();
    const asked = tester.homeserver.requests.filter("GET", `/event/${encodeURIComponent(first)}`);
    assertEquals([asked.length, heard], [asks, asks === 0 ? [] : ["two"]], name);
  }
});

Deno.test("A conversation that waits for an edit hears it, though no function listens to edits", async () => {
  await using tester = trying((bot) =>
    bot.command("mend", async (c) => {
      await c.send(`now: ${await c.ask("Mend it!", { filter: "edit" })}`);
    })
  );
  const room = await tester.room("alice", "bob");
  const first = await room.say("one");
  await room.say("!mend");
  await room.expect("Mend it!");
  await room.as("bob").send("m.room.message", edited("forged", first));
  await room.expectNothing();
  await room.send("m.room.message", edited("two", first));
  await room.expect("now: two");
});

Deno.test("An edit of what is no message is neither heard as new nor taken as an answer", async () => {
  const heard: string[] = [];
  await using tester = trying((bot) => {
    bot.on(["sticker", "poll:start", "org.example.own"], (c) => void heard.push(c.event.type));
    bot.command("wait", async (c) => {
      const answer = await c.wait({ filter: ["sticker", "org.example.own"] });
      await c.reply(`got ${(answer.event.content as { body?: string }).body}`);
    });
  });
  const room = await tester.room("alice", "bob");
  const sticker = (body: string) => ({ body, url: "mxc://localhost/cat", info: {} });
  const first = await room.send("m.sticker", sticker("one"));
  const own = await room.send("org.example.own", { body: "own" });
  await tester.settle();
  assertEquals(heard, ["m.sticker", "org.example.own"]);
  await room.say("!wait");
  for (const [type, event_id] of [["m.sticker", first], ["org.example.own", own]] as const) {
    const content = sticker("edited");
    await room.send(type, {
      ...content,
      "m.new_content": content,
      "m.relates_to": { rel_type: "m.replace", event_id },
    });
  }
  await tester.settle();
  assertEquals([heard.length, room.messages.length], [2, 0]);
  await room.send("m.sticker", sticker("two"));
  await room.expect("got two");
});

Deno.test("A function for everything gets an edit of any type from who wrote what it edits, and from nobody else", async () => {
  const heard: string[] = [];
  await using tester = trying((bot) => {
    bot.use((c, next) => {
      const { "m.relates_to": relation } = c.event.content as { "m.relates_to"?: object };
      if (relation !== undefined) heard.push(`${c.sender} ${c.event.type}`);
      return next();
    });
    bot.on("org.example.own", () => {}); // the client listens to it then
  });
  const room = await tester.room("alice", "bob");
  const message = await room.say("one");
  const own = await room.send("org.example.own", { body: "own" });
  const editOf = (event_id: string) => ({ body: "two", "m.relates_to": { rel_type: "m.replace", event_id } });
  for (const user of [room.as("bob"), room]) {
    await user.send("org.example.own", editOf(own));
    await user.send("m.room.message", { msgtype: "m.text", ...editOf(message) }); // without new content
  }
  await tester.settle();
  assertEquals(heard, ["@alice:localhost org.example.own", "@alice:localhost m.room.message"]);
});

Deno.test("An edit in a thread is in that thread: for answers to it, and for who waits there", async () => {
  await using tester = trying((bot) => {
    bot.on("edit:text", (c) => c.reply(`edited to ${c}`));
    bot.command("wait", async (c) => {
      const answer = await c.wait({ filter: "edit:text" });
      await c.send(`heard ${answer}`);
      await c.send(`and ${await c.wait()}`);
    });
  });
  const room = await tester.room("alice", "bob");
  const thread = await room.say("a thread");
  const said = await room.say("one", { thread });
  await room.send("m.room.message", edited("two", said));
  const reply = await room.expect("edited to two");
  assertEquals(reply.thread, thread);
  await room.say("!wait", { thread });
  await tester.settle();
  await room.send("m.room.message", edited("three", said));
  assertEquals((await room.expect("heard three")).thread, thread);
  await room.say("four", { thread });
  assertEquals((await room.expect("and four")).thread, thread);
});

Deno.test("c.getPollResults() counts the answers of a poll as its creator has edited it", async () => {
  const tallies: unknown[] = [];
  let poll: EventID = "$";
  await using tester = trying((bot) =>
    bot.on("poll:vote", async (c) => {
      const { answers, spoiled } = await c.getPollResults(poll);
      tallies.push([answers.map(({ text, votes }) => [text, votes]), spoiled.length]);
    })
  );
  const room = await tester.room("alice", "bob");
  const answers = (...texts: string[]) =>
    ({ ...pollStart({ question: "Tea?", answers: texts }) }) as JsonObject;
  poll = await room.send(POLL_EVENTS.START, answers("yes", "no"));
  const edit = (as: string, ...texts: string[]) =>
    room.as(as).send(POLL_EVENTS.START, {
      ...answers(...texts),
      "m.new_content": answers(...texts),
      "m.relates_to": { rel_type: "m.replace", event_id: poll },
    });
  await edit("alice", "yes", "no", "later");
  await edit("bob", "forged", "no");
  await room.as("bob").send(POLL_EVENTS.RESPONSE, { ...pollResponse(poll, ["3"]) });
  await tester.until(() => tallies.length === 1, "It was to count");
  assertEquals(tallies, [[[["yes", 0], ["no", 0], ["later", 1]], 0]]);
});
