/**
 * What nobody awaits and is no failure: as where it is awaited, neither users nor `bot.catch()` hear of it.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { ClientEndedError } from "@greenroom/matrix/errors";
import type { Bot, BotOptions, Context } from "@greenroom/matrix/bot";
import type { BotTester } from "@greenroom/matrix/testing";
import { trying } from "../support.ts";

/** Tries a command `go`, with what it reports and the texts of what it catches. */
function watched(
  go: (c: Context) => unknown,
  options: Partial<BotOptions> = {},
): { tester: BotTester; failures: string[] } {
  const failures: string[] = [];
  const tester = trying((bot: Bot) => {
    bot.command("go", (c) => void go(c));
    bot.catch((error) => void failures.push(String(error)));
    bot.client.on("HANDLER_ERROR", ({ error }) => void failures.push(String(error)));
  }, options);
  return { tester, failures };
}

Deno.test("A question that is not awaited and cancelled ends as one that is awaited: the user hears it once", async () => {
  const { tester, failures } = watched((c) => c.ask("Your name?"));
  await using _ = tester;
  const room = await tester.room("alice");
  await room.say("!go");
  await room.expect("Your name?");
  await room.say("!cancel");
  await room.expect("Cancelled.");
  await tester.settle();
  assertEquals(room.messages.map(({ text }) => text), ["Your name?", "Cancelled."]);
  assertEquals(failures, []);
});

Deno.test("A step that is not awaited and fails after the function was given up is not reported a second time", async () => {
  const gate = Promise.withResolvers<void>();
  const { tester, failures } = watched((c) => c.step(() => gate.promise), { handlerTimeout: 5_000 });
  await using _ = tester;
  const room = await tester.room("alice");
  await room.say("!go");
  await tester.pass(6_000);
  await tester.until(() => failures.length === 1, "It was to be given up");
  gate.reject(new RangeError("late"));
  await tester.settle();
  assertEquals(failures.length, 1, failures.join());
  assertEquals(room.messages.filter(({ text }) => text === "Sorry, that failed."), []);
});

Deno.test("A step that is not awaited and cut off by the bot's end is no failure", async () => {
  const cut = Promise.withResolvers<void>();
  const { tester, failures } = watched((c) => c.step(() => cut.promise));
  await using _ = tester;
  const room = await tester.room("alice");
  await room.say("!go");
  await tester.settle();
  cut.reject(new ClientEndedError("the client has ended"));
  await tester.settle();
  assertEquals(failures, []);
  assertEquals(room.messages.filter(({ text }) => text === "Sorry, that failed."), []);
});

Deno.test("A function that is no command's fails without a word in the room, awaited or not", async () => {
  const failures: string[] = [];
  await using tester = trying((bot) => {
    bot.on("message:text", (c) => void c.reactTo("$gone", ""));
    bot.catch((error) => void failures.push(String(error)));
  });
  const room = await tester.room("alice");
  await room.say("hello");
  await tester.until(() => failures.length === 1, "It was to fail");
  await tester.settle();
  assertEquals(room.messages.map(({ text }) => text), []);
});

Deno.test("A command that the bot's end cuts off says nothing: it is begun again", async () => {
  const cut = Promise.withResolvers<void>();
  let runs = 0;
  await using tester = trying((bot) => void bot.command("go", (c) => c.step(() => (runs++, cut.promise))));
  const room = await tester.room("alice");
  await room.say("!go");
  await tester.until(() => runs === 1, "It was to be called");
  cut.reject(new ClientEndedError("the client has ended"));
  await tester.settle();
  assertEquals(room.messages.map(({ text }) => text), []);
});

Deno.test("A function in front of a command that fails says nothing of the command, which was not called", async () => {
  const failures: string[] = [];
  await using tester = trying((bot) => {
    bot.use(() => {
      throw new RangeError("in front");
    });
    bot.command("go", (c) => c.reply("pong"));
    bot.client.on("HANDLER_ERROR", ({ error }) => void failures.push(String(error)));
  });
  const room = await tester.room("alice");
  await room.say("!go");
  await tester.until(() => failures.length > 0, "It was to be reported");
  await tester.settle();
  assertEquals(room.messages.map(({ text }) => text), []);
  assertEquals(new Set(failures), new Set(["RangeError: in front"]));
});

Deno.test("What fails after nobody has answered in time is reported, and said in the room", async () => {
  const failures: string[] = [];
  await using tester = trying((bot) => {
    bot.command("ask", async (c) => {
      await c.ask("Well?", { timeout: 5_000 }).catch(() => {
        throw new RangeError("no answer");
      });
    });
    bot.client.on("HANDLER_ERROR", ({ error }) => void failures.push(String(error)));
  });
  const room = await tester.room("alice");
  await room.say("!ask");
  await room.expect("Well?");
  await tester.pass(6_000);
  await room.expect("Sorry, that failed.");
  await tester.settle();
  assertEquals([failures, tester.logged.filter((line) => line.includes("RangeError: no answer")).length], [
    [],
    1,
  ]);
});
