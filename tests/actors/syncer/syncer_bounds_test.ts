import { assert, assertEquals } from "@std/assert";
import type { SyncRequests } from "../../../src/actors/syncer/syncer_options.ts";
import { RoomContinuity } from "../../../src/actors/syncer/room_continuity.ts";
import { takeApart } from "../../../src/actors/syncer/sync_parts.ts";
import type { SyncToken } from "@greenroom/matrix/types";
import { recordingLogger } from "../kernel/support.ts";
import { joined, message, OWN, ROOM, timeline } from "../support/events.ts";
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

/** How many events are read for a response of sliding sync that shows some rooms as they are. */
async function readOf(
  rooms: number,
  each: number,
): Promise<{ read: number; redactions: number; gaps: number; warnings: number }> {
  let [read, redactions] = [0, 0];
  const log = recordingLogger();
  const view = { own: OWN, before: { isJoined: true, shown: " $known ", entries: [] } };
  const continuity = new RoomContinuity({
    requests: {
      getMessages: (_room, _direction, from, { limit = 0, filterJson } = {}) => {
        if (filterJson === undefined) read += limit;
        else redactions += limit;
        const chunk = Array.from({ length: limit }, (_, index) => message(`${_room} ${from} ${index}`));
        return Promise.resolve({ start: from, end: `p${read} ${redactions}`, chunk: chunk as never });
      },
    },
    filter: { members: "all", timeline: undefined, timelineLimit: 10 },
    registry: { wantsHistory: false },
    patience: 0,
    signal: new AbortController().signal,
    log,
    own: OWN,
    memory: { views: (parts: readonly unknown[]) => parts.map(() => view) } as never,
    store: { listState: () => Promise.resolve([]) } as never,
  });
  const shown = Array.from({ length: rooms }, (_, index) => `!${index}:a`);
  const room = timeline([message("last")], { limited: true, prev_batch: "p" });
  const join = Object.fromEntries(shown.map((id) => [id, structuredClone(room)]));
  const since = "s" as SyncToken;
  const from = { since, anew: false, first: undefined, limit: each, dropTimeline: false };
  const window = { since, isWhole: true, isGrowing: false, isFirst: false, isNew: true, hasMore: false };
  let gaps = 0;
  for (let time = 0; time < 2; time++) { // each response by itself
    [read, redactions, log.lines.length] = [0, 0, 0];
    const parts = takeApart(structuredClone({ next_batch: "n", rooms: { join } }), OWN);
    await continuity.connect(parts, { ...from, window: { ...window, initial: shown.slice(rooms / 2) } });
    gaps = parts.rooms.filter(({ gap }) => gap?.reason === "limit").length;
  }
  const missed = log.lines.filter(([, text]) => text.startsWith("May have missed redactions"));
  return { read, redactions, gaps, warnings: missed.length };
}

Deno.test("About 50,000 events and redactions are read for one response, of however many rooms, and the rest is reported", async () => {
  const { read, redactions, gaps, warnings } = await readOf(120, 1_000);
  assert(read >= 50_000 && read < 54_000, `${read} events`);
  assert(redactions >= 50_000 && redactions < 54_000, `${redactions} redactions`);
  assertEquals([gaps, warnings], [120, 60]);
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
