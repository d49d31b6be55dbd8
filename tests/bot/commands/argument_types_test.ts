import { assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Composer } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

Deno.test("Arguments are numbers, durations and dates where their types say so", async () => {
  await using tester = trying((bot) => {
    bot.command("number <n>", { args: { n: "number" } }, (c) => c.reply(`${c.args.n + 1}`));
    bot.command("wait <time>", { args: { time: "duration" } }, (c) => c.reply(`${c.args.time + 1}`));
    bot.command("at <date>", { args: { date: "date" } }, (c) => c.reply(c.args.date.toISOString()));
  });
  const room = await tester.room("alice");
  const answers: [said: string, answer: string | RegExp][] = [
    ["!number 41", "42"],
    ["!number -1.5", "-0.5"],
    ["!number 1e3", /^n: must be a number/],
    ["!number NaN", /^n: must be a number/],
    ["!wait 90s", "90001"],
    ["!wait 1h30m", "5400001"],
    ['!wait "1 hour 30 minutes"', "5400001"],
    ["!wait 1.5d", "129600001"],
    ["!wait 10", /^time: must be a duration, like 90s/],
    ["!wait 10mx", /^time: must be a duration/],
    ["!wait 9999w", /^time: must be a duration/],
    ["!at 2026-12-24", "2026-12-24T00:00:00.000Z"],
    ["!at 2026-12-24T18:00", "2026-12-24T18:00:00.000Z"],
    ['!at "2026-12-24 8:05"', "2026-12-24T08:05:00.000Z"],
    ["!at 2026-12-24T18:00+01:00", "2026-12-24T17:00:00.000Z"],
    ["!at 2026-02-30", /^date: must be a date, like 2026-12-24/],
    ["!at 2026-12-24T25:00", /^date: must be a date/],
    ["!at tomorrow", /^date: must be a date/],
  ];
  for (const [said, answer] of answers) {
    await room.say(said);
    await room.expect(answer);
  }
});

Deno.test("A flag is true where --name stands among the arguments, and false otherwise", async () => {
  await using tester = trying((bot) =>
    bot.command("purge <user> [quiet] [all] [reason...]", { args: { quiet: "flag", all: "flag" } }, (c) => {
      const { user, quiet, all, reason } = c.args;
      return c.reply(JSON.stringify([user, quiet, all, reason]), { format: "plain" });
    })
  );
  const room = await tester.room("alice");
  const answers: [said: string, answer: string][] = [
    ["!purge bob", '["bob",false,false,null]'],
    ["!purge --quiet bob so it is", '["bob",true,false,"so it is"]'],
    ["!purge bob --all --quiet so it is", '["bob",true,true,"so it is"]'],
    ["!purge bob so it is --quiet", '["bob",true,false,"so it is"]'],
    ["!purge bob so --quiet it is", '["bob",false,false,"so --quiet it is"]'],
    ["!purge bob --other", '["bob",false,false,"--other"]'],
    ["!purge --quiet", "user is missing\n\nUsage: !purge <user> [--quiet] [--all] [reason...]"],
  ];
  for (const [said, answer] of answers) {
    await room.say(said);
    await room.expect(answer);
  }
});

Deno.test("command() refuses types that do not exist, and flags that have to be there", () => {
  const bot = new Composer();
  const add = (pattern: string, type: string) => () =>
    bot.command(pattern, { args: { n: type as "number" } }, () => {});
  assertThrows(add("a <n>", "integer"), ValueError, '"integer" is no type: there are text, user, room');
  assertThrows(add("a <n>", "flag"), ValueError, "the flag n need not be there: write [n]");
});
