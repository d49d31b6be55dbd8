import { assert, assertEquals, assertFalse } from "@std/assert";
import type { NamedDelivery } from "../../../src/actors/dispatcher/deliver.ts";
import { HandlerRegistry } from "../../../src/actors/dispatcher/dispatcher.ts";
import type { HandlerContext } from "@greenroom/matrix";
import { type MatrixEvent, SyncStream } from "@greenroom/matrix/types";
import { currentHandler } from "../../../src/base/handler_call.ts";
import { recordingLogger } from "../kernel/support.ts";
import { MEGOLM, message, ROOM, state } from "../support/events.ts";
import { forgetfulDeliverer } from "../support/nothing_kept.ts";

const TIMELINE = SyncStream.JOINED_ROOM | SyncStream.TIMELINE;

function stage() {
  const registry = new HandlerRegistry();
  const deliverer = forgetfulDeliverer(registry, recordingLogger());
  const names: (string | undefined)[] = [];
  const settled: NamedDelivery[] = [];
  return {
    registry,
    deliverer,
    names,
    settled: () => settled.map(({ name }) => name),
    /** The names that handlers of a type have in deliveries, in their order. */
    ids: (type?: string) =>
      (type === undefined ? registry.forAll : registry.of("message", type)).map(({ id }) => id),
    note: (_: unknown, { deliveryId }: HandlerContext) => void names.push(deliveryId),
    deliver: (event: MatrixEvent) => deliverer.event(event, { tasks: [], settled }),
  };
}

function inTimeline(json: object, source: number = TIMELINE): MatrixEvent {
  return { room_id: ROOM, ...json, source } as unknown as MatrixEvent;
}

Deno.test("A delivery is named by the event and the handler, its code or its own name", () => {
  const { registry, note, names, settled, deliver, ids } = stage();
  registry.add("m.room.message", note);
  registry.add("m.room.message", (...args) => note(...args));
  registry.add("m.room.message", (...args) => note(...args), { name: "log" });
  registry.add(undefined, note);
  deliver(inTimeline(message("1")));
  const expected = [...ids(), ...ids("m.room.message")].map((id) => `$1-${id}`);
  assertEquals(expected.at(-1), "$1-m.room.message:log");
  assertEquals([names, settled()], [expected, expected]);
});

Deno.test("A delivery has no name of what never comes again, or not as a delivery of its own", () => {
  const { registry, deliverer, note, names, settled, deliver } = stage();
  registry.add(undefined, note);
  deliver(inTimeline({ type: "m.typing", content: {} }, SyncStream.JOINED_ROOM | SyncStream.EPHEMERAL));
  deliver(inTimeline(state("m.room.name", {}), SyncStream.JOINED_ROOM | SyncStream.STATE));
  deliverer.event(inTimeline(message("1")));
  assertEquals([names, settled()], [[undefined, undefined, undefined], []]);
});

Deno.test("An event that can be read later is another delivery then", () => {
  const { registry, names, note, deliver, deliverer, settled, ids } = stage();
  registry.add(undefined, note);
  const { event_id } = message("1");
  deliver(inTimeline({ ...message("1"), type: "m.room.encrypted", event_id }));
  deliverer.leaveOut(settled());
  deliver(inTimeline(message("1")));
  assertEquals(names, [`$1-${ids()[0]}-encrypted`, `$1-${ids()[0]}`]);
});

Deno.test("Events that an earlier process has handled are skipped, for each handler separately", () => {
  const { registry, deliverer, note, names, deliver, ids } = stage();
  registry.add("m.room.message", note);
  registry.add("m.room.message", (...args) => note(...args));
  const [one, other] = ids("m.room.message");
  deliverer.leaveOut([`$1-${one}`, `$2-${other}`]);
  for (const text of ["1", "2", "3"]) deliver(inTimeline(message(text)));
  deliverer.event(inTimeline(message("1"))); // handed in by the application
  assertEquals(names, [
    `$1-${other}`,
    `$2-${one}`,
    `$3-${one}`,
    `$3-${other}`,
    undefined,
    undefined,
  ]);
});

Deno.test("wants() says whether an event has handlers, even of an unknown class", () => {
  const { registry, deliverer, note } = stage();
  const event = inTimeline(message("1"));
  assertEquals([deliverer.wants(event), deliverer.wantsInternal("JOIN")], [false, false]);
  registry.add("JOIN", note);
  registry.add("m.room.name", note);
  assertEquals([deliverer.wants(event), deliverer.wantsInternal("JOIN")], [false, true]);
  for (const type of ["m.room.message", "com.example.x", undefined]) {
    registry.add(type, note);
    const wanted = inTimeline({ ...message("1"), type: type ?? "com.example.y" });
    assert(deliverer.wants(wanted));
    registry.remove(type, note);
    assertFalse(deliverer.wants(wanted));
  }
});

Deno.test("A delivery keeps its name, whatever the handler makes of the event", async () => {
  const { registry, names, deliver, deliverer, settled, ids } = stage();
  const change = (event: { event_id: string; type: string }, context: HandlerContext) => {
    event.event_id = "$other";
    event.type = "m.other";
    names.push(context.deliveryId);
  };
  registry.add("m.room.encrypted", change);
  registry.add("m.room.message", async (event, context: HandlerContext) => {
    change(event, context);
    await Promise.resolve();
  });
  const encrypted = () => inTimeline({ ...message("1"), type: "m.room.encrypted", content: MEGOLM });
  deliver(encrypted());
  const [task] = deliver(inTimeline(message("2")));
  await task?.done;
  const expected = [`$1-${ids("m.room.encrypted")[0]}-encrypted`, `$2-${ids("m.room.message")[0]}`];
  assertEquals([names, settled(), task?.name], [expected, expected.slice(0, 1), expected[1]]);
  deliverer.leaveOut(expected);
  deliver(encrypted());
  assertEquals(names, expected);
});

Deno.test("An event that a handler dispatches belongs to no delivery, also not to the handler's own", () => {
  const { registry, names, deliver, deliverer, ids } = stage();
  registry.add("m.room.message", () => void deliverer.event(inTimeline({ type: "m.inner", content: {} })));
  registry.add("m.inner", () => void names.push(currentHandler()?.name));
  registry.add("m.room.message", () => void names.push(currentHandler()?.name));
  deliver(inTimeline(message("1")));
  assertEquals(names, [undefined, `$1-${ids("m.room.message")[1]}`]);
});
