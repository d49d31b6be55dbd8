/** What a bot says while its homeserver is away for long: the room's queue has it. */

import { assertEquals, assertRejects } from "@std/assert";
import { type Client, ForbiddenError } from "@greenroom/matrix";
import type { Bot, BotOptions, Context } from "@greenroom/matrix/bot";
import type { BotTester } from "@greenroom/matrix/testing";
import { atEachCrashInRoom } from "../conversations/crashing_room.ts";
import { living } from "../conversations/living.ts";
import { trying } from "../support.ts";

const SEND = { method: "PUT", path: "/send/", user: "@bot:localhost" } as const;
const MINUTE = 60_000;
/** How a homeserver is away: an answer that is lost may be that to what has arrived. */
const KINDS = ["drop", "drop-after", "html"] as const;

/** A bot whose command `!go` may take an hour. */
function going(go: (c: Context, bot: Bot) => unknown, options: Partial<BotOptions> = {}) {
  const made: Bot[] = [];
  const tester = trying((bot) => {
    made.push(bot);
    bot.command("go", (c) => go(c, bot));
  }, { handlerTimeout: "1h", ...options });
  return { tester, bot: () => made.at(-1) as Bot };
}

/** Lets minutes pass: a queue waits a minute at most. */
async function minutes(tester: BotTester, count: number): Promise<void> {
  for (let passed = 0; passed < count; passed++) await tester.pass(MINUTE);
}

for (const kind of KINDS) {
  Deno.test(`What a function says while the homeserver is away for 20 minutes (${kind}) arrives once, in order`, async () => {
    const said: string[] = [];
    const { tester } = going(async (c) => {
      for (const text of ["1", "2"]) said.push((await c.send(text)).eventId);
    });
    await using _ = tester;
    const room = await tester.room("alice");
    const away = tester.homeserver.faults.add({ kind, match: SEND });
    await room.say("!go");
    await minutes(tester, 20);
    away.remove();
    await minutes(tester, 5);
    const { messages } = tester.homeserver.room(room.id);
    const sent = messages.filter(({ sender }) => sender === tester.mxid);
    assertEquals(sent.map(({ content }) => content.body), ["1", "2"]);
    assertEquals(sent.map(({ event_id }) => event_id), said);
  });
}

Deno.test("A function that was given up is not said to have failed, and what waits of it arrives once", async () => {
  const { tester } = going((c) => c.reply("pong"), { handlerTimeout: "10m" });
  await using _ = tester;
  const room = await tester.room("alice");
  const away = tester.homeserver.faults.add({ kind: "html", match: SEND });
  await room.say("!go");
  await minutes(tester, 20);
  away.remove();
  await minutes(tester, 5);
  assertEquals(room.messages.map(({ text }) => text), ["pong"]);
});

Deno.test("What is said to others in the room comes behind what waits there, and elsewhere at once", async () => {
  const { tester } = going((c) => c.send(`for ${c.sender}`));
  await using _ = tester;
  const [room, other] = [await tester.room("alice", "bob"), await tester.room("alice")];
  const path = new RegExp(`${encodeURIComponent(room.id)}/send/`);
  const away = tester.homeserver.faults.add({ kind: "html", match: { ...SEND, path } });
  await room.say("!go");
  await minutes(tester, 8);
  await other.say("!go");
  await other.expect("for @alice:localhost");
  await room.as("bob").say("!go");
  await tester.settle();
  away.remove();
  await minutes(tester, 2);
  await room.expect("for @alice:localhost");
  await room.expect("for @bob:localhost");
});

Deno.test("Two functions that wait for a homeserver that is away say what they have to in the order of their calls", async () => {
  const { tester } = going((c) => c.send(`for ${c.sender}`));
  await using _ = tester;
  const room = await tester.room("alice", "bob");
  const away = tester.homeserver.faults.add({ kind: "html", match: SEND });
  await room.say("!go");
  await room.as("bob").say("!go");
  await minutes(tester, 6);
  away.remove();
  await minutes(tester, 5);
  const texts = room.messages.map(({ text }) => text);
  assertEquals(texts, ["for @alice:localhost", "for @bob:localhost"]);
});

Deno.test("What waits is seen in the room's queue; one that is cancelled fails in its function", async () => {
  const failed: unknown[] = [];
  const { tester, bot } = going((c) => c.send("1").catch(({ name }) => failed.push(name)));
  await using _ = tester;
  const room = await tester.room("alice");
  const away = tester.homeserver.faults.add({ kind: "html", match: SEND });
  await room.say("!go");
  await minutes(tester, 10);
  const seen: unknown[] = [];
  const isCancelled = () => failed.length > 0;
  while (!isCancelled()) { // between two tries
    bot().client.queue(room.id).list().then(([send]) => {
      seen.push(send?.content);
      return send?.cancel();
    });
    await tester.pass(1_000);
  }
  assertEquals(seen[0], { msgtype: "m.notice", body: "1", "m.mentions": {} });
  away.remove();
  await minutes(tester, 5);
  assertEquals(failed, ["AbortError"]);
  assertEquals(room.messages, []);
});

for (const status of [403, 413, 500]) {
  Deno.test(`What the homeserver refuses by itself (${status}) fails in a function, and does not wait`, async () => {
    const failed: number[] = [];
    const { tester, bot } = going((c) => c.send("1").catch(({ status }) => failed.push(status)));
    await using _ = tester;
    const room = await tester.room("alice");
    const body = { errcode: "M_UNKNOWN", error: "no" };
    const refused = tester.homeserver.faults.add({ kind: "status", status, body, match: SEND });
    await room.say("!go");
    await minutes(tester, 8);
    refused.remove();
    await minutes(tester, 2);
    assertEquals(failed, [status]);
    assertEquals([room.messages, await bot().client.queue(room.id).list()], [[], []]);
  });
}

Deno.test("A send that succeeds commits nothing of a queue, and what is said from outside goes through it", async () => {
  const { tester, bot } = going((c) => c.send("1"));
  await using _ = tester;
  const room = await tester.room("alice");
  const seen: string[] = [];
  bot().client.queue(room.id, { onProgress: ({ state }) => seen.push(state) });
  await room.say("!go");
  await room.expect("1");
  assertEquals(seen, []);
  const { eventId } = await bot().in(room.id).send("2");
  await room.expect("2");
  assertEquals(tester.homeserver.room(room.id).messages.at(-1)?.event_id, eventId);
  await room.say("!go"); // the queue is empty again
  await room.expect("1");
  assertEquals(seen, ["stored", "sending", "sent"]);
});

Deno.test("What is said from outside of functions outlives the process, and keeps its order", async () => {
  const { tester, bot } = going(() => {});
  await using _ = tester;
  const room = await tester.room("alice");
  const away = tester.homeserver.faults.add({ kind: "drop", match: SEND });
  const failures: string[] = [];
  for (const text of ["1", "2", "3"]) {
    bot().in(room.id).send(text).catch(({ name }) => failures.push(name));
  }
  await minutes(tester, 1);
  let isClosed = false;
  bot().close().then(() => isClosed = true);
  while (!isClosed) await tester.pass(1_000);
  assertEquals(failures, Array(3).fill("ClientEndedError"));
  away.remove();
  await tester.restart();
  await minutes(tester, 2);
  assertEquals(room.messages.map(({ text }) => text), ["1", "2", "3"]);
});

for (const isSent of [false, true]) {
  const server = isSent ? "a homeserver that is back" : "a homeserver that is away for its sends";
  Deno.test(`What a bot says after a restart comes behind what the process before has left, on ${server}`, async () => {
    const { tester, bot } = going(async (c) => {
      for (const text of ["3", "4"]) await c.send(text);
    });
    await using _ = tester;
    const room = await tester.room("alice");
    const away = tester.homeserver.faults.add({ kind: "drop", match: SEND });
    for (const text of ["1", "2"]) bot().in(room.id).send(text).catch(() => {});
    await minutes(tester, 1);
    let isClosed = false;
    bot().close().then(() => isClosed = true);
    while (!isClosed) await tester.pass(1_000);
    if (isSent) away.remove();
    await tester.stop();
    await room.say("!go");
    await tester.start();
    await minutes(tester, 2);
    away.remove();
    await minutes(tester, 10);
    assertEquals(room.messages.map(({ text }) => text), ["1", "2", "3", "4"]);
  });
}

Deno.test("What is done from outside behind what waits is done after that", async () => {
  const { tester, bot } = going(() => {});
  await using _ = tester;
  const room = await tester.room("alice");
  const away = tester.homeserver.faults.add({ kind: "html", match: SEND });
  const path = `/rooms/${encodeURIComponent(room.id)}/state/m.room.power_levels/`;
  await tester.request("alice", "PUT", path, { users: { [tester.mxid]: 100 } });
  const outside = bot().in(room.id);
  const first = outside.send("1");
  outside.setTopic("after 1").catch(() => {});
  await minutes(tester, 10);
  assertEquals(tester.homeserver.room(room.id).state("m.room.topic")?.topic, undefined);
  away.remove();
  await minutes(tester, 2);
  await (await first).edit("1!");
  assertEquals(tester.homeserver.room(room.id).state("m.room.topic")?.topic, "after 1");
  await assertRejects(
    () => {
      const body = { errcode: "M_FORBIDDEN", error: "no" };
      tester.homeserver.faults.add({ kind: "status", status: 403, body, match: SEND, times: 1 });
      return outside.send("refused");
    },
    ForbiddenError,
  );
});

for (const isEncrypted of [false, true]) {
  const place = isEncrypted ? "an encrypted room" : "a room";
  Deno.test(`Sends into ${place} that wait in its queue arrive once, in order, wherever the bot ends`, async () => {
    const texts = ["1", "2", "3"];
    const setUp = (client: Client) => {
      const bot = living(client);
      bot.command("go", (c) => {
        for (const text of texts) c.send(text);
      });
      bot.start({ signals: false });
    };
    await atEachCrashInRoom({ setUp, isEncrypted }, async ({ here, alice, texts: heard, bot, room }) => {
      const refused = here.homeserver.faults.add({ kind: "html", match: SEND, times: 2 });
      await alice.sendText(room, "!go");
      await bot.until(() => heard.length > texts.length);
      await bot.settle();
      assertEquals(refused.hits, 2);
      assertEquals(heard.slice(1), texts, bot.crashes.join());
      assertEquals(await bot.records("greenroom.queue"), [], bot.crashes.join());
    });
  });
}
