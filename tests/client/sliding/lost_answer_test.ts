import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import "../../../src/actors/syncer/sliding_sync.ts"; // so that it is there within a tick
import { EVERYBODY } from "../../support/everybody.ts";
import { isSlide, slideOf, SLIDING } from "../../support/sliding.ts";
import { clientStage } from "../support/stage.ts";

const BOT = "@bot:localhost";

Deno.test("A room that the bot has left is told though a request that the answer needs fails, so that it is lost", async () => {
  await using here = clientStage(SLIDING);
  const [alice, joiner] = [here.client("alice"), here.client("bot")];
  const room = await alice.createRoom({ invitees: [BOT] });
  await joiner.joinRoom(room);
  const store = new MemoryStore();
  let isForgotten = false;
  let failures = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const isUpload = url.pathname.endsWith("/keys/upload");
    if (isUpload && failures-- > 0) return Response.json({ errcode: "M_UNKNOWN" }, { status: 400 });
    if (!isSlide(url)) return await here.homeserver.fetch(request);
    if (isForgotten && slideOf(url, await request.clone().json()).pos !== null) {
      isForgotten = false;
      return Response.json({ errcode: "M_UNKNOWN_POS", error: "Unknown position" }, { status: 400 });
    }
    const response = await here.homeserver.fetch(request);
    if (!response.ok) return response;
    const body = await response.json();
    delete body.extensions.e2ee?.device_one_time_keys_count;
    return Response.json(body);
  };
  const options = { mxid: BOT, store, sync: "sliding", encryption: EVERYBODY, fetch } as const;
  {
    await using bot = here.client("bot", options);
    await bot.syncOnce();
  }
  await joiner.leaveRoom(room);
  [isForgotten, failures] = [true, 1];
  await using bot = here.client("bot", options);
  const told: string[] = [];
  bot.on("LEAVE", ({ room_id }) => void told.push(room_id));
  const synced = bot.syncOnce();
  await here.until(() => failures <= 0);
  await here.clock.tick(60_000); // longer than it waits before it asks again
  await synced;
  assertEquals(told, [room]);
});
