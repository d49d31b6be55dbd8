import { assertEquals } from "@std/assert";
import type { FaultPlan, OperationLog } from "../../client/support/crash.ts";
import { atEachCrashPoint } from "../../client/support/crash_points.ts";
import { RestartingBot } from "../../client/support/restarting_bot.ts";
import { clientStage } from "../../client/support/stage.ts";
import { living } from "./living.ts";

/**
 * A conversation whose function sets the topic that it has read, and whose process ends where it is planned.
 */
async function converse(plan: FaultPlan): Promise<OperationLog> {
  await using here = clientStage();
  const alice = here.client("alice");
  const heard: string[] = [];
  alice.on("m.room.message", ({ sender, content }) => {
    if (sender === "@bot:localhost") heard.push(content.body);
  });
  alice.start();
  await here.settle();
  const bot = new RestartingBot(here, {
    plans: [plan],
    setUp: (client) => {
      const own = living(client);
      own.command("play", async (c) => {
        const before = c.room.topic;
        await c.setTopic("Macbeth");
        const answer = await c.ask(`From ${before} to ${c.room.topic}?`);
        await c.reply(`${answer}: ${c.room.topic}`);
      });
      own.start({ signals: false });
    },
  });
  const { requests } = here.homeserver;
  await bot.until(() => requests.filter("GET", "/sync").some(({ user }) => user === "@bot:localhost"));
  const room = await alice.createRoom({
    invitees: ["@bot:localhost"],
    initialState: [{
      type: "m.room.power_levels",
      state_key: "",
      content: { users: { "@bot:localhost": 100 } },
    }],
  });
  await bot.until(() => here.homeserver.room(room).membership("@bot:localhost") === "join");
  await bot.settle();
  await alice.sendText(room, "!play");
  await bot.until(() => heard.length > 0);
  await bot.settle();
  await alice.sendText(room, "yes");
  await bot.until(() => heard.length > 1);
  await bot.settle();
  assertEquals(heard, ["From undefined to Macbeth?", "yes: Macbeth"], bot.crashes.join());
  await bot.client.close();
  await here.clock.tick(10_000); // what crashed processes have begun has an end too
  return bot.log;
}

Deno.test("An answer goes on with the topic that was read before, though a crash comes at any moment", async () => {
  await atEachCrashPoint(converse);
});
