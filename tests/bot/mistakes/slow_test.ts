import { assertEquals, assertStringIncludes } from "@std/assert";
import { trying } from "../support.ts";

Deno.test("A function that does not end is warned of after 30 seconds, once, by command, room and sender", async () => {
  const gate = Promise.withResolvers<void>();
  await using tester = trying((bot) => {
    bot.command("sleep", () => gate.promise);
    bot.command("ask", async (c) => void await c.ask("Well?"));
  });
  const room = await tester.room("alice", "bob");
  await room.say("!sleep");
  await room.as("bob").say("!ask");
  await room.expect("Well?"); // a question does not keep a function from ending
  await tester.pass(29_000);
  const warned = () => tester.logged.filter((line) => line.startsWith("A function still runs"));
  assertEquals(warned(), []);
  await tester.pass(2_000);
  await tester.pass(100_000);
  assertEquals(warned().length, 1);
  for (const part of ['"sleep"', room.id, "@alice:localhost"]) {
    assertStringIncludes(warned()[0] ?? "", part);
  }
  gate.resolve();
});
