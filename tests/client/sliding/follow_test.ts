import { assertEquals, assertThrows } from "@std/assert";
import { MemoryStore, ValueError } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import "../../../src/actors/syncer/sliding_sync.ts"; // so that it is there within a tick
import { isSlide, SLIDING } from "../../support/sliding.ts";
import { clientStage, heard } from "../support/stage.ts";

const BOT = "@bot:localhost";
/** More than the first answer has. */
const ROOMS = 25;

Deno.test("A room that is followed comes with the first answer, and what it says comes once; others come as before", async () => {
  await using here = clientStage(SLIDING);
  const [alice, joiner] = [here.client("alice"), here.client("bot")];
  const rooms: RoomID[] = [];
  for (let index = 0; index < ROOMS; index++) {
    const room = await alice.createRoom({ invitees: [BOT] });
    await joiner.joinRoom(room);
    await alice.sendText(room, `in ${index}`);
    rooms.push(room);
  }
  const shown: string[][] = [];
  const fetch: typeof globalThis.fetch = async (...request) => {
    const response = await here.homeserver.fetch(...request);
    if (isSlide(new URL(new Request(...request).url))) {
      shown.push(Object.keys((await response.clone().json()).rooms));
    }
    return response;
  };
  const bot = here.client("bot", { mxid: BOT, sync: "sliding", store: new MemoryStore(), fetch });
  const texts = heard(bot);
  const [oldest] = rooms as [RoomID];
  bot.follow(oldest);
  bot.follow("!none:localhost");
  await bot.syncOnce();
  assertEquals(shown.map((rooms) => [rooms.length, rooms.includes(oldest)]), [[2, true], [4, false], [
    19,
    false,
  ]]);
  assertEquals(texts.toSorted(), rooms.map((_, index) => `in ${index}`).toSorted());
  await alice.sendText(oldest, "more");
  await bot.syncOnce();
  assertEquals([shown[3], texts.at(-1), texts.length], [[oldest], "more", ROOMS + 1]);
});

Deno.test("What is not the ID of a room can't be followed", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  assertThrows(() => bot.follow("#hall:localhost" as RoomID), ValueError, 'Cannot follow "#hall:localhost"');
});
