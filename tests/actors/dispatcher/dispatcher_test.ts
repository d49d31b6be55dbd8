import { assertEquals, assertRejects } from "@std/assert";
import { HandlerRegistry, spawnDispatcher } from "../../../src/actors/dispatcher/dispatcher.ts";
import type { RoomBatch, StoreHandlers, SyncBatch } from "../../../src/actors/store/mod.ts";
import type { HandlerOptions } from "@greenroom/matrix";
import { type JsonObject, type MatrixEvent, SyncStream } from "@greenroom/matrix/types";
import { TestClock } from "@greenroom/matrix/testing";
import { assertPending, recordingLogger, rejectionOf, settle } from "../kernel/support.ts";
import { member, message, ROOM } from "../support/events.ts";
import { forgetfulDeliverer } from "../support/nothing_kept.ts";
import { answeredBy } from "../../support/answered_by.ts";

function stage(
  { maxPending = 100, isOver = () => false }: { maxPending?: number; isOver?: () => boolean } = {},
) {
  const registry = new HandlerRegistry();
  const handled: unknown[] = [];
  const noting: { failure?: Error; gate?: Promise<void> } = {};
  const store = answeredBy<StoreHandlers>(async (kind, token) => {
    if (kind === "settled" || kind === "quarantined") return [];
    if (kind === "ending") return undefined;
    if (kind === "attempt") return { lives: 0, verdict: "begin" };
    await noting.gate;
    if (noting.failure !== undefined) throw noting.failure;
    handled.push(kind === "handled" ? token : kind);
    return undefined;
  });
  const log = recordingLogger();
  const clock = new TestClock();
  const dispatcher = spawnDispatcher({
    deliverer: forgetfulDeliverer(registry, log, isOver),
    store,
    encryption: { crypto: { settle: (events) => Promise.resolve(void handled.push(events.length)) } },
    comesAgain: true,
    maxPending,
    isOver,
    clock,
    log,
  });
  return { registry, dispatcher, handled, noting, clock };
}

/** Handlers that end when the test says so, by event. */
function gates(registry: HandlerRegistry, options?: HandlerOptions) {
  const open = new Map<string, PromiseWithResolvers<void>>();
  registry.add("m.room.message", ({ event_id }: { event_id: string }) => {
    const gate = Promise.withResolvers<void>();
    open.set(event_id, gate);
    return gate.promise;
  }, options);
  return (text: string) => open.get(`$${text}`)?.resolve();
}

function batch(nextBatch: string, ...texts: string[]): SyncBatch {
  return {
    nextBatch,
    crashes: 0,
    internal: [],
    global: [],
    rooms: [room(texts.map((text) => message(text)))],
  };
}

function room(events: JsonObject[]): RoomBatch {
  const source = SyncStream.JOINED_ROOM | SyncStream.TIMELINE;
  return {
    roomId: ROOM,
    gap: undefined,
    events: events.map((event) => ({ room_id: ROOM, ...event, source }) as unknown as MatrixEvent),
    ignored: undefined,
    remarks: new Map(),
    ephemeral: [],
    sticky: [],
    accountData: [],
  };
}

Deno.test("dispatch delivers in order: counts, global events, then room by room the gap, events and what they mean", async () => {
  const { registry, dispatcher } = stage();
  const seen: string[] = [];
  registry.add(
    undefined,
    (event: MatrixEvent) => seen.push("event_id" in event ? `${event.event_id}` : event.type),
  );
  for (const type of ["DEVICE_LISTS", "GAP", "JOIN"]) registry.add(type, () => seen.push(type));
  const events = [member("@a:a", "join"), message("1")];
  const whole = {
    ...room(events),
    gap: { type: "GAP", data: { room_id: ROOM, read: 0, reason: "off", source: 1 } },
    remarks: new Map([[0, { type: "JOIN", data: events[0] }]]),
  } as unknown as RoomBatch;
  await dispatcher.dispatch({
    nextBatch: "n",
    crashes: 0,
    internal: [{ type: "DEVICE_LISTS", data: { changed: [], left: [] } }],
    global: [{ type: "m.direct", content: {}, source: SyncStream.ACCOUNT_DATA }],
    rooms: [whole, room([message("2")])],
  });
  assertEquals(seen, ["DEVICE_LISTS", "m.direct", "GAP", "$@a:a-join", "JOIN", "$1", "$2"]);
  await dispatcher.stop();
});

Deno.test("dispatch is answered when waitSync handlers have settled, and does not wait for others", async () => {
  const { registry, dispatcher } = stage();
  const end = gates(registry);
  await dispatcher.dispatch(batch("t", "1"));
  registry.add("m.room.message", () => {}, { waitSync: true });
  await dispatcher.dispatch(batch("t", "2"));
  end("1");
  end("2");
  const waited = stage();
  const endWaited = gates(waited.registry, { waitSync: true });
  const answer = waited.dispatcher.dispatch(batch("t", "3"));
  await assertPending(answer);
  endWaited("3");
  await answer;
  await Promise.all([dispatcher.stop(), waited.dispatcher.stop()]);
});

Deno.test("dispatch is answered late when too many handlers are at work", async () => {
  const { registry, dispatcher } = stage({ maxPending: 2 });
  const end = gates(registry);
  await dispatcher.dispatch(batch("t1", "1", "2"));
  const answer = dispatcher.dispatch(batch("t2", "3", "4"));
  await assertPending(answer);
  end("3");
  await assertPending(answer);
  end("1");
  await answer;
  end("2");
  end("4");
  await dispatcher.stop();
});

for (const options of [{ waitSync: true }, { maxPending: 0 }]) {
  Deno.test(`A careful dispatch too is answered late with ${Object.keys(options)[0]}, beyond its patience`, async () => {
    const { registry, dispatcher, clock } = stage(options);
    const end = gates(registry, { waitSync: "waitSync" in options });
    const answer = dispatcher.dispatch({ ...batch("t", "1"), crashes: 2 });
    await clock.tick(10_000);
    await assertPending(answer);
    end("1");
    await answer;
    await dispatcher.stop();
  });
}

Deno.test("Handled events are recorded in order, and never before their handlers have settled", async () => {
  const { registry, dispatcher, handled } = stage();
  const end = gates(registry);
  await dispatcher.dispatch(batch("t1", "1"));
  await dispatcher.dispatch(batch("t2", "2"));
  await dispatcher.dispatch(batch("t3"));
  end("2");
  await settle();
  assertEquals(handled, []);
  end("1");
  await settle();
  assertEquals(handled, ["t1", "t3"]);
  await dispatcher.dispatch(batch("t4"));
  await settle();
  assertEquals(handled, ["t1", "t3", "t4"]);
  await dispatcher.stop();
});

Deno.test("settled is answered when the batch's own handlers have settled, noted when all have and the store knows", async () => {
  const { registry, dispatcher, handled, noting } = stage();
  const end = gates(registry);
  const store = Promise.withResolvers<void>();
  noting.gate = store.promise;
  await dispatcher.dispatch(batch("t1", "1"));
  const second = await dispatcher.dispatch(batch("t2", "2"));
  const settled = dispatcher.settled(second);
  const noted = dispatcher.noted();
  await assertPending(settled);
  end("2");
  await settled;
  end("1");
  await assertPending(noted);
  store.resolve();
  await noted;
  assertEquals(handled, ["t1", "t2", "flush"]);
  await dispatcher.stop();
});

Deno.test("noted rejects with what the store failed with", async () => {
  const { dispatcher, noting } = stage();
  noting.failure = new Error("The disk is full");
  await dispatcher.dispatch(batch("t1"));
  assertEquals(await rejectionOf(dispatcher.noted()), noting.failure);
  await dispatcher.stop();
  await dispatcher.done;
});

Deno.test("announce is answered when waitSync handlers of the event have settled", async () => {
  const { registry, dispatcher } = stage();
  const gate = Promise.withResolvers<void>();
  registry.add("SYNC_STARTED", () => gate.promise, { waitSync: true });
  registry.add("SYNC_STOPPED", () => gate.promise);
  const data = { source: SyncStream.INTERNAL };
  const started = dispatcher.announce({ type: "SYNC_STARTED", data });
  await assertPending(started);
  await dispatcher.announce({ type: "SYNC_STOPPED", data });
  gate.resolve();
  await started;
  await dispatcher.stop();
});

Deno.test("The Dispatcher ends when all handlers have settled, and the store knows what was handled", async () => {
  const { registry, dispatcher, handled } = stage();
  const end = gates(registry);
  await dispatcher.dispatch(batch("t1", "1"));
  const stopped = dispatcher.stop();
  await assertPending(stopped);
  end("1");
  await stopped;
  assertEquals(handled, ["t1"]);
  await assertRejects(() => dispatcher.dispatch(batch("t2")));
});

Deno.test("The Dispatcher ends when the handlers of an announcement have settled", async () => {
  const { registry, dispatcher } = stage();
  const gate = Promise.withResolvers<void>();
  registry.add("SYNC_STOPPED", () => gate.promise);
  await dispatcher.announce({ type: "SYNC_STOPPED", data: { source: SyncStream.INTERNAL } });
  const stopped = dispatcher.stop();
  await assertPending(stopped);
  gate.resolve();
  await stopped;
});

Deno.test("What is cut off is recorded neither up to a token nor as read late, and what had settled is", async () => {
  const { registry, dispatcher, handled } = stage({ isOver: () => true });
  const died = Promise.withResolvers<void>();
  registry.add(
    "m.room.message",
    ({ event_id }: { event_id: string }) => event_id === "$2" ? died.promise : Promise.resolve(),
  );
  await dispatcher.dispatch(batch("t", "1"));
  await dispatcher.noted();
  const recovered = (text: string) => ({ event: { ...batch("t", text).rooms[0]?.events[0] } }) as never;
  await dispatcher.recover({ events: [recovered("1"), recovered("2")] });
  await dispatcher.dispatch(batch("u", "1", "2", "3"));
  died.reject(new TypeError("the token died"));
  await dispatcher.stop();
  assertEquals(handled, ["t", "flush", "noteSettled", "noteSettled"]);
});
