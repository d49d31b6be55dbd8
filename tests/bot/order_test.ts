import { trying } from "./support.ts";

Deno.test("A function that was given up and ends after all does not let the user's messages pass each other", async () => {
  const gates = { hang: Promise.withResolvers<void>(), slow: Promise.withResolvers<void>() };
  await using tester = trying((bot) =>
    bot.on("message:text", async (c) => {
      if (c.text === "hang" || c.text === "slow") await gates[c.text].promise;
      await c.reply(`${c}`);
    }), { handlerTimeout: 60_000 });
  const room = await tester.room("alice");
  for (const text of ["hang", "slow", "after"]) await room.say(text);
  await tester.settle();
  await tester.pass(60_000);
  gates.hang.resolve();
  await room.expectNothing();
  gates.slow.resolve();
  await room.expect("slow");
  await room.expect("after");
});

Deno.test("What a function sends without waiting for it is sent, one after the other", async () => {
  await using tester = trying((bot) =>
    bot.command("count", (c) => {
      c.send("one").then(() => c.send("two")).then(() => c.send("three"));
    })
  );
  const room = await tester.room("alice");
  await room.say("!count");
  for (const text of ["one", "two", "three"]) await room.expect(text);
});
