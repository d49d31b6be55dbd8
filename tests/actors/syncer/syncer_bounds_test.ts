import { assertEquals } from "@std/assert";
import { ROOM } from "../support/events.ts";
import { joined, message, timeline } from "../support/events.ts";
import { heard, response, syncerStage } from "../support/syncer_stage.ts";

Deno.test("No more than 50,000 events are read into the gaps of one response, however many are wanted", async () => {
  let read = 0;
  const getMessages = (_room: string, _direction: string, from: string, { limit = 0 } = {}) => {
    const chunk = Array.from({ length: limit }, (_, index) => message(`${from} ${index}`));
    return Promise.resolve({ start: from, end: `p${read += limit}`, chunk: chunk as never });
  };
  const gap = joined(timeline([message("last")], { limited: true, prev_batch: "p0" }), { next_batch: "t2" });
  await using here = await syncerStage({
    answers: [response("t1", "first"), gap],
    requests: { getMessages: getMessages as never },
  });
  const texts = heard(here);
  const gaps: unknown[] = [];
  here.api.on("GAP", ({ room_id, to, reason }) => void gaps.push([room_id, to, reason]));
  here.api.start({ fillGaps: 200_000 });
  while (texts.at(-1) !== "last") await here.settle();
  assertEquals([read, texts.length], [50_000, 50_002]);
  assertEquals(gaps, [[ROOM, "t1", "limit"]]);
});
