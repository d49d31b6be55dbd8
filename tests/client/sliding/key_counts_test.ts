import { assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import "../../../src/actors/syncer/sliding_sync.ts"; // so that it is there within a tick
import { EVERYBODY } from "../../support/everybody.ts";
import { RestartingBot } from "../support/restarting_bot.ts";
import { SLIDING } from "../../support/sliding.ts";
import { clientStage } from "../support/stage.ts";

const BOT = "@bot:localhost";

Deno.test("An answer that comes again has no one-time keys made that were made for it before", async () => {
  await using here = clientStage(SLIDING);
  const stuck = Promise.withResolvers<void>();
  using _freed = { [Symbol.dispose]: stuck.resolve };
  const [alice, joiner] = [here.client("alice"), here.client("bot")];
  const room = await alice.createRoom({ invitees: [BOT] });
  await joiner.joinRoom(room);
  const { device_id: deviceId } = await joiner.whoami();
  let [isStuck, uploaded] = [false, 0];
  const heard: string[] = [];
  const bot = new RestartingBot(here, {
    client: { sync: "sliding", encryption: EVERYBODY },
    setUp: (client: Client) =>
      void client.on("m.room.message", ({ content }) => {
        if (isStuck) return stuck.promise;
        heard.push(content.body);
        return Promise.resolve();
      }),
    fetch: async (input, init) => {
      const request = new Request(input, init);
      if (new URL(request.url).pathname.endsWith("/keys/upload")) {
        uploaded += Object.keys((await request.clone().json()).one_time_keys ?? {}).length;
      }
      return await here.homeserver.fetch(request);
    },
  });
  await alice.sendText(room, "hello");
  await bot.until(() => heard.includes("hello"));
  await bot.settle();
  assertEquals(uploaded, 50);
  isStuck = true;
  await alice.claimKeys({ [BOT]: { [deviceId ?? ""]: "signed_curve25519" } });
  await alice.sendText(room, "news");
  await bot.until(() => uploaded === 51);
  await bot.settle();
  isStuck = false;
  await bot.restart();
  await bot.until(() => heard.includes("news"));
  await bot.settle();
  assertEquals(uploaded, 51);
});

Deno.test("Where a server says no more how many one-time keys are left, it is asked every twenty minutes", async () => {
  await using here = clientStage(SLIDING);
  const [alice, own] = [here.client("alice"), here.client("bot")];
  const { device_id: deviceId } = await own.whoami();
  let uploaded = 0;
  const bot = here.client("bot", {
    sync: "sliding",
    encryption: EVERYBODY,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("/keys/upload")) {
        uploaded += Object.keys((await request.clone().json()).one_time_keys ?? {}).length;
      }
      const response = await here.homeserver.fetch(request);
      if (!response.ok || !/\/sync$/.test(pathname) || uploaded < 50) return response;
      const body = await response.json();
      delete body.extensions?.e2ee?.device_one_time_keys_count;
      return Response.json(body);
    },
  });
  const running = bot.start();
  await here.until(() => uploaded === 50);
  await here.settle();
  await alice.claimKeys({ [BOT]: { [deviceId ?? ""]: "signed_curve25519" } });
  await here.clock.tick(10 * 60_000);
  await here.settle();
  assertEquals(uploaded, 50);
  await here.clock.tick(12 * 60_000);
  await here.until(() => uploaded > 50);
  for (let minute = 0; minute < 19; minute++) await here.clock.tick(60_000);
  await here.settle();
  assertEquals(uploaded, 51);
  await bot.stop();
  await running;
});
