import { assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { clientStage, heard } from "../support/stage.ts";

/** A room of Alice's, in which she has said something. */
async function roomOf(alice: Client, ...texts: string[]): Promise<RoomID> {
  const room = await alice.createRoom();
  for (const text of texts) await alice.sendText(room, text);
  return room;
}

for (const versions of [["v1.16"], ["v1.15"]]) {
  for (const types of [undefined, ["m.room.message"]]) {
    const filter = types === undefined ? "all" : "a filter that hides the join";

    Deno.test(`A join that is not in the limited timeline is found: ${versions}, ${filter}`, async () => {
      await using here = clientStage({ versions });
      const [alice, bot] = [here.client("alice"), here.client("bot")];
      const options = types && { filterData: { room: { timeline: { types }, state: { types: [] } } } };
      await bot.syncOnce(options);
      const texts = heard(bot);
      const room = await roomOf(alice, "!old");
      await alice.inviteUser(room, "@bot:localhost");
      await bot.joinRoom(room);
      const said = Array.from({ length: 30 }, (_, index) => `${index}`);
      for (const text of said) await alice.sendText(room, text);
      await bot.syncOnce(options);
      assertEquals(texts, said);
    });
  }
}

for (const versions of [["v1.16"], ["v1.15"]]) {
  for (const count of [2, 9, 30]) {
    for (const history of [true, false]) {
      const who = history ? "history" : "news alone";

      Deno.test(`A join that a filter hides parts history from ${count} messages behind it: ${versions}, ${who}`, async () => {
        await using here = clientStage({ versions });
        const [alice, bot] = [here.client("alice"), here.client("bot")];
        const options = {
          filterData: { room: { timeline: { types: ["m.room.message"] }, state: { types: [] } } },
        };
        await bot.syncOnce(options);
        const news = heard(bot);
        const all: string[] = [];
        if (history) {
          bot.on("m.room.message", ({ content }) => void all.push(content.body), { history });
        }
        const old = Array.from({ length: 3 }, (_, index) => `!old ${index}`);
        const room = await roomOf(alice, ...old);
        await alice.inviteUser(room, "@bot:localhost");
        await bot.joinRoom(room);
        const said = Array.from({ length: count }, (_, index) => `${index}`);
        for (const text of said) await alice.sendText(room, text);
        await bot.syncOnce(options);
        assertEquals([news, all], [said, history ? [...old, ...said] : []]);
      });
    }
  }
}
