import type { Context } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

Deno.test("A conversation that fails before it comes to its last question says so", async () => {
  for (
    const goOn of [
      () => Promise.reject(new Error("Boom")),
      (c: Context) => c.reply("new code"),
      (c: Context) => c.step(() => 1),
    ]
  ) {
    let times = 0;
    await using tester = trying((bot) =>
      bot.command("ask", async (c) => {
        if (++times > 2) await goOn(c);
        await c.ask("One?");
        await c.ask("Two?");
      })
    );
    const room = await tester.room("alice");
    await room.say("!ask");
    await room.expect("One?");
    await room.say("a");
    await room.expect("Two?");
    await room.say("b");
    await room.expect("Sorry, that failed.");
  }
});
