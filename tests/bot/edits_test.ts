import { assertEquals } from "@std/assert";
import { type Bot, Composer, type Query } from "@greenroom/matrix/bot";
import { trying } from "./support.ts";

const edited = (body: string, event_id: string) => ({
  msgtype: "m.text",
  body: `* ${body}`,
  "m.new_content": { msgtype: "m.text", body },
  "m.relates_to": { rel_type: "m.replace", event_id },
});

Deno.test("An edit counts only if its sender wrote what it edits", async () => {
  const heard: string[] = [];
  await using tester = trying((bot) => bot.on("edit", (c) => void heard.push(`${c.sender} ${c.text}`)));
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
