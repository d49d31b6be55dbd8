import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, ValueError } from "@greenroom/matrix";
import type { Bot, RemindersFilter } from "@greenroom/matrix/bot";
import type { BotTester } from "@greenroom/matrix/testing";
import { living } from "../conversations/living.ts";
import { atEachCrashInRoom } from "../conversations/crashing_room.ts";
import { trying } from "../support.ts";

const MINUTE = 60_000;

/** Has the homeserver refuse the next event that it is to send later. */
function refusesLater(tester: BotTester): void {
  const body = { errcode: "M_UNKNOWN", error: "The requested delay exceeds the allowed maximum" };
  const match = { method: "PUT", path: "/send/", user: tester.mxid };
  tester.homeserver.faults.add({ kind: "status", status: 400, body, match, times: 1 });
}

/** A bot that says "Curtain" in ten minutes, and takes that back. */
function calling(): (bot: Bot) => void {
  let id = "";
  return (bot) => {
    bot.command("later", async (c) => {
      id = await c.later("10m", "**Curtain**");
      await c.reply("Noted");
    });
    bot.command("cancel", async (c) => void await c.reply(`${await bot.later.cancel(id)}`));
    bot.command("restart", async (c) => void await c.reply(`${await bot.later.restart(id)}`));
  };
}

Deno.test("What is said later the homeserver says in time, though the bot is away, and only then", async () => {
  await using tester = trying(calling());
  const room = await tester.room("alice");
  await room.say("!later");
  await room.expect("Noted");
  await tester.stop();
  await tester.pass(10 * MINUTE - 1);
  assertEquals(room.messages.at(-1)?.text, "Noted");
  await tester.pass(1);
  const { sender, text, html } = room.messages.at(-1) ?? {};
  assertEquals([sender, text, html], [tester.mxid, "**Curtain**", "<strong>Curtain</strong>"]);
  await room.expect("**Curtain**");
  await tester.pass(10 * MINUTE);
  await tester.restart();
  await tester.pass(MINUTE);
  await room.expectNothing();
});

Deno.test("What the homeserver has said later is not said again where it was redacted before the bot looks", async () => {
  await using tester = trying(calling());
  const { homeserver, mxid } = tester;
  const room = await tester.room("alice");
  await room.say("!later");
  await room.expect("Noted");
  await tester.stop();
  await tester.pass(10 * MINUTE);
  const said = () => homeserver.room(room.id).messages.filter(({ sender }) => sender === mxid);
  const [, curtain] = said();
  const path = `/rooms/${encodeURIComponent(room.id)}/redact/${encodeURIComponent(`${curtain?.event_id}`)}/1`;
  await tester.request("alice", "PUT", path, {});
  await tester.restart();
  await tester.pass(MINUTE);
  assertEquals(said().map(({ content }) => content.body), ["Noted", undefined]);
});

Deno.test("What the homeserver does not say later the bot says, once, also after a restart", async () => {
  await using tester = trying(calling());
  const room = await tester.room("alice");
  refusesLater(tester);
  await room.say("!later");
  await room.expect("Noted");
  await tester.restart();
  await tester.pass(10 * MINUTE - 1_000);
  await room.expectNothing();
  await tester.pass(1_000);
  assertEquals((await room.expect("**Curtain**")).html, "<strong>Curtain</strong>");
  await tester.restart();
  await tester.pass(10 * MINUTE);
  await room.expectNothing();
});

Deno.test("What the homeserver has lost, as when the bot had sent too much at that time, the bot says, once", async () => {
  let made: Bot | undefined;
  await using tester = trying((bot) => {
    made = bot;
    calling()(bot);
  });
  const room = await tester.room("alice");
  for (let count = 0; count < 2; count++) {
    await room.say("!later");
    await room.expect("Noted");
    await tester.pass(2 * MINUTE);
  }
  const [lost] = await made?.client.listDelayedEvents() ?? [];
  await made?.client.cancelDelayedEvent(lost?.delay_id as string);
  await tester.pass(10 * MINUTE);
  await room.expect("**Curtain**");
  await room.expect("**Curtain**");
  await tester.restart();
  await tester.pass(MINUTE);
  await room.expectNothing();
});

Deno.test("What the bot has said itself shortly before is not taken for what it says later", async () => {
  let made: Bot | undefined;
  await using tester = trying((bot) => {
    made = bot;
    calling()(bot);
    bot.command("now", async (c) => void await c.send("**Curtain**"));
  });
  const room = await tester.room("alice");
  await room.say("!later");
  await room.expect("Noted");
  await tester.pass(9.5 * MINUTE);
  await room.say("!now");
  await room.expect("**Curtain**");
  const [lost] = await made?.client.listDelayedEvents() ?? [];
  await made?.client.cancelDelayedEvent(lost?.delay_id as string);
  await tester.pass(MINUTE);
  await room.expect("**Curtain**");
  await room.expectNothing();
});

Deno.test("What the bot says itself soon after is not taken for what it says later either", async () => {
  let made: Bot | undefined;
  await using tester = trying((bot) => {
    made = bot;
    calling()(bot);
    bot.command("now", async (c) => void await c.send("**Curtain**"));
  });
  const room = await tester.room("alice");
  await room.say("!later");
  await room.expect("Noted");
  const [lost] = await made?.client.listDelayedEvents() ?? [];
  await made?.client.cancelDelayedEvent(lost?.delay_id as string);
  await tester.pass(10 * MINUTE + 1_000);
  await room.say("!now");
  await room.expect("**Curtain**");
  await room.expectNothing();
  await tester.pass(MINUTE);
  await room.expect("**Curtain**");
  await room.expectNothing();
});

for (const isRefused of [false, true]) {
  const where = isRefused ? "at the bot" : "at the homeserver";
  Deno.test(`What is said later, ${where}, can be cancelled, and its time can begin again`, async () => {
    await using tester = trying(calling());
    const room = await tester.room("alice");
    const ask = async (command: string, answer: string) => {
      await room.say(command);
      await room.expect(answer);
    };
    if (isRefused) refusesLater(tester);
    await ask("!later", "Noted");
    await ask("!cancel", "true");
    await ask("!cancel", "false");
    await ask("!restart", "false");
    await tester.pass(10 * MINUTE);
    await room.expectNothing();
    if (isRefused) refusesLater(tester);
    await ask("!later", "Noted");
    await tester.pass(9 * MINUTE);
    await ask("!restart", "true");
    await tester.restart();
    await tester.pass(9 * MINUTE);
    await room.expectNothing();
    await tester.pass(MINUTE);
    await room.expect("**Curtain**");
    await ask("!restart", "false");
    await ask("!cancel", "false");
    await tester.pass(10 * MINUTE);
    await room.expectNothing();
  });
}

Deno.test("What is said later is listed, the next one first, until it is said or cancelled", async () => {
  let made: Bot | undefined;
  await using tester = trying((bot) => {
    made = bot;
    bot.command(
      "later <when> <text...>",
      async (c) => void await c.reply(await c.later(c.args.when, c.args.text)),
    );
  });
  const room = await tester.room("alice");
  const others = await tester.room("bob");
  const begin = tester.clock.now();
  await room.say("!later 20m **two**");
  await room.expect(/./);
  refusesLater(tester);
  await others.say("!later 30m three");
  await others.expect(/./);
  await room.say("!later 10m one");
  const { text: id } = await room.expect(/./);
  const listed = async (filter?: RemindersFilter) =>
    (await made?.later.list(filter))?.map(({ text }) => text);
  assertEquals(await listed(), ["one", "**two**", "three"]);
  assertEquals(await listed({ roomId: room.id }), ["one", "**two**"]);
  assertEquals(await listed({ userId: tester.userId("bob") }), ["three"]);
  const [first] = await made?.later.list() ?? [];
  assertEquals([first?.id, first?.roomId, first?.by], [id, room.id, tester.userId("alice")]);
  assert(Math.abs((first?.due.getTime() ?? 0) - begin - 10 * MINUTE) < MINUTE);
  await tester.pass(11 * MINUTE);
  await tester.settle();
  assertEquals(await listed(), ["**two**", "three"]);
  for (const { id } of await made?.later.list() ?? []) await made?.later.cancel(id);
  assertEquals(await listed(), []);
  assertEquals(await made?.reminders.list(), []);
  await assertRejects(
    () => made?.later.list({ room: room.id } as never) ?? Promise.resolve(),
    ValueError,
    "roomId",
  );
});

Deno.test("What the bot says later counts among the reminders of a user, and what was cancelled does not", async () => {
  await using tester = trying((bot) => {
    let id = "";
    bot.command("later", async (c) => {
      const outcome = await c.later("2d", "Curtain").then((made) => id = made, () => undefined);
      await c.reply(outcome === undefined ? "Too many" : "Noted");
    });
    bot.command("cancel", async (c) => void await c.reply(`${await bot.later.cancel(id)}`));
  }, { maxReminders: 1 });
  const room = await tester.room("alice");
  for (
    const [command, answer] of [["later", "Noted"], ["later", "Too many"], ["cancel", "true"], [
      "later",
      "Noted",
    ]]
  ) {
    await room.say(`!${command}`);
    await room.expect(answer as string);
  }
});

Deno.test("What can't be said later is a ValueError", async () => {
  const errors: unknown[] = [];
  await using tester = trying((bot) => {
    bot.command("later", async (c) => {
      for (
        const args of [
          ["soon", "x"],
          [new Date(NaN), "x"],
          ["1h", ""],
          ["1h", 3],
          ["1h", "x", { key: "y" }],
          [
            "1h",
            "x ".repeat(40_000),
          ],
        ]
      ) {
        await c.later(...args as [string, string]).catch((error) => errors.push(error));
      }
      await c.reply("Done");
    });
  });
  const room = await tester.room("alice");
  await room.say("!later");
  await room.expect("Done");
  assertEquals(errors.length, 6);
  for (const error of errors) await assertRejects(() => Promise.reject(error), ValueError, "Cannot");
});

const DELAY = 2_000;

/** A bot that is told to say something in a minute. */
function waiting(client: Client): void {
  const bot = living(client);
  bot.command("later", async (c) => void await c.later({ in: DELAY }, "Curtain"));
  bot.start({ signals: false });
}

for (const isEncrypted of [false, true]) {
  const where = isEncrypted ? "an encrypted" : "a plain";
  Deno.test(`What is said later in ${where} room comes once, wherever the process crashes`, async () => {
    await atEachCrashInRoom({ setUp: waiting, isEncrypted }, async ({ here, alice, texts, bot, room }) => {
      await alice.sendText(room, "!later");
      await bot.settle();
      await here.clock.tick(DELAY);
      await bot.until(() => texts.length > 1);
      await bot.settle();
      await here.clock.tick(12_000); // until the bot has looked whether it was sent
      await bot.settle();
      assertEquals(texts, ["!later", "Curtain"], bot.crashes.join());
      const sent = here.homeserver.room(room).messages.filter(({ sender }) => sender === "@bot:localhost");
      assertEquals(sent.length, 1, bot.crashes.join());
      assertEquals(await bot.records("bot.later"), [], bot.crashes.join());
    });
  });
}
