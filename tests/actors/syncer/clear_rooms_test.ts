import { assert, assertEquals, assertFalse } from "@std/assert";
import { TestClock } from "@greenroom/matrix/testing";
import { ClearRooms } from "../../../src/actors/syncer/syncer.ts";
import { ROOM } from "../support/events.ts";

/** A client that has synced, by a clock that stands still. */
function scene() {
  const clock = new TestClock();
  const rooms = new ClearRooms(clock);
  let token = 0;
  const answer = (asked: number, news: "news" | "none" = "news"): void => {
    const since = `s${token}`;
    if (news === "news") token++;
    rooms.answered({ since, nextBatch: `s${token}`, asked });
  };
  /** Asks about the room, and whether the answer is remembered. */
  const asks = (): boolean => {
    rooms.asks(ROOM)();
    return rooms.has(ROOM);
  };
  return { clock, rooms, answer, asks };
}

Deno.test("That a room is not encrypted is remembered from the first response on that goes on", () => {
  const { clock, answer, asks } = scene();
  assertFalse(asks(), "nothing has come");
  answer(clock.now(), "none");
  assertFalse(asks(), "a server that is behind says nothing new either");
  answer(clock.now());
  assert(asks());
});

Deno.test("A first sync, and a response that the application has read, go on", () => {
  const { clock, rooms, asks } = scene();
  rooms.answered({ since: undefined, nextBatch: "s0", asked: clock.now() });
  assert(asks());
});

Deno.test("It is forgotten with a sync that fails, and when the next response goes on", () => {
  const { clock, rooms, answer, asks } = scene();
  answer(clock.now());
  assert(asks());
  rooms.interrupted();
  assertFalse(rooms.has(ROOM));
  assertFalse(asks());
  answer(clock.now());
  assertFalse(rooms.has(ROOM));
  assert(asks());
});

Deno.test("It is forgotten after a time without a sync, and not while one is under way", async () => {
  const { clock, rooms, answer, asks } = scene();
  answer(clock.now());
  assert(asks());
  const kept: boolean[] = [];
  for (const [pause, wait] of [[0, 30_000], [1_000, 30_000], [1_001, 0]] as const) {
    await clock.tick(pause);
    const asked = clock.now();
    await clock.tick(wait);
    answer(asked);
    kept.push(rooms.has(ROOM));
  }
  assertEquals(kept, [true, true, false]);
});

Deno.test("A response that was requested before the last one came leaves no time without a sync", async () => {
  const { clock, rooms, answer, asks } = scene();
  const asked = clock.now();
  await clock.tick(30_000);
  answer(asked);
  assert(asks());
  answer(asked);
  assert(rooms.has(ROOM));
});

Deno.test("What the server said before a sync failed, or before one went on, does not count", () => {
  const { clock, rooms, answer } = scene();
  answer(clock.now());
  const before = rooms.asks(ROOM);
  rooms.interrupted();
  const between = rooms.asks(ROOM);
  answer(clock.now());
  for (const note of [before, between]) note();
  assertFalse(rooms.has(ROOM));
});
