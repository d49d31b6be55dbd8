import { assertEquals } from "@std/assert";
import type { Bot } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

/** A bot that asks twice, and is stopped behind its first question. */
async function asking() {
  const ends: unknown[] = [];
  const tester = trying((bot: Bot) => {
    bot.command("ask", async (c) => {
      try {
        await c.ask("One?");
        await c.ask("Two?");
      } catch (error) {
        ends.push((error as { reason?: unknown }).reason);
      }
    });
    bot.on("message:text", (c) => c.send(`heard ${c}`));
  });
  const room = await tester.room("alice");
  await room.say("!ask");
  await room.expect("One?");
  await tester.stop();
  const path = `/rooms/${encodeURIComponent(room.id)}`;
  const throwOut = async () => {
    for (const verb of ["kick", "invite"]) {
      await tester.request("alice", "POST", `${path}/${verb}`, { user_id: tester.mxid });
    }
  };
  return { tester, room, path, ends, throwOut };
}

Deno.test("A conversation that takes an answer from before the bot was thrown out ends with its next question", async () => {
  const { tester: made, room, ends, throwOut } = await asking();
  await using tester = made;
  await room.say("yes");
  await throwOut();
  await tester.start();
  await tester.until(() => room.view().membership(tester.mxid) === "join", "not joined");
  await tester.settle();
  await room.expect("Two?");
  assertEquals(ends, ["left"]);
});

Deno.test("What is said when the bot is in the room again is no answer to what it asked before it was thrown out", async () => {
  const { tester: made, room, path, ends, throwOut } = await asking();
  await using tester = made;
  await throwOut();
  await tester.request("bot", "POST", `${path}/join`, {}); // another program of its user
  await room.say("yes");
  await tester.start(); // all in one response
  await room.expect("heard yes");
  assertEquals(ends, ["left"]);
});
