import { assert, assertEquals } from "@std/assert";
import type { SyncRequests } from "../../../src/actors/syncer/syncer_options.ts";
import { ROOM } from "../support/events.ts";
import { joined, message, timeline } from "../support/events.ts";
import { heard, response, syncerStage } from "../support/syncer_stage.ts";

Deno.test("No more than 50,000 events are read into the gaps of one response, however many are wanted", async () => {
  let read = 0;
  const getMessages: SyncRequests["getMessages"] = (
    _room,
    _direction,
    from,
    { limit = 0, filterJson } = {},
  ) => {
    if (filterJson !== undefined) return Promise.resolve({ start: "", chunk: [] }); // there are no redactions
    const chunk = Array.from({ length: limit }, (_, index) => message(`${from} ${index}`));
    return Promise.resolve({ start: from, end: `p${read += limit}`, chunk: chunk as never });
  };
  const gap = joined(timeline([message("last")], { limited: true, prev_batch: "p0" }), { next_batch: "t2" });
  await using here = await syncerStage({
    answers: [response("t1", "first"), gap],
    requests: { getMessages },
  });
  const texts = heard(here);
  const gaps: unknown[] = [];
  here.api.on("GAP", ({ room_id, to, reason }) => void gaps.push([room_id, to, reason]));
  here.api.start({ fillGaps: 200_000 });
  while (texts.at(-1) !== "last") await here.settle();
  assertEquals([read, texts.length], [50_000, 50_002]);
  assertEquals(gaps, [[ROOM, "t1", "limit"]]);
});

Deno.test("A server whose tokens move at once, though nothing comes, is asked once a second", async () => {
  let asked = 0;
  await using here = await syncerStage({
    requests: {
      sync: () =>
        Promise.resolve({
          next_batch: `t${++asked}`,
          rooms: { join: {} },
          device_unused_fallback_key_types: ["x"],
        }),
    },
  });
  here.api.start();
  await here.settle();
  const atOnce = asked;
  assert(atOnce < 20, `${atOnce} at once`);
  for (let second = 0; second < 10; second++) await here.clock.tick(1_000);
  assert(asked > atOnce && asked <= atOnce + 20, `${asked - atOnce} in ten seconds`);
});

Deno.test("Responses with something in them are received as fast as they come", async () => {
  const answers = Array.from({ length: 50 }, (_, index) => response(`t${index}`, `${index}`));
  await using here = await syncerStage({ answers });
  const texts = heard(here);
  here.api.start();
  const begun = here.clock.now();
  for (let round = 0; round < 50 && texts.length < 50; round++) await here.settle();
  assertEquals([texts.length, here.clock.now() - begun], [50, 0]);
});
