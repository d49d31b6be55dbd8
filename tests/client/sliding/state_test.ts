import { assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import "../../../src/actors/syncer/sliding_sync.ts"; // so that it is there within a tick
import { isSlide, slideOf, SLIDING } from "../../support/sliding.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";

const BOT = "@bot:localhost";
const [NAME, TOPIC, CREATE] = ["m.room.name", "m.room.topic", "m.room.create"] as const;

/** A bot whose connection is lost when one says so; the next one does not show state of some types. */
function forgetful(
  here: ClientStage,
  isStored: boolean,
): { bot: Client; told: string[]; lose(hidden?: readonly string[]): void } {
  let hidden: readonly string[] = [];
  let isLost = false;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (!isSlide(url)) return await here.homeserver.fetch(request);
    if (isLost && slideOf(url, await request.clone().json()).pos !== null) {
      isLost = false;
      return Response.json({ errcode: "M_UNKNOWN_POS", error: "Unknown position" }, { status: 400 });
    }
    const body = await (await here.homeserver.fetch(request)).json();
    for (const shown of Object.values<{ required_state?: { type: string }[] }>(body.rooms)) {
      shown.required_state = shown.required_state?.filter(({ type }) => !hidden.includes(type));
    }
    return Response.json(body);
  };
  const store = isStored ? { store: new MemoryStore() } : {};
  const bot = here.client("bot", { mxid: BOT, ...store, sync: "sliding", fetch });
  const told: string[] = [];
  for (const type of [TOPIC, NAME] as const) bot.on(type, (event) => void told.push(event.type));
  return {
    bot,
    told,
    lose(types = []) {
      [hidden, isLost] = [types, true];
      told.length = 0;
    },
  };
}

for (const isStored of [true, false]) {
  const where = isStored ? "in a store" : "in memory";
  for (
    const [left, missing, topic] of [
      ["all else", [TOPIC], undefined],
      ["not even what created the room, so that more is left out", [TOPIC, CREATE], "Plays"],
    ] as const
  ) {
    Deno.test(`State that a new connection does not show any more is gone, if it shows ${left}: ${where}`, async () => {
      await using here = clientStage(SLIDING);
      const alice = here.client("alice");
      const room = await alice.createRoom({ topic: "Plays", name: "Stage", invitees: [BOT] });
      const { bot, told, lose } = forgetful(here, isStored);
      await bot.joinRoom(room);
      await bot.syncOnce();
      lose(missing);
      await bot.syncOnce();
      assertEquals((await bot.stateStore.getState(room, TOPIC))?.content.topic, topic);
      assertEquals((await bot.stateStore.getState(room, NAME))?.content.name, "Stage");
      assertEquals((await bot.stateStore.getMembers(room)).size, 2);
      assertEquals(told, []);
    });
  }
}
