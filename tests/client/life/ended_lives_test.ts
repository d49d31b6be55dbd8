import { assert, assertEquals } from "@std/assert";
import { Gates, roomWith } from "../support/hearing.ts";
import { RestartingBot } from "../support/restarting_bot.ts";
import { clientStage } from "../support/stage.ts";

Deno.test("A process that is closed in the middle of a handler, again and again, speaks against nothing", async () => {
  await using here = clientStage();
  using gates = new Gates();
  const begun: string[] = [];
  const told: unknown[] = [];
  const bot = new RestartingBot(here, {
    client: { closeTimeout: 100 },
    setUp: (client) => {
      client.on("m.room.message", async ({ content: { body } }) => {
        begun.push(body);
        await gates.at("end");
      });
      client.on("EVENT_QUARANTINED", (data) => void told.push(data));
    },
  });
  const { alice, id } = await roomWith(here, bot);
  await alice.sendText(id, "slow");
  for (let life = 1; life <= 12; life++) {
    await bot.until(() => begun.length === life);
    if (life === 6) await Promise.all([bot.restart(), bot.restart()]); // two that are killed
    else {
      const closed = bot.client.close();
      for (let stopped = 0; stopped < 6; stopped++) await here.clock.tick(100); // each part has its time
      await closed;
      await bot.restart();
    }
  }
  assertEquals([told, await bot.client.quarantine.list()], [[], []]);
});

Deno.test("A handler of 20 seconds whose process is killed in the middle, again and again, completes in the end", async () => {
  await using here = clientStage();
  const done: string[] = [];
  const told: unknown[] = [];
  let begun = 0;
  const bot = new RestartingBot(here, {
    setUp: (client, process) => {
      client.on("m.room.message", async ({ content: { body } }) => {
        begun++;
        await here.clock.delay(20_000);
        if (process.isRunning) done.push(body);
      });
      client.on("EVENT_QUARANTINED", (data) => void told.push(data));
    },
  });
  const { alice, id } = await roomWith(here, bot);
  await alice.sendText(id, "slow");
  for (let life = 1; life <= 10; life++) {
    await bot.until(() => begun === life);
    for (let second = 0; second < 12; second++) await here.clock.tick(1_000);
    await bot.restart();
  }
  await bot.until(() => begun === 11);
  for (let second = 0; second < 20; second++) await here.clock.tick(1_000);
  await bot.settle();
  assertEquals([done, told], [["slow"], []]);
});

Deno.test("Lives in which the handler was not begun do not count", async () => {
  await using here = clientStage();
  const heard: string[] = [];
  const told: unknown[] = [];
  const bot = new RestartingBot(here, {
    plans: Array.from(
      { length: 12 },
      (_, life) => ({ operation: "commit", at: life === 0 ? 0 : 2, takesEffect: false }),
    ),
    setUp: (client, process) => {
      client.on(
        "m.room.message",
        ({ content }) => void (process.isRunning && heard.push(content.body)),
      );
      client.on("EVENT_QUARANTINED", (data) => void told.push(data));
    },
  });
  const { alice, id } = await roomWith(here, bot);
  await bot.client.stop();
  await alice.sendText(id, "hello");
  await bot.restart();
  await bot.until(() => heard.length > 0, { processes: 20 });
  assert(bot.crashes.length > 6, String(bot.crashes.length));
  assertEquals(told, []);
});
