import { assertEquals, assertThrows } from "@std/assert";
import { type Clock, ValueError } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";
import { trying } from "../support.ts";

const DAY = 86_400_000;

Deno.test("Two schedules need two names", () => {
  const bot = new Bot({ baseUrl: "http://localhost", accessToken: "t" });
  bot.every("0 9 * * *", () => {});
  assertThrows(() => bot.every("0 9 * * *", () => {}), ValueError, "a name of its own");
  bot.every("0 9 * * *", () => {}, { name: "other" });
});

Deno.test("A schedule that was given another time is not done at the time of before", async () => {
  const log: string[] = [];
  let pattern = "9 * * * *";
  await using tester = trying((bot) => {
    bot.every(pattern, (c) => void log.push(c.due.toISOString()), { name: "digest" });
  });
  await tester.room("alice");
  await tester.stop();
  pattern = "10 * * * *";
  await tester.start();
  await tester.pass("11m");
  assertEquals(log, ["2025-01-01T00:10:00.000Z"]);
});

Deno.test("A schedule whose time came while the machine slept is done within five minutes of its waking", async () => {
  const log: string[] = [];
  let slept = 0;
  await using tester = new BotTester((options) => {
    const { clock: awake } = options;
    const clock: Clock = { now: () => awake.now() + slept, delay: (ms, given) => awake.delay(ms, given) };
    const bot = new Bot({ ...options, clock });
    bot.every("0 9 * * *", (c) => void log.push(c.due.toISOString()));
    return bot;
  });
  await tester.room("alice");
  await tester.pass("1m");
  slept = 9 * 3_600_000;
  await tester.pass("5m");
  assertEquals(log, ["2025-01-01T09:00:00.000Z"]);
});

Deno.test("A clock that is set back a little has nothing done twice, and one that was years ahead is made good", async () => {
  const log: string[] = [];
  let skew = 0;
  await using tester = new BotTester((options) => {
    const clock: Clock = {
      now: () => options.clock.now() + skew,
      delay: (ms, delay) => options.clock.delay(ms, delay),
    };
    const bot = new Bot({ ...options, clock });
    bot.every("9 * * * *", (c) => void log.push(c.due.toISOString()));
    return bot;
  });
  await tester.room("alice");
  await tester.pass("9m");
  skew = -30_000;
  await tester.restart();
  await tester.pass("2m");
  assertEquals(log, ["2025-01-01T00:09:00.000Z"]);
  skew = 900 * DAY;
  await tester.restart();
  await tester.pass("2m");
  skew = 0;
  await tester.restart();
  log.length = 0;
  await tester.pass("1h");
  assertEquals(log, ["2025-01-01T01:09:00.000Z"]);
});
