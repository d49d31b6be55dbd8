import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { type HandlerEntry, HandlerRegistry } from "../../../src/actors/dispatcher/handler_registry.ts";
import { ValueError } from "@greenroom/matrix/errors";
import { type EventClass, type EventType, type MatrixEvent, SyncStream } from "@greenroom/matrix/types";
import { defineEvent } from "../../../src/types/events/define_event.ts";
import { defineSession } from "../../../src/types/events/define_session.ts";
import { eventType } from "../../../src/types/events/event_type.ts";
import { numberSchema } from "../support/contents.ts";

const first = () => {};
const second = () => {};

Deno.test("HandlerRegistry.add() keeps handlers by type and class, in the order of adding", () => {
  const registry = new HandlerRegistry();
  registry.add("m.room.name", first);
  registry.add("m.room.name", second);
  registry.add("m.room.encrypted", first);
  registry.add(eventType("m.room.encrypted", "to_device"), second);
  registry.add("com.example.any", first);
  registry.add(eventType("com.example.any", "state"), second);
  registry.add("JOIN", first);
  registry.add(undefined, second);
  const of = (...[eventClass, type]: Parameters<HandlerRegistry["of"]>) =>
    registry.of(eventClass, type).map(({ handler }) => handler);
  assertEquals(of("state", "m.room.name"), [first, second]);
  assertEquals(of("message", "m.room.name"), []);
  assertEquals(of("message", "m.room.encrypted"), [first]);
  assertEquals(of("to_device", "m.room.encrypted"), [second]);
  assertEquals(of("unknown", "com.example.any"), [first]);
  assertEquals(of("state", "com.example.any"), [second]);
  assertEquals(of("internal", "JOIN"), [first]);
  assertEquals(registry.forAll.map(({ handler }) => handler), [second]);
});

Deno.test("HandlerRegistry.add() gives a handler that is there the new options, its place and its ID unchanged", () => {
  const registry = new HandlerRegistry();
  registry.add("m.room.name", first, { waitSync: true, source: SyncStream.STATE });
  registry.add("m.room.name", second);
  const [before] = registry.of("state", "m.room.name");
  registry.add("m.room.name", first, { sequential: true });
  const [after, other, ...more] = registry.of("state", "m.room.name");
  assertEquals(more, []);
  assertEquals([after?.handler, other?.handler], [first, second]);
  assertEquals([after?.waitSync, after?.sequential, after?.source], [false, true, undefined]);
  assertEquals(after?.id, before?.id);
});

Deno.test("HandlerRegistry.remove() leaves the list alone that a delivery has begun with", () => {
  const registry = new HandlerRegistry();
  registry.add("m.room.name", first);
  registry.add("m.room.name", second);
  const begun = registry.of("state", "m.room.name");
  registry.remove("m.room.name", first);
  assertEquals(begun.length, 2);
  assertEquals(registry.of("state", "m.room.name").map(({ handler }) => handler), [second]);
});

Deno.test("HandlerRegistry.remove() does nothing for a handler, a type or a class that is not there", () => {
  const registry = new HandlerRegistry();
  registry.add("m.room.name", first);
  registry.remove("m.room.name", second);
  registry.remove("m.room.topic", first);
  registry.remove(eventType("m.room.name", "message"), first);
  registry.remove(undefined, first);
  assertEquals(registry.of("state", "m.room.name").length, 1);
});

Deno.test("HandlerRegistry.isEmpty says whether there are any handlers", () => {
  const registry = new HandlerRegistry();
  assert(registry.isEmpty);
  for (const type of [undefined, "m.room.name", "JOIN"]) {
    registry.add(type, first);
    assertFalse(registry.isEmpty);
    registry.remove(type, first);
    assert(registry.isEmpty);
  }
});

Deno.test("HandlerRegistry.add() finds out what a content is checked by: a schema, or what the specification says", () => {
  const registry = new HandlerRegistry();
  const [type, schema] = ["com.example.poll", numberSchema({ later: false })] as const;
  registry.add(defineEvent({ type, class: "message", schema }), first);
  registry.add(eventType(type, "message"), second);
  registry.add("m.room.name", first);
  registry.add(defineEvent({ type: "m.room.name", class: "state" }), second);
  const isChecked = (entries: readonly HandlerEntry[]) => entries.map(({ check }) => check !== undefined);
  assertEquals(isChecked(registry.of("message", type)), [true, false]);
  assertEquals(isChecked(registry.of("state", "m.room.name")), [true, false]);
});

Deno.test("HandlerRegistry.add() refuses what is no type, and what is no function", () => {
  const registry = new HandlerRegistry();
  for (const bad of ["", null, 7, {}, { type: "" }, { type: 7 }, []]) {
    assertThrows(() => registry.add(bad as EventType, first), ValueError);
  }
  for (const bad of [undefined, null, "x", {}]) {
    assertThrows(() => registry.add("m.room.name", bad as never), ValueError);
  }
  assert(registry.isEmpty);
});

Deno.test("Handlers are named by their code, whatever their order, and a name is never used again", () => {
  const idsOf = (...handlers: (() => void)[]) => {
    const registry = new HandlerRegistry();
    for (const handler of handlers) registry.add("m.room.message", handler);
    return registry.of("message", "m.room.message").map(({ id }) => id);
  };
  const [one, other] = [() => void "one", () => void "other"];
  const ids = idsOf(one, other);
  assertEquals(idsOf(other, one), ids.toReversed());
  assertEquals(new Set(ids).size, 2);
  for (const id of ids) assert(/^m\.room\.message\.[0-9a-z]+$/.test(id), id);
  const alike = () => () => {};
  const [first = "", second = ""] = idsOf(alike(), alike());
  assertEquals(second, `${first}.1`);
  const registry = new HandlerRegistry();
  for (let time = 0; time < 2; time++) {
    registry.remove("m.sticker", one);
    registry.add("m.sticker", one);
  }
  registry.add(undefined, one);
  registry.add(undefined, other, { name: "log" });
  const code = ids[0]?.split(".").at(-1);
  assertEquals(registry.of("message", "m.sticker").map(({ id }) => id), [`m.sticker.${code}.1`]);
  assertEquals(registry.forAll.map(({ id }) => id), [`*.${code}`, "*:log"]);
});

Deno.test("A handler has the name that it was given, and its name is its own among its type", () => {
  const registry = new HandlerRegistry();
  const ids = () => registry.of("message", "m.room.message").map(({ id }) => id);
  const third = () => {};
  registry.add("m.room.message", first, { name: "log_1-a" });
  registry.add("m.room.message", second);
  assertEquals(ids()[0], "m.room.message:log_1-a");
  assertThrows(
    () => registry.add("m.room.message", third, { name: "log_1-a" }),
    ValueError,
    'another of m.room.message is named "log_1-a"',
  );
  registry.add("m.sticker", third, { name: "log_1-a" });
  registry.add("m.room.message", first, { name: "log_1-a", waitSync: true }); // the same one
  registry.add("m.room.message", second, { name: "reply" });
  assertEquals(ids(), ["m.room.message:log_1-a", "m.room.message:reply"]);
  registry.remove("m.room.message", first);
  registry.add("m.room.message", third, { name: "log_1-a" });
  assertEquals(ids(), ["m.room.message:reply", "m.room.message:log_1-a"]);
});

Deno.test("A name is one among all handlers of a type, whatever its class, since an event may reach several", () => {
  const registry = new HandlerRegistry();
  const state = eventType("com.example.any", "state");
  registry.add("com.example.any", first, { name: "log" });
  for (const handler of [first, second]) {
    assertThrows(() => registry.add(state, handler, { name: "log" }), ValueError, 'is named "log"');
  }
  registry.add(state, first);
  registry.add("com.example.any", second);
  const ids = [...registry.of("unknown", "com.example.any"), ...registry.of("state", "com.example.any")];
  assertEquals(ids[0]?.id, "com.example.any:log");
  assertEquals(new Set(ids.map(({ id }) => id)).size, 3);
});

Deno.test("HandlerRegistry.add() refuses a name that is empty, too long, or of other characters", () => {
  const registry = new HandlerRegistry();
  for (const name of ["", "a b", "ä", "a.b", "a:b", "a\n", "x".repeat(51)]) {
    assertThrows(() => registry.add("m.room.name", first, { name }), ValueError, "its name may have 1 to 50");
  }
  registry.add("m.room.name", first, { name: "x".repeat(50) });
  assertEquals(registry.of("state", "m.room.name").length, 1);
});

Deno.test("HandlerRegistry.add() keeps a handler's session, and what it is busy with when it is added again", () => {
  const registry = new HandlerRegistry();
  const session = defineSession({ name: "counter", per: "room", initial: () => ({ count: 0 }) });
  registry.add("m.room.name", first, { session, sequential: true });
  const [before] = registry.of("state", "m.room.name");
  assertEquals(before?.session, session);
  registry.add("m.room.name", first);
  const [after] = registry.of("state", "m.room.name");
  assertEquals([after?.session, after?.queues === before?.queues], [undefined, true]);
});

Deno.test("HandlerRegistry.wanting() has those of all events first, then those of the class, then those of any", () => {
  const registry = new HandlerRegistry();
  const anyClass = () => {};
  const message = eventType("com.example.any", "message");
  const wanting = (type = "com.example.any") =>
    registry.wanting({ type, source: SyncStream.TIMELINE } as MatrixEvent).map(({ handler }) => handler);
  registry.add("com.example.any", anyClass);
  registry.add(message, second);
  assertEquals([wanting(), wanting("com.example.other")], [[second, anyClass], []]);
  registry.add(undefined, first);
  assertEquals([wanting(), wanting("com.example.other")], [[first, second, anyClass], [first]]);
  registry.remove("com.example.any", anyClass);
  assertEquals(wanting(), [first, second]);
  registry.remove(message, second);
  assertEquals([wanting(), registry.has("com.example.any")], [[first], false]);
  registry.remove(undefined, first);
  assertEquals(wanting(), []);
});

Deno.test("HandlerRegistry.typed() adds those of any class, except to Greenroom's own events", () => {
  const registry = new HandlerRegistry();
  registry.add("com.example.any", first);
  registry.add(eventType("com.example.any", "internal"), second);
  const typed = (eventClass: EventClass) =>
    registry.typed(eventClass, "com.example.any").map(({ handler }) => handler);
  assertEquals([typed("state"), typed("unknown"), typed("internal")], [[first], [first], [second]]);
});

Deno.test("HandlerRegistry says whether any handler is waited for or wants history, also once they have changed", () => {
  const registry = new HandlerRegistry();
  const says = () => [registry.waits, registry.wantsHistory];
  registry.add("m.room.name", first, { waitSync: true });
  registry.add(undefined, second, { history: true });
  assertEquals(says(), [true, true]);
  registry.add("m.room.name", first, { history: true });
  registry.remove(undefined, second);
  assertEquals(says(), [false, true]);
  registry.add("m.room.topic", first, { waitSync: true });
  registry.remove("m.room.name", first);
  assertEquals(says(), [true, false]);
  registry.remove("m.room.topic", second); // it is none of them
  registry.remove("m.room.topic", first);
  assertEquals(says(), [false, false]);
});
