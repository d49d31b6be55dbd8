import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

const MINUTE = 60_000;

Deno.test("bot.every() takes a duration, as text or in milliseconds, and keeps its times through restarts", async () => {
  const log: string[] = [];
  await using tester = trying((bot) => {
    bot.every("20m", (c) => void log.push(`20m ${c.due.toISOString().slice(11, 16)}`));
    bot.every(45 * MINUTE, (c) => void log.push(`45m ${c.due.toISOString().slice(11, 16)}`));
  });
  await tester.room("alice");
  await tester.pass(30 * MINUTE);
  await tester.restart();
  for (let minutes = 30; minutes < 60; minutes += 10) await tester.pass(10 * MINUTE);
  assertEquals(log, ["20m 00:20", "20m 00:40", "45m 00:45", "20m 01:00"]);
});

Deno.test("bot.every() refuses what is no time, with both ways to write one", () => {
  const bot = new Bot({ baseUrl: "http://localhost", accessToken: "t" });
  for (const wrong of ["often", "10 x", "0m", "500", 10]) {
    assertThrows(
      () => bot.every(wrong, () => {}),
      ValueError,
      `Cannot schedule "${wrong}": write it as a duration of a second or more, like "10m", or as cron does`,
    );
  }
  assertThrows(
    () => bot.every("10m", () => {}, { timezone: "Europe/Rome" }),
    ValueError,
    "a duration has no time zone",
  );
});

Deno.test("A question waits, and a tester passes, as long as a text says", async () => {
  await using tester = trying((bot) => {
    bot.command("who", async (c) => {
      const answer = await c.ask("Who?", { timeout: "2m" }).catch((error) => error.reason);
      await c.reply(`${answer}`);
    });
    bot.command("tea", (c) => c.remind({ in: "1h30m" }, "Tea!"));
  });
  const room = await tester.room("alice");
  await room.say("!who");
  await room.expect("Who?");
  await tester.pass("119s");
  await room.expectNothing();
  await tester.pass("1s");
  await room.expect("timeout");
  await room.say("!tea");
  await tester.pass("1h 30m");
  await room.expect("Tea!");
  await assertRejects(() => tester.pass("soon"), ValueError, "Cannot move the clock by soon");
});
