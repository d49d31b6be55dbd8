import { assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import { living } from "../conversations/living.ts";
import { atEachCrashInRoom } from "../conversations/crashing_room.ts";
import { trying } from "../support.ts";

const TEXTS = ["1", "2", "3", "4"];

/** A bot that sends four messages without awaiting any. */
function counting(client: Client): void {
  const bot = living(client);
  bot.command("count", (c) => {
    for (const text of TEXTS) c.send(text);
  });
  bot.start({ signals: false });
}

for (const isEncrypted of [false, true]) {
  const where = isEncrypted ? "an encrypted" : "a plain";
  Deno.test(`What a function sends side by side arrives once, and in order, in ${where} room, wherever the process crashes`, async () => {
    await atEachCrashInRoom({ setUp: counting, isEncrypted }, async ({ alice, texts, bot, room }) => {
      await alice.sendText(room, "!count");
      await bot.until(() => texts.length > TEXTS.length);
      await bot.settle();
      assertEquals(texts, ["!count", ...TEXTS], bot.crashes.join());
    });
  });
}

Deno.test("What a function sends side by side arrives in order though the homeserver fails at the first", async () => {
  await using tester = trying((bot) =>
    bot.command("count", async (c) => {
      await Promise.all(TEXTS.map((text) => c.send(text)));
    })
  );
  const room = await tester.room("alice");
  const match = { method: "PUT", path: "/send/", user: tester.mxid };
  tester.homeserver.faults.add({ kind: "status", status: 502, match, times: 1 });
  await room.say("!count");
  await tester.pass("1m");
  for (const text of TEXTS) await room.expect(text);
  await room.expectNothing();
});

Deno.test("What a function puts into the client's queue arrives in order though the homeserver is away for an hour", async () => {
  await using tester = trying((bot) =>
    bot.command("count", (c) => {
      for (const text of TEXTS) c.client.queue(c.roomId).sendText(text);
    })
  );
  const room = await tester.room("alice");
  const match = { method: "PUT", path: "/send/", user: tester.mxid };
  const away = tester.homeserver.faults.add({ kind: "drop", match });
  await room.say("!count");
  await tester.pass("30m");
  await tester.restart();
  await tester.pass("30m");
  away.remove();
  await tester.pass("2m");
  for (const text of TEXTS) await room.expect(text);
  await room.expectNothing();
});
