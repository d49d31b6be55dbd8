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
