// deno-lint-ignore-file no-boolean-literal-for-arguments -- it is how assertType() is called
import { assertEquals, assertStrictEquals } from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import { defineSession } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";
import { trying } from "../support.ts";

Deno.test("c.room is the room itself, with its ID, also for a command in a thread", async () => {
  const ids: [string, string][] = [];
  await using tester = trying((bot) =>
    bot.command("tell", async (c) => {
      ids.push([c.room.id, c.roomId]);
      await c.send("in the thread");
      await c.room.send("in the room");
    })
  );
  const room = await tester.room("alice", "bob");
  const first = await room.say("a thread");
  await room.say("!tell", { thread: first });
  const threads = [await room.expect("in the thread"), await room.expect("in the room")]
    .map(({ content }) => (content["m.relates_to"] as { event_id?: string } | undefined)?.event_id);
  assertEquals(threads, [first, undefined]);
  assertEquals(ids, [[room.id, room.id]]);
});

Deno.test("What is done in c.room is a step: done once, though the function waits for an answer", async () => {
  await using tester = trying((bot) =>
    bot.command("ask", async (c) => {
      await c.room.send("asking");
      const name = await c.room.step(() => "Bob");
      await c.reply(`${name} ${await c.ask("Who?")}`);
    })
  );
  const room = await tester.room("alice", "bob");
  await room.say("!ask");
  await room.expect("asking");
  await room.expect("Who?");
  await room.say("Builder");
  await room.expect("Bob Builder");
});

Deno.test("c.room knows who asked: their session, and whom a reminder is for", async () => {
  const counter = defineSession({ name: "counter", per: "user", initial: () => ({ count: 0 }) });
  await using tester = trying((bot) => {
    bot.command("count", async (c) => {
      assertStrictEquals(c.room, c.room);
      const mine = await c.room.getSession(counter);
      await c.reply(`count ${++mine.count}`);
    });
    bot.command("tea", (c) => c.room.remind({ in: 60_000 }, "Tea!"));
  });
  const room = await tester.room("alice", "bob");
  await room.say("!count");
  await room.expect("count 1");
  await room.as("bob").say("!count");
  await room.expect("count 1");
  await room.say("!count");
  await room.expect("count 2");
  await room.say("!tea");
  await tester.settle();
  await tester.pass(60_000);
  const { content } = await room.expect("Tea!");
  assertEquals((content["m.mentions"] as { user_ids?: string[] }).user_ids, [tester.userId("alice")]);
});

Deno.test("c.typing() shows that the bot types until it is taken back, and fails nothing", async () => {
  const asked: unknown[] = [];
  await using tester = new BotTester((options) => {
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const { url } = new Request(input, init);
      if (!url.includes("/typing/")) return await options.fetch(input, init);
      asked.push(JSON.parse(String(init?.body)));
      return new Response("{}", { status: 403, headers: { "content-type": "application/json" } });
    };
    const bot = new Bot({ ...options, fetch });
    bot.command("joke", async (c) => {
      assertType<IsExact<ReturnType<typeof c.typing>, Promise<void>>>(true);
      await c.typing();
      await c.typing(true);
      await c.reply("Two clients walk into a room");
      await c.typing(false);
    });
    return bot;
  });
  const room = await tester.room("alice");
  await room.say("!joke");
  await room.expect("Two clients walk into a room");
  await tester.settle();
  const shown = { typing: true, timeout: 30_000 };
  assertEquals(asked, [shown, shown, { typing: false }]);
});

Deno.test("c.room reads its name, its topic, and what members are", async () => {
  await using tester = trying((bot) =>
    bot.command("read", async (c) => {
      const { room } = c;
      const member = await room.getMember(c.sender);
      const levels = [await room.getPowerLevel(c.sender), await room.getPowerLevel("@bob:localhost")];
      await c.reply(
        JSON.stringify([
          await room.getName(),
          await room.getTopic(),
          member?.displayname,
          ...levels.map(String),
        ]),
        { format: "plain" },
      );
    })
  );
  const room = await tester.room("alice", "bob");
  await room.say("!read");
  await room.expect(/^\[null,null,"alice","/);
  const state = `/rooms/${room.id}/state`;
  await tester.request("alice", "PUT", `${state}/m.room.name`, { name: "Stage" });
  await tester.request("alice", "PUT", `${state}/m.room.topic`, { topic: "Plays" });
  await room.say("!read");
  await room.expect(/^\["Stage","Plays","alice","(?:100|Infinity)","0"\]$/);
});
