import { assert, assertEquals, assertMatch } from "@std/assert";
import { HandlerRegistry } from "../../../src/actors/dispatcher/dispatcher.ts";
import { Quarantine } from "../../../src/actors/dispatcher/quarantine.ts";
import { spawnStore } from "../../../src/actors/store/mod.ts";
import type { Clock } from "@greenroom/matrix";
import { TestClock } from "@greenroom/matrix/testing";
import { SyncStream } from "@greenroom/matrix/types";
import { recordingLogger } from "../kernel/support.ts";
import { message, ROOM } from "../support/events.ts";
import { forgetfulDeliverer } from "../support/nothing_kept.ts";

const DAY = 86_400_000;

/** A quarantine by a clock that can be set. */
async function stage({ isOver = () => false }: { readonly isOver?: () => boolean } = {}) {
  const clock = new TestClock();
  const time = { offset: 0 };
  const registry = new HandlerRegistry();
  const log = recordingLogger();
  const store = spawnStore({ log });
  await store.open([]);
  const deliverer = forgetfulDeliverer(registry, log, isOver);
  const wall: Clock = {
    now: () => clock.now() + time.offset,
    delay: (ms, options) => clock.delay(ms, options),
  };
  const quarantine = new Quarantine(store, deliverer, wall, log);
  const tried: string[] = [];
  const gates = new Map<string, Promise<void>>();
  registry.add("m.room.message", ({ event_id }: { event_id: string }) => {
    tried.push(event_id);
    return gates.get(event_id);
  });
  const source = SyncStream.JOINED_ROOM | SyncStream.TIMELINE;
  return {
    ...{ clock, time, log, store, quarantine, tried, gates, registry },
    take: (text: string) =>
      quarantine.take(`$${text}`, { data: { room_id: ROOM, ...message(text), source } as never }, 3),
    async look() {
      quarantine.retryDue();
      await clock.tick();
    },
    [Symbol.asyncDispose]: () => store.stop(),
  };
}

Deno.test("An event waits ten seconds for its first try, by the wall clock", async () => {
  await using here = await stage();
  await here.take("1");
  const said = here.log.lines.find(([, message]) => message.startsWith("Left an event out"))?.[1] ?? "";
  assertMatch(said, /is tried again after 10 seconds.*client\.quarantine/);
  await here.clock.tick(9_999);
  await here.look();
  assertEquals(here.tried, []);
  await here.clock.tick(1);
  await here.look();
  assertEquals([here.tried, here.quarantine.isEmpty], [["$1"], true]);
});

Deno.test("A clock that is set back has an event wait once more from the beginning, and no longer", async () => {
  await using here = await stage();
  here.time.offset = 2_000 * DAY;
  await here.take("1");
  here.time.offset = 0;
  await here.look();
  assertEquals(here.tried, []);
  await here.clock.tick(9_999);
  await here.look();
  assertEquals(here.tried, []);
  await here.clock.tick(1);
  await here.look();
  assertEquals(here.tried, ["$1"]);
});

Deno.test("A clock that leaps ahead has each event tried once, one after the other", async () => {
  await using here = await stage();
  const gate = Promise.withResolvers<void>();
  here.gates.set("$1", gate.promise);
  for (const text of ["1", "2", "3"]) await here.take(text);
  here.time.offset = 2_000 * DAY;
  await here.look();
  await here.look();
  assertEquals(here.tried, ["$1"]);
  gate.resolve();
  await here.clock.tick();
  await here.look();
  assertEquals([here.tried, here.quarantine.isEmpty], [["$1", "$2", "$3"], true]);
});

Deno.test("An event that is slow is waited for five seconds before the next is tried beside it", async () => {
  await using here = await stage();
  const gate = Promise.withResolvers<void>();
  here.gates.set("$1", gate.promise);
  for (const text of ["1", "2"]) await here.take(text);
  await here.clock.tick(10_000);
  await here.look();
  await here.clock.tick(5_000);
  assertEquals(here.tried, ["$1", "$2"]);
  for (let day = 0; day < 3; day++) {
    await here.clock.tick(DAY);
    await here.look();
  }
  assertEquals(here.tried.length, 2); // what is at work is not begun again
  gate.resolve();
  await here.quarantine.idle();
  assert(here.quarantine.isEmpty);
});

Deno.test("An event that is evicted from a full quarantine is reported, as not tried again", async () => {
  await using here = await stage();
  const told: unknown[] = [];
  here.registry.add("EVENT_QUARANTINED", ({ id, nextTry }: { id: string; nextTry?: number }) => {
    told.push([id, nextTry !== undefined]);
  });
  for (let index = 0; index < 101; index++) await here.take(String(index));
  assertEquals(told.length, 102);
  assertEquals(told.slice(-2), [["$100", true], ["$0", false]]);
  assertEquals(here.log.lines.at(-1)?.slice(0, 2), [
    "error",
    "Dropped a quarantined event: there are too many",
  ]);
});

Deno.test("An event whose handler is cut off stays, and waits as long as before", async () => {
  let isOver = true;
  await using here = await stage({ isOver: () => isOver });
  await here.take("1");
  const gate = Promise.withResolvers<void>();
  here.gates.set("$1", gate.promise);
  await here.clock.tick(10_000);
  await here.look();
  gate.reject(new TypeError("the token died"));
  await here.quarantine.idle();
  const [record] = await here.store.quarantined();
  assertEquals([here.tried.length, record?.isTrying, record?.settled], [1, false, []]);
  isOver = false;
  here.gates.clear();
  await here.clock.tick(60_000);
  await here.look();
  assertEquals([here.tried.length, here.quarantine.isEmpty], [2, true]);
});
