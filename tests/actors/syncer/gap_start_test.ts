import { assertEquals, assertRejects } from "@std/assert";
import { GapStart, type OlderPage } from "../../../src/actors/syncer/gap_filler.ts";
import { lookAt, withShown } from "../../../src/actors/store/mod.ts";
import type { TimelineEvent } from "../../../src/actors/syncer/sync_parts.ts";
import { ServiceResponseError } from "@greenroom/matrix/errors";
import { message } from "../support/events.ts";

function events(...texts: string[]): TimelineEvent[] {
  return texts.map((text) => message(text) as unknown as TimelineEvent);
}

/** The start of a gap before which a server gives some pages, and how many were read. */
function start(remembered: string[], pages: string[][]) {
  const read: OlderPage[] = pages.map((texts, index) => ({
    events: events(...texts),
    isLast: index === pages.length - 1,
  }));
  let asked = 0;
  const shown = withShown("", lookAt("", events(...remembered)).added);
  const readOlder = () => Promise.resolve(read[asked++] ?? { events: [], isLast: false });
  const gap = new GapStart(shown, readOlder, { isDoubtful: remembered.length === 0 });
  const sift = async (...texts: string[]): Promise<[string, boolean]> => {
    const sifted = await gap.sift(events(...texts));
    return [sifted.events.map(({ event_id }) => event_id.slice(1)).join(" "), sifted.isBefore];
  };
  return { sift, asked: () => asked };
}

Deno.test("Where nothing comes again, nothing is read before the gap", async () => {
  const { sift, asked } = start(["o1"], []);
  assertEquals([await sift("n2", "n1"), asked()], [["n2 n1", false], 0]);
});

Deno.test("An event that comes again stands among new ones, and ends nothing", async () => {
  const { sift } = start(["o1", "o2"], [["o2", "o1"]]);
  assertEquals(await sift("n3", "o1", "n2"), ["n3 n2", false]);
  assertEquals(await sift("o2"), ["", false]);
  assertEquals(await sift("n1"), ["n1", false]);
});

Deno.test("A server that reads on gives nothing of what was shown too long ago, or never", async () => {
  const { sift, asked } = start(["o3"], [["o3"], ["o2", "o1"], ["h2", "h1"]]);
  assertEquals([await sift("n1", "o3", "o2", "o1"), asked()], [["n1", false], 2]);
  assertEquals([await sift("h2"), asked()], [["", true], 3]);
});

Deno.test("Where nothing is remembered, the first page is looked at as well", async () => {
  const { sift } = start([], [["h2", "h1"]]);
  assertEquals(await sift("n1", "h2"), ["n1", false]);
  assertEquals(await sift("h1"), ["", true]);
});

Deno.test("A server that shows nothing before a gap is not asked for ever", async () => {
  const { sift, asked } = start(["o1"], [["o1"], ...Array<string[]>(20).fill([])]);
  const error = await assertRejects(() => sift("o1", "x"), ServiceResponseError);
  assertEquals([error.message, asked()], [
    "Cannot tell where a gap starts: the homeserver shows nothing before it",
    11,
  ]);
});
