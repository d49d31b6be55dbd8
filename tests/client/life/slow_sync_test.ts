import { assertEquals } from "@std/assert";
import { clientStage, heard } from "../support/stage.ts";

const MINUTE = 60_000;

Deno.test("A first sync that takes minutes, as of a large account, is waited for, and the log says so once", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  const room = await alice.createRoom({ preset: "public_chat" });
  await here.client("bot").joinRoom(room);
  await alice.sendText(room, "hello");
  using fault = here.homeserver.faults.add({
    kind: "delay",
    ms: 9 * MINUTE,
    match: { path: "/sync" },
    times: 1,
  });
  const bot = here.client("bot");
  const texts = heard(bot);
  bot.start();
  await fault.hit();
  for (let minute = 0; minute < 9; minute++) await here.clock.tick(MINUTE);
  await bot.ready;
  assertEquals(texts, ["hello"]);
  assertEquals(here.homeserver.requests.filter("GET", "/sync").length, 2);
  assertEquals(here.log.lines.filter(([, line]) => line.includes("Waiting for the first answer")).length, 1);
});

Deno.test("The client's requestTimeout holds for syncs, longer or shorter, and a quick answer is not spoken of", async () => {
  for (const [requestTimeout, tries] of [[20 * MINUTE, 1], [MINUTE, 2]] as const) {
    await using here = clientStage();
    using fault = here.homeserver.faults.add({ kind: "hold", match: { path: "/sync" }, times: 2 });
    const bot = here.client("bot", { requestTimeout });
    bot.start();
    await fault.hit();
    await here.clock.tick(2 * MINUTE - 1);
    assertEquals(fault.hits, tries);
    fault.remove();
    await here.settle();
  }
  await using here = clientStage();
  const bot = here.client("bot");
  bot.start();
  await bot.ready;
  for (let minute = 0; minute < 3; minute++) await here.clock.tick(MINUTE);
  assertEquals(here.log.lines.filter(([, line]) => line.includes("Waiting for")), []);
});
