import { assertEquals } from "@std/assert";
import { begin, ENCRYPTED } from "../support/encrypted_room.ts";
import { NO_FAULT } from "../support/crash.ts";
import { Gates, hearing } from "../support/hearing.ts";
import { RestartingBot } from "../support/restarting_bot.ts";
import { clientStage } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** A way to a server whose workers lag behind: what it has answered to a token it answers again. */
function lagging(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const known = new Map<string, string>();
  return async (...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (!url.pathname.endsWith("/sync")) return await fetch(request);
    const since = url.searchParams.get("since") ?? "";
    const before = known.get(since);
    if (before !== undefined) {
      return new Response(before, { headers: { "content-type": "application/json" } });
    }
    const answer = await fetch(request);
    const text = await answer.text();
    if (answer.ok && JSON.parse(text).next_batch !== since) known.set(since, text);
    return new Response(text, answer);
  };
}

for (const encrypted of [false, true]) {
  for (const first of [false, true]) {
    const name = `${encrypted ? "encrypted" : "in clear"}, ${
      first ? "the very first response" : "a later one"
    }`;
    Deno.test(`What was not handled comes again, once, in each split of responses: ${name}`, async () => {
      await using here = clientStage();
      using gates = new Gates();
      const { texts, setUp } = hearing(gates);
      const alice = here.client("alice", { encryption: EVERYBODY });
      await begin(here, alice);
      const room = await alice.createRoom({
        preset: "public_chat",
        initialState: encrypted ? ENCRYPTED : [],
      });
      await here.client("bot").joinRoom(room);
      const open = await alice.createRoom({ preset: "public_chat" });
      await here.client("bot").joinRoom(open);
      if (first) await alice.sendText(open, "slow start");
      const bot = new RestartingBot(here, {
        setUp,
        client: { encryption: EVERYBODY },
        plans: [NO_FAULT],
        fetch: lagging(here.homeserver.fetch),
      });
      if (first) await bot.until(() => texts[0]?.includes("slow start") === true);
      else await bot.settle();
      const said = ["slow 0", "slow 1", "slow 2", "slow 3"];
      const all = [...(first ? ["slow start"] : []), ...said];
      for (const text of said) {
        await alice.sendText(room, text);
        await bot.until(() => texts[0]?.includes(text) === true);
      }
      for (let life = 1; life < 3; life++) {
        await bot.restart();
        await bot.until(() => texts[life]?.includes("slow 3") === true);
        await bot.settle();
        assertEquals(texts[life], all);
      }
      for (const text of all) gates.open(text);
      await bot.settle();
      await alice.sendText(room, "4");
      await bot.until(() => texts[2]?.includes("4") === true);
      await bot.restart();
      await alice.sendText(room, "5");
      await bot.until(() => texts[3]?.includes("5") === true);
      assertEquals(texts[3]?.filter((text) => all.includes(text)), []);
    });
  }
}
