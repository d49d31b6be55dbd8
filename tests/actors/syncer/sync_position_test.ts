import { assert, assertEquals } from "@std/assert";
import { positionIn } from "../../../src/actors/syncer/sync_progress.ts";
import type { SyncRecord } from "../../../src/store/device/mod.ts";

const NOW = 1_000_000_000;
const MINUTES = 60_000;

/** Where a process goes on, whether that may come again, and until when. */
function goesOn(record: SyncRecord, { dispatched, resume = "handled" }: {
  dispatched?: string;
  resume?: "handled" | "committed";
} = {}) {
  const { since, repeated, handledBefore, again } = positionIn(record, { dispatched, resume, now: NOW });
  return [since, repeated, handledBefore, again?.until ?? again?.from];
}

Deno.test("A process begins at the start, and goes on from what was handled or what it has dispatched itself", () => {
  assertEquals(goesOn({}), [undefined, false, false, undefined]);
  assertEquals(goesOn({ nextBatch: "b", handled: "b" }), ["b", false, true, undefined]);
  assertEquals(goesOn({ nextBatch: "b", handled: "a" }, { dispatched: "b" }), ["b", false, true, undefined]);
  assertEquals(goesOn({ nextBatch: "b", handled: "a" }, { resume: "committed" }), [
    "b",
    false,
    true,
    undefined,
  ]);
});

Deno.test("A process that has gone back catches up until what was committed, also if it ends on the way", () => {
  assertEquals(goesOn({ nextBatch: "c", handled: "a" }), ["a", true, false, "c"]);
  assertEquals(goesOn({ nextBatch: "c", first: "b" }), [undefined, true, false, "c"]);
  const again = { until: "c", from: NOW - MINUTES };
  assertEquals(goesOn({ nextBatch: "b", handled: "b", again }), ["b", true, false, "c"]);
  assertEquals(goesOn({ nextBatch: "b", handled: "a", again }), ["a", true, false, "c"]);
  assertEquals(goesOn({ nextBatch: "b", handled: "a", again }, { dispatched: "b" }), ["b", true, false, "c"]);
});

Deno.test("A process catches up for ten minutes of its own time, and with what it asks for then", () => {
  for (const from of [NOW - 10 * MINUTES, NOW - 60 * MINUTES, NOW + 60 * MINUTES]) {
    const record = { nextBatch: "b", handled: "b", again: { until: "c", from } };
    assertEquals(goesOn(record), ["b", true, false, "c"], "It has just begun");
    const late = from < NOW ? undefined : "c";
    assertEquals(goesOn(record, { dispatched: "b" }), ["b", true, false, late]);
    assertEquals(goesOn({ ...record, handled: "a" }), ["a", true, false, "c"]);
  }
  const life = { dispatched: undefined, resume: "handled", now: NOW } as const;
  const again = { until: "c", from: NOW + 60 * MINUTES };
  assertEquals(positionIn({ nextBatch: "b", handled: "b", again }, life).again, { until: "c", from: NOW });
});

Deno.test("How far encryption is ahead is unknown: a process catches up for its time", () => {
  assertEquals(goesOn({ nextBatch: "b", handled: "b", ahead: true }), ["b", false, false, NOW]);
  assertEquals(goesOn({ nextBatch: "b", handled: "a", ahead: true }), ["a", true, false, NOW]);
});

Deno.test("After the application has moved the position, what follows comes again as it comes", () => {
  const again = { until: "c", from: NOW, moved: true } as const;
  assertEquals(goesOn({ nextBatch: "a", handled: "a", again }), ["a", true, false, "c"]);
  assertEquals(goesOn({ again }), [undefined, false, false, "c"]);
  const life = { dispatched: undefined, resume: "handled", now: NOW } as const;
  assert(positionIn({ nextBatch: "a", handled: "a", again }, life).wasMoved);
});
