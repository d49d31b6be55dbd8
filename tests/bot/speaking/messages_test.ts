// deno-lint-ignore-file no-boolean-literal-for-arguments -- it is how assertType() is called
import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import { ValueError } from "@greenroom/matrix";
import { BotMessage, type Context } from "@greenroom/matrix/bot";
import type { EventID } from "@greenroom/matrix/types";
import { atEachCrashInRoom } from "../conversations/crashing_room.ts";
import { living } from "../conversations/living.ts";
import { trying } from "../support.ts";

assertType<IsExact<Awaited<ReturnType<Context["reply"]>>, BotMessage>>(true);
assertType<IsExact<Awaited<ReturnType<Context["sendImage"]>>, BotMessage>>(true);
assertType<IsExact<Context["replyTo"], BotMessage | undefined>>(true);

Deno.test("What a bot says comes back as a message, which can be edited, reacted to, answered and redacted", async () => {
  await using tester = trying((bot) =>
    bot.command("build", async (c) => {
      const message = await c.reply("Building");
      assertInstanceOf(message, BotMessage);
      assertEquals([`${message}`, JSON.stringify([message])], [message.eventId, `["${message.eventId}"]`]);
      await message.react("⏳");
      await message.edit("Built");
      const more = await message.reply("Enjoy");
      await c.send("all of it", { replyTo: more });
      await more.redact("too much");
    })
  );
  const room = await tester.room("alice", "bob");
  await room.say("!build");
  const { eventId: built } = await room.expect("Built");
  assertEquals(await room.expectReaction("⏳"), built);
  await tester.settle();
  const own = room.view().messages.filter(({ sender }) => sender === tester.mxid);
  const redacted = own.find(({ type }) => type === "m.room.redaction")?.content.redacts;
  assertEquals(room.messages.find(({ text }) => text === "all of it")?.replyTo, redacted);
});

Deno.test("Events are taken as their ID, or as what has one: a message, a context, a reaction", async () => {
  const pins: unknown[] = [];
  await using tester = trying((bot) => {
    bot.command("pin", async (c) => {
      const noted = async () =>
        pins.push((await c.client.getStateEvent(c.roomId, "m.room.pinned_events")).pinned);
      await c.pin(c);
      await c.replyTo?.pin();
      await noted();
      await c.unpin(c.eventId);
      if (c.replyTo !== undefined) await c.unpin(c.replyTo);
      await noted();
      await c.reply(c.permalink(c.replyTo));
    });
    bot.on("reaction", async (c) => {
      const { sender } = await c.getEvent(c.reaction);
      await c.send(`${c.reaction.key} to ${sender}`, { format: "plain" });
    });
  });
  const room = await tester.room("alice", "bob");
  const levels = { users: { [tester.mxid]: 100 }, events_default: 0 };
  await tester.request(
    "alice",
    "PUT",
    `/rooms/${encodeURIComponent(room.id)}/state/m.room.power_levels/`,
    levels,
  );
  const first = await room.say("the rules");
  await room.react(first, "🎉");
  await room.expect(`🎉 to ${tester.userId("alice")}`);
  const asked = await room.say("!pin", { replyTo: first });
  await room.expect(new RegExp(first.slice(1)));
  assertEquals(pins, [[asked, first], []]);
});

Deno.test("What is no event is refused, with what to do", async () => {
  const messages: string[] = [];
  await using tester = trying((bot) =>
    bot.command("wrong", async (c) => {
      for (
        const wrong of [
          () => c.redact("spam" as EventID),
          () => c.edit(c.send("x") as unknown as BotMessage, "y"),
          () => c.send("x", { replyTo: "!room" as EventID }),
          () => c.reactTo(undefined as unknown as BotMessage, "👍"),
        ]
      ) {
        messages.push((await assertRejects(async () => void await wrong(), ValueError)).message);
      }
    })
  );
  const room = await tester.room("alice");
  await room.say("!wrong");
  await tester.settle();
  assertEquals(messages, [
    "Cannot redact: spam is no event ID; give a message, or its event ID",
    "Cannot edit a message: a promise is no event ID; await what sends it",
    "Cannot send: !room is no event ID; give a message, or its event ID",
    "Cannot react: undefined is no event ID; give a message, or its event ID",
  ]);
});

Deno.test("A message of another room is refused, with where to do it; the message itself does it there", async () => {
  const messages: string[] = [];
  let message: BotMessage | undefined;
  await using tester = trying((bot) => {
    bot.command("keep", async (c) => {
      message = await c.reply("kept");
    });
    bot.command("use", async (c) => {
      const other = message as BotMessage;
      for (
        const wrong of [
          () => c.edit(other, "x"),
          () => c.send("x", { replyTo: other }),
          () => c.sendFile(new Uint8Array(1), { replyTo: other }),
          () => c.redact(other),
          () => c.getEvent(other),
          () => c.permalink(other),
        ]
      ) {
        messages.push((await assertRejects(async () => void await wrong(), ValueError)).message);
      }
      await other.reply("there");
    });
  });
  const [room, here] = [await tester.room("alice"), await tester.room("alice")];
  await room.say("!keep");
  await room.expect("kept");
  await here.say("!use");
  await room.expect("there");
  const which = `${message} is of another room than ${here.id}; do it in ${room.id}`;
  assertEquals(
    messages,
    ["edit a message", "send", "send a file", "redact", "read an event", "make a link"].map((action) =>
      `Cannot ${action}: ${which}`
    ),
  );
});

Deno.test("A message that outlives its function goes on outside of it, without a warning", async () => {
  let message: BotMessage | undefined;
  await using tester = trying((bot) =>
    bot.command("keep", async (c) => {
      message = await c.reply("kept");
    })
  );
  const room = await tester.room("alice");
  await room.say("!keep");
  await room.expect("kept");
  await tester.settle();
  await message?.react("📌");
  await room.expectReaction("📌");
  assertEquals(tester.logged.filter((line) => line.includes("went on")), []);
});

Deno.test("A message in another function is a step of that", async () => {
  let message: BotMessage | undefined;
  await using tester = trying((bot) => {
    bot.command("keep", async (c) => {
      message = await c.reply("kept");
    });
    bot.command("change", async (c) => {
      await message?.reply("one");
      await c.ask("Again?");
      await message?.reply("two");
    });
  });
  const room = await tester.room("alice");
  await room.say("!keep");
  await room.expect("kept");
  await room.say("!change");
  await room.expect("one");
  await room.expect("Again?");
  await room.say("yes");
  await room.expect("two");
  await tester.settle();
  assertEquals(room.messages.map(({ content: { body } }) => body), ["kept", "one", "Again?", "two"]);
});

for (const isWaiting of [true, false]) {
  const state = isWaiting ? "waits for an answer" : "is still running";
  Deno.test(`A message of a function that ${state} is a step of the other function that uses it`, async () => {
    let message: BotMessage | undefined;
    const used = Promise.withResolvers<void>();
    await using tester = trying((bot) => {
      bot.command("keep", async (c) => {
        message = await c.reply("kept");
        if (!isWaiting) await used.promise;
        await c.ask("Which?");
        await c.send("that one");
      });
      bot.command("use", async (c) => {
        await message?.reply("one");
        await c.ask("Again?");
        await message?.reply("two");
        used.resolve();
      });
    });
    const room = await tester.room("alice", "bob");
    await room.say("!keep");
    await room.expect("kept");
    if (isWaiting) await room.expect("Which?");
    await room.as("bob").say("!use");
    await room.expect("one");
    await room.expect("Again?");
    await room.as("bob").say("yes");
    await room.expect("two");
    if (!isWaiting) await room.expect("Which?");
    await room.say("this");
    await room.expect("that one");
    await tester.settle();
    assertEquals(room.messages.length, 6);
  });
}

Deno.test("A message is made again from what was stored, after an answer and a crash at any moment", async () => {
  await atEachCrashInRoom({
    isEncrypted: false,
    setUp(client) {
      const bot = living(client);
      bot.command("build", async (c) => {
        const message = await c.reply("Building");
        const answer = await c.ask("For whom?");
        await message.edit(`Built for ${answer}`);
        await message.react("🏁");
      });
      bot.start({ signals: false });
    },
  }, async ({ here, alice, texts, bot, room }) => {
    await alice.sendText(room, "!build");
    await bot.until(() => texts.at(-1) === "For whom?");
    await bot.settle();
    await alice.sendText(room, "Bob");
    const { messages } = here.homeserver.room(room);
    const reactions = () => here.homeserver.room(room).messages.filter(({ type }) => type === "m.reaction");
    await bot.until(() => reactions().length > 0);
    await bot.settle();
    const own = here.homeserver.room(room).messages.filter(({ sender }) => sender === "@bot:localhost");
    const relations = own.map(({ content }) =>
      (content["m.relates_to"] as { event_id?: string } | undefined)?.event_id
    );
    assertEquals(relations, [undefined, undefined, own[0]?.event_id, own[0]?.event_id], bot.crashes.join());
    assertEquals(messages.length > 0, true);
  });
});
