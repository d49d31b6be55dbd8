import { assertMatch } from "@std/assert";
import { trying } from "../support.ts";

Deno.test("A function that waits for the next event of its own user is given up, and the error says what to do", async () => {
  const next = Promise.withResolvers<void>();
  await using tester = trying((bot) => {
    bot.command("begin", (c) => next.promise.then(() => c.send("went on")));
    bot.command("go", (c) => (next.resolve(), c.send("gone")));
  }, { handlerTimeout: 60_000, saysFailures: false });
  const room = await tester.room("alice");
  await room.say("!begin");
  await room.say("!go");
  await room.expectNothing();
  await tester.pass(60_000);
  await room.expect("gone");
  const [reported = ""] = tester.logged.filter((line) => line.includes("took more than 60000 ms"));
  assertMatch(reported, /another event of the user.*c\.ask\(\)/s);
});

Deno.test("Where nobody waits for an answer, asking is an error that says so, and puts no question", async () => {
  const failures: string[] = [];
  await using tester = trying((bot) => {
    bot.command("fail", () => {
      throw new Error("so");
    });
    bot.command("choose", async (c) => {
      const accept = () => c.confirm("Sure?").catch(({ message }) => (failures.push(message), true));
      await c.reply(`taken: ${await c.wait({ accept })}`);
    });
    bot.catch((_, c) => c.confirm("Again?").catch(({ message }) => void failures.push(message)));
  }, { saysFailures: false });
  const room = await tester.room("alice");
  await room.say("!fail");
  await room.expectNothing();
  assertMatch(failures.shift() ?? "", /Cannot ask in bot\.catch\(\)/);
  await room.say("!choose");
  await room.say("this");
  await room.expect("taken: this");
  assertMatch(failures.shift() ?? "", /Cannot ask.* waits for another answer/);
});
