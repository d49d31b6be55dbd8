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
  assertThrows(add("a <n>", "integer"), ValueError, '"integer" is no type: write number');
  assertThrows(add("a <n>", "flag"), ValueError, "the flag n need not be there: write [n]");
});

Deno.test("A type may stand in the pattern, behind the name of its argument", async () => {
  await using tester = trying((bot) => {
    bot.command("add <a:number> [b:number]", { description: "Adds" }, (c) => {
      const sum: number = c.args.a + (c.args.b ?? 0);
      return c.reply(`${sum}`);
    });
    bot.command("mute <user:user> [for:duration] [quiet:flag] [reason:text...]", (c) => {
      const muted: [user: `@${string}:${string}`, ms?: number] = [c.args.user, c.args.for];
      const isQuiet: boolean = c.args.quiet;
      return c.reply(JSON.stringify([...muted, isQuiet, c.args.reason]), { format: "plain" });
    });
    bot.command("mixed <n:number> <when>", { args: { when: "date" } }, (c) => {
      const [year, next]: [number, number] = [c.args.when.getUTCFullYear(), c.args.n + 1];
      return c.reply(`${year} ${next}`);
    });
  });
  const room = await tester.room("alice");
  const answers: [said: string, answer: string | RegExp][] = [
    ["!add 40 2", "42"],
    ["!add 40", "40"],
    ["!add x", "a: must be a number\n\nUsage: !add <a> [b]"],
    ["!mute @bob:localhost 10m so it is", '["@bob:localhost",600000,false,"so it is"]'],
    ["!mute bob", /^user: must be a user/],
    ["!mute", "user is missing\n\nUsage: !mute <user> [for] [--quiet] [reason...]"],
    ["!mixed 1 2026-12-24", "2026 2"],
  ];
  for (const [said, answer] of answers) {
    await room.say(said);
    await room.expect(answer);
  }
});

Deno.test("A type in a pattern has to be one, and stands in one place", () => {
  const composer = new Composer();
  const patterns: [pattern: string, text: string][] = [
    ["a <n:numbr>", '"numbr" is no type: there are text, user'],
    ["b <quiet:flag>", "the flag quiet need not be there: write [quiet:flag]"],
    ["c <n:>", '"<n:>" is neither <name> nor [name]'],
  ];
  for (const [pattern, text] of patterns) {
    assertThrows(() => composer.command(pattern, () => {}), ValueError, text);
  }
  assertThrows(
    () => composer.command("d <n:number>", { args: { n: "text" } }, () => {}),
    ValueError,
    "the type of n stands in args, too",
  );
});
