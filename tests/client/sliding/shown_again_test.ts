import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import "../../../src/actors/syncer/sliding_sync.ts"; // so that it is there within a tick
import { isSlide, SLIDING } from "../../support/sliding.ts";
import { clientStage, heard } from "../support/stage.ts";

const BOT = "@bot:localhost";
/** More than a timeline has. */
const LINES = Array.from({ length: 15 }, (_, index) => `line ${index}`);

Deno.test("An event that is shown again among new ones hides none of them while other rooms are still to come", async () => {
  await using here = clientStage(SLIDING);
  const [alice, joiner] = [here.client("alice"), here.client("bot")];
  const other = await alice.createRoom({ invitees: [BOT] });
  const room = await alice.createRoom({ invitees: [BOT] });
  for (const each of [other, room]) await joiner.joinRoom(each);
  await alice.sendText(room, "old");
  let old: unknown;
  let isAgain = false;
  const client = here.client("bot", {
    mxid: BOT,
    sync: "sliding",
    store: new MemoryStore(),
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const response = await here.homeserver.fetch(request);
      if (!isSlide(new URL(request.url)) || !response.ok) return response;
      const body = await response.json();
      const shown = body.rooms[room];
      const timeline = shown?.timeline ?? shown?.timeline_events;
      if (timeline === undefined) return Response.json(body);
      if (old === undefined) {
        old = timeline.at(-1);
        for (const line of LINES) await alice.sendText(room, line); // before the second answer
      } else if (!isAgain) {
        assertEquals([shown.initial ?? false, shown.limited], [false, true]);
        timeline.splice(6, 0, old);
        isAgain = true;
      }
      return Response.json(body);
    },
  });
  const texts = heard(client);
  await client.syncOnce();
  assert(isAgain);
  assertEquals(texts, ["old", ...LINES]);
});
