import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import "../../../src/actors/syncer/sliding_sync.ts"; // so that it is there within a tick
import { isSlide, slideOf, SLIDING, SPELLINGS } from "../../support/sliding.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";

const BOT = "@bot:localhost";
/** How much further the homeserver had counted before it was set back. */
const AHEAD = 1_000;

/** What a homeserver does with messages up to a place that is ahead of it. */
type Way = "drops" | "withholds";

/** A bot whose homeserver forgets its connections, and may be set back. */
function scene(here: ClientStage, way: Way) {
  const server = { ahead: 0, lost: new Set<string>() };
  const given = new Set<string>();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (!isSlide(url)) return await here.homeserver.fetch(request);
    const body = await request.json();
    const { pos } = slideOf(url, body);
    if (pos !== null && server.lost.has(pos)) {
      return Response.json({ errcode: "M_UNKNOWN_POS", error: "Unknown position" }, { status: 400 });
    }
    const { to_device: asked } = body.extensions;
    const { since } = asked;
    const isWithheld = way === "withholds" && server.ahead === 0 && Number(since) > AHEAD;
    if (isWithheld) delete asked.since;
    else if (since !== undefined) asked.since = String(Number(since) - server.ahead);
    const { method, headers } = request;
    const response = await here.homeserver.fetch(url, { method, headers, body: JSON.stringify(body) });
    const answer = await response.json();
    given.add(answer.pos);
    const { to_device: said } = answer.extensions;
    if (isWithheld) answer.extensions.to_device = { next_batch: since, events: [] };
    else if (said !== undefined) said.next_batch = String(Number(said.next_batch) + server.ahead);
    return Response.json(answer, response);
  };
  const store = new MemoryStore();
  const alice = here.client("alice");
  return {
    server,
    loseConnection: () => given.forEach((pos) => server.lost.add(pos)),
    cue: (act: number) => alice.sendToDevice("com.example.cue", { [BOT]: { "*": { act } } }),
    pass: async (): Promise<unknown[]> => {
      const acts: unknown[] = [];
      await using bot = here.client("bot", { mxid: BOT, store, sync: "sliding", fetch });
      bot.on("com.example.cue", ({ content }) => void acts.push(content.act));
      await bot.syncOnce();
      return acts;
    },
  };
}

for (const [spelling, unstableFeatures] of Object.entries(SPELLINGS)) {
  for (const way of ["drops", "withholds"] as const) {
    Deno.test(`Messages to the device go on behind a new connection to a homeserver that was set back and ${way} what is before the place: ${spelling}`, async () => {
      await using here = clientStage({ unstableFeatures });
      const { server, loseConnection, cue, pass } = scene(here, way);
      server.ahead = AHEAD;
      await pass();
      await cue(1);
      assertEquals(await pass(), [1]);
      server.ahead = 0;
      loseConnection();
      assertEquals(await pass(), []);
      for (const act of [2, 3]) {
        await cue(act);
        // What was withheld but not handled comes as well: the homeserver was never told of it.
        assertEquals((await pass()).filter((each) => each !== 1), [act]);
      }
      assertEquals(await pass(), []);
    });
  }

  Deno.test(`Messages to the device come once where the homeserver forgets a connection, whether there are new ones or not: ${spelling}`, async () => {
    await using here = clientStage({ unstableFeatures });
    const { loseConnection, cue, pass } = scene(here, "drops");
    await pass();
    await cue(1);
    assertEquals(await pass(), [1]);
    loseConnection();
    assertEquals(await pass(), []);
    await cue(2);
    assertEquals(await pass(), [2]);
    await cue(3);
    loseConnection();
    assertEquals(await pass(), [3]);
    loseConnection();
    assertEquals(await pass(), []);
    await cue(4);
    assertEquals(await pass(), [4]);
    assertEquals(await pass(), []);
  });
}

Deno.test("A homeserver that gives the same messages to the device again and again is asked at growing distances", async () => {
  await using here = clientStage(SLIDING);
  let asked = 0;
  const message = { type: "com.example.cue", sender: "@alice:localhost", content: {} };
  const bot = here.client("bot", {
    sync: "sliding",
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const response = await here.homeserver.fetch(request);
      if (!isSlide(new URL(request.url))) return response;
      asked++;
      const body = await response.json();
      body.extensions = {
        ...body.extensions,
        to_device: { next_batch: "5", events: Array(100).fill(message) },
      };
      return Response.json(body);
    },
  });
  const running = bot.start();
  await bot.ready;
  for (let second = 0; second < 60; second++) await here.clock.tick(1_000);
  assert(asked > 2 && asked < 12, `${asked}`);
  await bot.stop();
  await running;
});
