import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { ENCRYPTED } from "../support/encrypted_room.ts";
import { clientStage, heard } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

Deno.test("A bot on a server whose syncs leave out the counts of keys reads a newcomer's first message after many passes", async () => {
  await using here = clientStage();
  let uploaded = 0;
  const fetch = async (...given: Parameters<typeof globalThis.fetch>): Promise<Response> => {
    const request = new Request(...given);
    const { pathname } = new URL(request.url);
    if (pathname.endsWith("/keys/upload")) {
      uploaded += Object.keys((await request.clone().json()).one_time_keys ?? {}).length;
    }
    const response = await here.homeserver.fetch(request);
    if (!pathname.endsWith("/sync") || !response.ok) return response;
    const { device_one_time_keys_count: _, ...rest } = await response.json();
    return Response.json(rest);
  };
  const store = new MemoryStore();
  const alice = here.client("alice", { encryption: EVERYBODY });
  alice.start();
  await here.settle();
  here.client("bot");
  const room = await alice.createRoom({ invitees: ["@bot:localhost"], initialState: ENCRYPTED });
  for (let pass = 0; pass < 40; pass++) {
    const bot = here.client("bot", { store, fetch, encryption: EVERYBODY });
    if (pass === 0) await bot.joinRoom(room);
    await bot.syncOnce();
    await bot.close();
  }
  assert(uploaded <= 100, `${uploaded} keys`);
  await alice.sendText(room, "hello");
  const bot = here.client("bot", { store, fetch, encryption: EVERYBODY });
  const texts = heard(bot);
  await bot.syncOnce();
  assertEquals(texts, ["hello"]);
});
