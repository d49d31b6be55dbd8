import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { EncryptionError } from "@greenroom/matrix/errors";
import { Bot, defineSession } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";
import { trying } from "../support.ts";

const HOUR = 3_600_000;

Deno.test("A reminder is said once, as a reply to who asked for it, also when the bot was restarted meanwhile", async () => {
  await using tester = trying((bot) =>
    bot.command("remind", (c) => c.remind({ in: HOUR }, "Tea!").then(() => c.react("👍")))
  );
  const room = await tester.room("alice");
  const asked = await room.say("!remind");
  await room.expectReaction("👍");
  await tester.pass(HOUR - 1);
  await room.expectNothing();
  await tester.restart();
  await tester.pass(1);
  const said = await room.expect("Tea!");
  assertEquals([said.replyTo, said.content["m.mentions"]], [asked, { user_ids: ["@alice:localhost"] }]);
  await tester.restart();
  await tester.pass("10m");
  await room.expectNothing();
});

Deno.test("A named reminder calls its function with its data, and how late it is", async () => {
  const late: number[] = [];
  await using tester = trying((bot) => {
    bot.command("brew", (c) => void c.remind({ in: 60_000 }, { name: "tea", data: { cups: 2 } }));
    bot.reminder("tea", async (c) => {
      late.push(c.late);
      await c.send(`${(c.data as { cups: number }).cups} cups for ${c.by}`);
    });
  });
  const room = await tester.room("alice");
  await room.say("!brew");
  await room.expectNothing();
  await tester.pass(60_000);
  await room.expect("2 cups for @alice:localhost");
  assertEquals(late, [0]);
});

Deno.test("every() does its work once each time, once for all that were missed, and never for the time before it was added", async () => {
  const log: [string, number][] = [];
  await using tester = trying((bot) => {
    bot.command("ping", (c) => c.reply("pong"));
    bot.every("9 * * * *", (c) => void log.push([c.due.toISOString(), c.late]));
  });
  await tester.room("alice"); // the clock begins at 2025-01-01T00:00Z
  assertEquals(log, []);
  await tester.pass("9m");
  await tester.pass(HOUR);
  await tester.restart();
  await tester.stop();
  await tester.clock.tick(3 * HOUR);
  await tester.start();
  await tester.settle();
  await tester.pass(HOUR);
  assertEquals(log, [
    ["2025-01-01T00:09:00.000Z", 0],
    ["2025-01-01T01:09:00.000Z", 0],
    ["2025-01-01T02:09:00.000Z", 2 * HOUR],
    ["2025-01-01T05:09:00.000Z", 0],
  ]);
});

Deno.test("every() heeds its time zone", async () => {
  const log: string[] = [];
  await using tester = trying((bot) => {
    bot.every("0 10 * * *", (c) => void log.push(c.due.toISOString()), { timezone: "Asia/Tokyo" });
    bot.every("30 0 * * *", (c) => void log.push(c.due.toISOString()), { name: "other" });
  });
  await tester.room("alice");
  await tester.pass(HOUR);
  assertEquals(log, ["2025-01-01T00:30:00.000Z", "2025-01-01T01:00:00.000Z"]);
});

Deno.test("What fails at its time is reported, and not done again and again", async () => {
  await using tester = trying((bot) => {
    bot.command("remind", (c) => void c.remind({ in: 60_000 }, { name: "bad" }));
    bot.reminder("bad", () => Promise.reject(new ValueError("no tea")));
  });
  const room = await tester.room("alice");
  await room.say("!remind");
  await room.expectNothing();
  await tester.pass("10m");
  await tester.restart();
  await tester.pass("10m");
  assertEquals(tester.logged.filter((line) => line.includes("no tea")).length, 1);
});

Deno.test("A reminder at no time, or for no function, and a pattern that is none, are refused at once", async () => {
  const bot = new Bot({ baseUrl: "http://localhost", accessToken: "t" });
  assertThrows(() => bot.every("9 o'clock", () => {}), ValueError, "as cron does");
  for (const never of [Infinity, 1e300, NaN]) {
    assertThrows(() => bot.every(never, () => {}), ValueError, `Cannot schedule "${never}"`);
  }
  assertThrows(
    () => bot.every("0 9 * * *", () => {}, { timezone: "Mars/Olympus" }),
    ValueError,
    "Mars/Olympus",
  );
  bot.reminder("tea", () => {});
  assertThrows(() => bot.reminder("tea", () => {}), ValueError, "taken");
  const failures: string[] = [];
  await using tester = trying((other) => {
    other.command("bad", async (c) => {
      const number = 60_000 as unknown as Date; // a duration, or a moment of 1970?
      const when = [[{ in: NaN }, ""], [new Date(NaN), ""], [{ in: 1 }, "nobody"], [number, ""]] as const;
      for (const [at, name] of when) {
        await assertRejects(() => c.remind(at, name === "" ? "x" : { name }), ValueError, "Cannot remind");
      }
      failures.push("all");
    });
  });
  const room = await tester.room("alice");
  await room.say("!bad");
  await room.expectNothing();
  assertEquals(failures, ["all"]);
});

const counter = defineSession({ name: "counter", per: "room", initial: () => ({ count: 0 }) });

Deno.test("bot.session() reads and changes from outside what handlers remember", async () => {
  let made: Bot | undefined;
  await using tester = trying((bot) => {
    made = bot;
    bot.command("count", async (c) => {
      const mine = await c.getSession(counter);
      await c.reply(`${++mine.count}`);
    });
  });
  const room = await tester.room("alice");
  await room.say("!count");
  await room.expect("1");
  await made?.session(counter, room.id).update((state) => void (state.count += 10));
  await room.say("!count");
  await room.expect("12");
  assertEquals(await made?.session(counter, room.id).read(), { count: 12 });
  await made?.session(counter, room.id).end();
  await room.say("!count");
  await room.expect("1");
});

Deno.test("What is due is done although the homeserver could not be reached when the bot began", async () => {
  await using tester = trying((bot) => bot.command("remind", (c) => void c.remind({ in: HOUR }, "Tea!")), {
    mxid: undefined,
    retry: false,
  });
  const room = await tester.room("alice");
  await room.say("!remind");
  await room.expectNothing();
  await tester.stop();
  tester.homeserver.faults.add({ kind: "drop", match: { path: /whoami|sync/ }, times: 3 });
  const started = tester.start();
  await tester.clock.tick(60_000);
  await started;
  await tester.pass(HOUR);
  await room.expect("Tea!");
});

Deno.test("What becomes due while the homeserver can't be reached is done when it can, late, and once", async () => {
  let isDown = false;
  await using tester = new BotTester((given) => {
    const bot = new Bot({
      ...given,
      fetch: (input, init) =>
        isDown
          ? Promise.reject(new TypeError("the connection was refused"))
          : (given.fetch ?? fetch)(input, init),
    });
    bot.command("remind", (c) => void c.remind({ in: HOUR }, "Tea!"));
    bot.every("30 1 * * *", (c) => c.in(room.id).send("Half past one"));
    return bot;
  });
  const room = await tester.room("alice");
  await room.say("!remind");
  await room.expectNothing();
  const due = new Date(tester.clock.now() + HOUR).toISOString().slice(0, 16).replace("T", " ");
  isDown = true;
  await tester.pass(4 * HOUR);
  isDown = false;
  await tester.pass(HOUR);
  const heard = room.messages.map(({ text }) => text).toSorted();
  assertEquals(heard, ["Half past one", `Tea! (due ${due} UTC)`]);
});

Deno.test("What never ends at its time keeps no other waiting, is given up and reported", async () => {
  await using tester = trying((bot) => {
    bot.command("hang", (c) => void c.remind({ in: 1_000 }, { name: "hang" }));
    bot.command("tea", (c) => void c.remind({ in: 2_000 }, "Tea!"));
    bot.reminder("hang", () => new Promise(() => {}));
    bot.every("* * * * *", () => new Promise(() => {}));
  }, { handlerTimeout: 120_000 });
  const room = await tester.room("alice");
  await tester.pass(60_000); // from now on the work of each minute hangs
  await room.say("!hang");
  await room.say("!tea");
  await tester.settle();
  await tester.pass(2_000);
  await room.expect("Tea!");
  await tester.pass(120_000);
  assertEquals(tester.logged.filter((line) => line.includes("took more than 120000 ms")).length, 2);
});

Deno.test("close() ends a bot though what was due never ends", async () => {
  await using tester = trying((bot) => {
    bot.every("* * * * *", () => new Promise(() => {}));
  });
  await tester.room("alice");
  await tester.pass(60_000);
  await tester.stop();
});

Deno.test("A reminder whose time comes while the homeserver is away is said when it is back", async () => {
  await using tester = trying((bot) => bot.command("remind", (c) => void c.remind({ in: 60_000 }, "Tea!")));
  const room = await tester.room("alice");
  await room.say("!remind");
  await tester.settle();
  const fault = tester.homeserver.faults.add({ kind: "html", match: { path: /send/ } });
  await tester.pass("20m");
  fault.remove();
  await tester.pass("5m");
  await room.expect(/^Tea!/);
  await tester.pass("10m");
  await room.expectNothing();
});

Deno.test("What is due is also done later if what failed tells of a homeserver that is away by its cause", async () => {
  let calls = 0;
  await using tester = trying((bot) => {
    bot.command("brew", (c) => void c.remind({ in: 60_000 }, { name: "tea" }));
    bot.reminder("tea", async (c) => {
      calls++;
      await c.client.getProfile("@alice:localhost").catch((cause) => {
        throw new EncryptionError("Cannot share a group session: try again", { cause });
      });
      await c.send("Tea!");
    });
  }, { retry: false });
  const room = await tester.room("alice");
  await room.say("!brew");
  await tester.settle();
  const fault = tester.homeserver.faults.add({ kind: "html", match: { path: /profile/ } });
  await tester.pass(10 * 60_000);
  fault.remove();
  await tester.pass(300_000);
  await room.expect("Tea!");
  assert(calls > 1);
});

Deno.test("A reminder that would say nothing is refused when it is asked for", async () => {
  await using tester = trying((bot) => {
    bot.command("remind", async (c) => {
      for (const what of ["", "  ", { name: "", data: "" }, { name: "", data: 5 }]) {
        await assertRejects(() => c.remind({ in: HOUR }, what), ValueError, "Cannot remind");
      }
      await c.reply("refused");
    });
  });
  const room = await tester.room("alice");
  await room.say("!remind");
  await room.expect("refused");
});
