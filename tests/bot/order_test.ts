import { assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import type { Context } from "@greenroom/matrix/bot";
import { atEachCrashInRoom } from "./conversations/crashing_room.ts";
import { living } from "./conversations/living.ts";
import { trying } from "./support.ts";

/** What a function says without waiting; what is formatted takes longer. */
const FOUR = [["**1**", "markdown"], ["2", "plain"], ["<b>3</b>", "html"], ["4", "plain"]] as const;
const HEARD = ["**1**", "2", "3", "4"];

function sayFour(c: Context): void {
  for (const [text, format] of FOUR) c.send(text, { format });
}

Deno.test("A function that was given up and ends after all does not let the user's messages pass each other", async () => {
  const gates = { hang: Promise.withResolvers<void>(), slow: Promise.withResolvers<void>() };
  await using tester = trying((bot) =>
    bot.on("message:text", async (c) => {
      if (c.text === "hang" || c.text === "slow") await gates[c.text].promise;
      await c.reply(`${c}`);
    }), { handlerTimeout: 60_000 });
  const room = await tester.room("alice");
  for (const text of ["hang", "slow", "after"]) await room.say(text);
  await tester.settle();
  await tester.pass(60_000);
  gates.hang.resolve();
  await room.expectNothing();
  gates.slow.resolve();
  await room.expect("slow");
  await room.expect("after");
});

Deno.test("What a function sends without waiting for it is sent, one after the other", async () => {
  await using tester = trying((bot) =>
    bot.command("count", (c) => {
      c.send("one").then(() => c.send("two")).then(() => c.send("three"));
    })
  );
  const room = await tester.room("alice");
  await room.say("!count");
  for (const text of ["one", "two", "three"]) await room.expect(text);
});

for (const isEncrypted of [false, true]) {
  const room = isEncrypted ? "an encrypted room" : "a room";
  Deno.test(`Four sends into ${room} arrive in order, though the first gets a 502, wherever the bot ends`, async () => {
    const setUp = (client: Client) => {
      const bot = living(client);
      bot.command("four", sayFour);
      bot.start({ signals: false });
    };
    await atEachCrashInRoom({ setUp, isEncrypted, retry: {} }, async ({ here, alice, texts, bot, room }) => {
      const match = { method: "PUT", path: "/send/", user: "@bot:localhost" } as const;
      const refused = here.homeserver.faults.add({ kind: "html", match, times: 1 });
      await alice.sendText(room, "!four");
      await bot.until(() => texts.length > HEARD.length);
      await bot.settle();
      assertEquals(refused.hits, 1);
      assertEquals(texts.slice(1), HEARD, bot.crashes.join());
    });
  });
}

Deno.test("What a function says within a step, or when it has ended, leaves in order, too", async () => {
  const gate = Promise.withResolvers<void>();
  await using tester = trying((bot) => {
    bot.command("within", (c) => c.step(() => sayFour(c)));
    bot.command("late", (c) => void gate.promise.then(() => sayFour(c)));
  });
  const room = await tester.room("alice");
  await room.say("!within");
  for (const text of HEARD) await room.expect(text);
  await room.say("!late");
  gate.resolve();
  for (const text of HEARD) await room.expect(text);
});

Deno.test("A bot that leaves, without waiting, has said before what it was to say", async () => {
  await using tester = trying((bot) =>
    bot.command("go", (c) => {
      sayFour(c);
      c.leave();
    })
  );
  const room = await tester.room("alice");
  await room.say("!go");
  for (const text of HEARD) await room.expect(text);
  await tester.settle();
  assertEquals(tester.homeserver.room(room.id).membership(tester.mxid), "leave");
});

Deno.test("A bot that accepts an invitation, without waiting, speaks when it has joined", async () => {
  await using tester = trying((bot) =>
    bot.on("invite", (c) => {
      c.join();
      c.send("hello");
    }), { autoJoin: false });
  await tester.start();
  tester.homeserver.faults.add({ kind: "delay", ms: 1_000, match: { path: "/join", user: tester.mxid } });
  const { room_id: id } = await tester.request("alice", "POST", "/createRoom", { invite: [tester.mxid] });
  await tester.settle();
  await tester.pass(1_000);
  const { messages } = tester.homeserver.room(id as `!${string}`);
  assertEquals(messages.map(({ content }) => content.body), ["hello"]);
});

Deno.test("A text that comes in pieces begins after what was said before it", async () => {
  await using tester = trying((bot) =>
    bot.command("story", (c) => {
      c.send("**before**");
      c.stream(async function* () {
        yield "once";
      }());
    })
  );
  const room = await tester.room("alice");
  await room.say("!story");
  await room.expect("**before**");
  await room.expect("once");
});
