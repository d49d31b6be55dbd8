import { assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import type { Bot } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

const HOUR = 3_600_000;

Deno.test("remind() returns what list() has, and its id cancels it", async () => {
  let made: Bot | undefined;
  await using tester = trying((bot) => {
    made = bot;
    bot.command("tea", async (c) => {
      const { id, due, roomId, by, data } = await c.remind("3m", "Tea!");
      await c.reply(JSON.stringify({ id, due, here: roomId === c.roomId, by, data }), { format: "plain" });
    });
  });
  const room = await tester.room("alice");
  await room.say("!tea");
  const said = JSON.parse((await room.expect(/^\{/)).text);
  const [listed] = await made?.reminders.list() ?? [];
  assertEquals(said, {
    id: listed?.id,
    due: listed?.due.toISOString(),
    here: true,
    by: "@alice:localhost",
    data: "Tea!",
  });
  assertEquals(await made?.reminders.cancel(said.id), true as boolean);
});

Deno.test("Reminders are listed by room, and can be cancelled", async () => {
  let made: Bot | undefined;
  await using tester = trying((bot) => {
    made = bot;
    bot.command(
      "remind <minutes> <text...>",
      (c) => void c.remind({ in: Number(c.args.minutes) * 60_000 }, c.args.text),
    );
  });
  const room = await tester.room("alice");
  const other = await tester.room("bob");
  await room.say("!remind 20 later");
  await room.say("!remind 10 sooner");
  await other.say("!remind 5 elsewhere");
  await tester.settle();
  const list = await made?.reminders.list({ roomId: room.id }) ?? [];
  assertEquals(list.map(({ data, by }) => [data, by]), [["sooner", "@alice:localhost"], [
    "later",
    "@alice:localhost",
  ]]);
  assertEquals((await made?.reminders.list({ userId: "@bob:localhost" }))?.map(({ data }) => data), [
    "elsewhere",
  ]);
  assertEquals((await made?.reminders.list())?.length, 3);
  await assertRejects(
    async () => await made?.reminders.list(room.id as never),
    ValueError,
    "must be an object, not a string; write { roomId, userId }",
  );
  assertEquals(await made?.reminders.cancel(list[0]?.id ?? ""), true as boolean);
  assertEquals(await made?.reminders.cancel(list[0]?.id ?? ""), false as boolean);
  await tester.pass(HOUR);
  await room.expect("later (due 2025-01-01 00:20 UTC)".replace(/ \(.*/, ""));
  await room.expectNothing();
  await other.expect("elsewhere");
});

Deno.test("A reminder that is being said is not listed any more", async () => {
  await using tester = trying((bot) => {
    bot.command("tea", async (c) => void await c.remind("3m", { name: "tea" }));
    bot.reminder("tea", async (c) => void await c.send(`${(await bot.reminders.list()).length} to come`));
  });
  const room = await tester.room("alice");
  await room.say("!tea");
  await tester.settle();
  await tester.pass(HOUR);
  await room.expect("0 to come");
});
