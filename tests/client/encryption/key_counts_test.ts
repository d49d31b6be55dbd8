import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";
import { ENCRYPTED } from "../support/encrypted_room.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** A way to a homeserver whose syncs leave out how many keys there are. */
function withoutCounts({ homeserver }: ClientStage) {
  const way = {
    /** How many one-time keys were uploaded. */
    uploaded: 0,
    async fetch(...given: Parameters<typeof globalThis.fetch>): Promise<Response> {
      const request = new Request(...given);
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("/keys/upload")) {
        way.uploaded += Object.keys((await request.clone().json()).one_time_keys ?? {}).length;
      }
      const response = await homeserver.fetch(request);
      if (!pathname.endsWith("/sync") || !response.ok) return response;
      const { device_one_time_keys_count: _, ...rest } = await response.json();
      return Response.json(rest);
    },
  };
  return way;
}

Deno.test("A bot on a server whose syncs leave out the counts of keys reads a newcomer's first message after many passes", async () => {
  await using here = clientStage();
  const way = withoutCounts(here);
  const store = new MemoryStore();
  const alice = here.client("alice", { encryption: EVERYBODY });
  alice.start();
  await here.settle();
  here.client("bot");
  const room = await alice.createRoom({ invitees: ["@bot:localhost"], initialState: ENCRYPTED });
  for (let pass = 0; pass < 40; pass++) {
    const bot = here.client("bot", { store, fetch: way.fetch, encryption: EVERYBODY });
    if (pass === 0) await bot.joinRoom(room);
    await bot.syncOnce();
    await bot.close();
  }
  assert(way.uploaded <= 100, `${way.uploaded} keys`);
  await alice.sendText(room, "hello");
  const bot = here.client("bot", { store, fetch: way.fetch, encryption: EVERYBODY });
  const texts = heard(bot);
  await bot.syncOnce();
  assertEquals(texts, ["hello"]);
});

Deno.test("A quiet bot on such a server uploads keys again within half an hour after others have claimed all", async () => {
  await using here = clientStage();
  const way = withoutCounts(here);
  const bot = here.client("bot", { fetch: way.fetch, encryption: EVERYBODY });
  const { device_id: deviceId } = await bot.whoami();
  assert(deviceId !== undefined);
  bot.start();
  await here.until(() => way.uploaded >= 100);
  const stranger = here.client("stranger");
  const claim = async (): Promise<boolean> => {
    const given = await stranger.claimKeys({ "@bot:localhost": { [deviceId]: "signed_curve25519" } });
    return !JSON.stringify(given).includes('"fallback":true');
  };
  while (await claim());
  const { uploaded } = way;
  for (let minute = 0; minute < 30; minute++) {
    await here.clock.tick(60_000);
    await here.settle();
  }
  const renewed = way.uploaded - uploaded;
  assert(renewed >= 50 && renewed <= 100, `${renewed} keys`);
  assert(await claim());
});
