import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { clientStage } from "../../client/support/stage.ts";

Deno.test("Where no process stays, wakes and passes do what is due, and health checks do not", async () => {
  const answered: number[] = [];
  const bots: Bot[] = [];
  await using stage = clientStage({
    pushFetch: async (url, init) => {
      const response = await bots[0]?.fetch(new Request(url, init)) ?? Response.error();
      answered.push(response.status);
      return response;
    },
  });
  const { homeserver: { baseUrl, fetch, createUser }, clock } = stage;
  const { accessToken: token } = createUser.call(stage.homeserver, "bot");
  await using served = new Bot({
    ...{ baseUrl, fetch, accessToken: token, clock, log: false, store: new MemoryStore() },
    wake: { secret: "sixteen characters, and more" },
  });
  bots.push(served);
  served.command(
    "remind <minutes> <text...>",
    (c) => c.remind({ in: Number(c.args.minutes) * 60_000 }, c.args.text),
  );
  const alice = stage.client("alice");
  const roomId = await alice.createRoom({ invitees: ["@bot:localhost"] });
  await served.syncOnce();
  await served.client.registerWake("https://bot.example.org");
  const said = () =>
    stage.homeserver.room(roomId).messages.flatMap(({ sender, content }) =>
      sender === "@bot:localhost" ? [String(content.body)] : []
    );
  const wake = async (text: string) => {
    const before = answered.length;
    await alice.sendText(roomId, text);
    await stage.until(() => answered.length > before);
  };
  await wake("!remind 1 one");
  await wake("!remind 30 two");
  await clock.tick(120_000);
  for (const path of ["health", "other", "_matrix/push/v1/notify"]) {
    await served.fetch(new Request(`https://bot.example.org/${path}`));
    assertEquals(said(), [], path);
  }
  await wake("hello");
  assertEquals(said(), ["one"]);
  await clock.tick(1_800_000);
  await served.syncOnce();
  assertEquals(said().map((text) => text.slice(0, 3)), ["one", "two"]);
  await wake("!remind 1 three");
  const started = served.start({ signals: false });
  await stage.settle();
  await served.stop();
  await started;
  await clock.tick(120_000);
  await wake("hello again");
  assertEquals(said().map((text) => text.slice(0, 5)), ["one", "two", "three"]);
  assertEquals(answered, [200, 200, 200, 200, 200]);
});
