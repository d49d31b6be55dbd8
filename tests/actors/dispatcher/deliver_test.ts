import { assertEquals, assertStrictEquals } from "@std/assert";
import type { Delivered, Task } from "../../../src/actors/dispatcher/deliver.ts";
import { HandlerRegistry } from "../../../src/actors/dispatcher/dispatcher.ts";
import { currentHandler } from "../../../src/base/handler_call.ts";
import { defineEvent } from "../../../src/types/events/define_event.ts";
import { type JsonObject, type MalformedEvent, type MatrixEvent, SyncStream } from "@greenroom/matrix/types";
import { eventType } from "../../../src/types/events/event_type.ts";
import { recordingLogger, settle } from "../kernel/support.ts";
import { numberSchema } from "../support/contents.ts";
import { member, message, ROOM, state } from "../support/events.ts";
import { forgetfulDeliverer } from "../support/nothing_kept.ts";

const TIMELINE = SyncStream.JOINED_ROOM | SyncStream.TIMELINE;

function stage() {
  const registry = new HandlerRegistry();
  const log = recordingLogger();
  return { registry, log, deliverer: forgetfulDeliverer(registry, log) };
}

function event(json: JsonObject, source: number = TIMELINE): MatrixEvent {
  return { room_id: ROOM, ...json, source } as unknown as MatrixEvent;
}

async function settled(tasks: readonly Task[]): Promise<void> {
  await Promise.all(tasks.map(({ done }) => done));
}

Deno.test("A message of a state's type reaches no handler of the state, and an empty state key makes state", () => {
  const { registry, deliverer } = stage();
  const seen: unknown[] = [];
  registry.add("m.room.name", (event: { event_id: string }) => seen.push(event.event_id));
  deliverer.event(event(state("m.room.name", {}, { event_id: "$message", state_key: undefined })));
  deliverer.event(event(state("m.room.name", {}, { event_id: "$state", state_key: "" })));
  assertEquals(seen, ["$state"]);
});

Deno.test("The section that an event came in decides on its class, whatever members it has", () => {
  const { registry, deliverer } = stage();
  const seen: string[] = [];
  for (const each of ["message", "state", "ephemeral", "account_data", "to_device"] as const) {
    registry.add(eventType("m.x", each), () => seen.push(each));
  }
  const x = (source: number, more: JsonObject = {}) =>
    deliverer.event(event({ type: "m.x", content: {}, ...more }, source));
  x(SyncStream.TO_DEVICE, { state_key: "" });
  x(SyncStream.ACCOUNT_DATA);
  x(SyncStream.JOINED_ROOM | SyncStream.ACCOUNT_DATA);
  x(SyncStream.JOINED_ROOM | SyncStream.EPHEMERAL);
  x(SyncStream.PRESENCE);
  x(TIMELINE);
  x(SyncStream.INVITED_ROOM | SyncStream.STATE, { state_key: "" });
  assertEquals(seen, [
    ...["to_device", "account_data", "account_data", "ephemeral", "ephemeral", "message", "state"],
  ]);
});

Deno.test("A handler of a type of unknown class gets it in any class", () => {
  const { registry, deliverer } = stage();
  let count = 0;
  registry.add("com.example.x", () => count++);
  deliverer.event(event(message("1", { type: "com.example.x" })));
  deliverer.event(event(message("1", { type: "com.example.x", state_key: "" })));
  deliverer.event(event({ type: "com.example.x", content: {} }, SyncStream.TO_DEVICE));
  assertEquals(count, 3);
});

Deno.test("Handlers of all events come first, get each event once, and never one of Greenroom's own", () => {
  const { registry, deliverer } = stage();
  const seen: string[] = [];
  registry.add("m.room.message", () => seen.push("typed"));
  registry.add(undefined, (event: MatrixEvent) => seen.push(`all ${event.type}`));
  registry.add("JOIN", () => seen.push("JOIN"));
  deliverer.event(event(message("1")));
  deliverer.internal("JOIN", event(member("@a:a", "join")) as Delivered);
  deliverer.event(event(message("2", { type: "JOIN" })));
  assertEquals(seen, ["all m.room.message", "typed", "JOIN", "all JOIN"]);
});

Deno.test("A source mask lets through what comes from one of its parts, internal events by their member event", () => {
  const { registry, deliverer } = stage();
  const seen: string[] = [];
  const { TIMELINE: timeline, INVITED_ROOM, STATE, JOINED_ROOM } = SyncStream;
  registry.add("m.room.member", () => seen.push("timeline"), { source: timeline });
  registry.add("m.room.member", () => seen.push("either"), { source: timeline | STATE });
  registry.add("JOIN", () => seen.push("join"), { source: timeline });
  const from = (source: number) => event(member("@a:a", "join"), source);
  deliverer.event(from(JOINED_ROOM | STATE));
  deliverer.event(from(INVITED_ROOM));
  deliverer.event(from(TIMELINE));
  deliverer.internal("JOIN", from(JOINED_ROOM | STATE) as Delivered);
  deliverer.internal("JOIN", from(TIMELINE) as Delivered);
  assertEquals(seen, ["either", "timeline", "either", "join"]);
});

Deno.test("Handlers are started immediately, in order; a sequential one takes a room's events one at a time", async () => {
  const { registry, deliverer } = stage();
  const seen: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  registry.add("m.room.message", (event: { event_id: string }) => {
    seen.push(`any ${event.event_id}`);
  });
  registry.add("m.room.message", async (event: { event_id: string }) => {
    seen.push(`begin ${event.event_id}`);
    const gate = Promise.withResolvers<void>();
    gates.set(event.event_id, gate);
    await gate.promise;
    seen.push(`end ${event.event_id}`);
  }, { sequential: true });
  const tasks = ["1", "2", "3"].flatMap((text) => deliverer.event(event(message(text))));
  tasks.push(...deliverer.event(event(message("other", { room_id: "!other" }))));
  assertEquals(seen, ["any $1", "begin $1", "any $2", "any $3", "any $other", "begin $other"]);
  seen.length = 0;
  gates.get("$1")?.resolve();
  await settle();
  assertEquals(seen, ["end $1", "begin $2"]);
  gates.get("$2")?.reject(new Error("a failure does not end the row"));
  await settle();
  assertEquals(seen, ["end $1", "begin $2", "begin $3"]);
  gates.get("$3")?.resolve();
  gates.get("$other")?.resolve();
  await settled(tasks);
  deliverer.event(event(message("4")));
  assertEquals(seen.at(-1), "begin $4");
  gates.get("$4")?.resolve();
  await settle();
});

Deno.test("A handler's failure is logged and reported, and the others go on", async () => {
  const { registry, deliverer, log } = stage();
  const errors: unknown[] = [];
  const now = new Error("thrown");
  const then = new Error("rejected");
  let others = 0;
  registry.add("HANDLER_ERROR", (report: unknown) => errors.push(report));
  registry.add("m.room.message", () => {
    throw now;
  });
  registry.add("m.room.message", () => Promise.reject(then));
  registry.add("m.room.message", () => others++);
  const given = event(message("1"));
  await settled(deliverer.event(given));
  assertEquals(errors, [{ error: now, event: given }, { error: then, event: given }]);
  assertEquals(others, 1);
  const failures = log.lines.filter(([level]) => level === "error");
  assertEquals(failures.map(([level, , data]) => [level, data?.eventId, data?.error]), [
    ["error", "$1", now],
    ["error", "$1", then],
  ]);
});

Deno.test("A failing handler of failures is logged, waited for, and not reported to itself", async () => {
  const { registry, deliverer, log } = stage();
  const gate = Promise.withResolvers<void>();
  let calls = 0;
  registry.add("HANDLER_ERROR", async () => {
    calls++;
    await gate.promise;
    throw new Error("again");
  });
  registry.add("m.room.message", () => {
    throw new Error("first");
  });
  const tasks = deliverer.event(event(message("1")));
  assertEquals(tasks.length, 1);
  gate.resolve();
  await settled(tasks);
  assertEquals([calls, log.lines.filter(([level]) => level === "error").length], [1, 2]);
});

Deno.test("The failure of a handler of an application's own event is reported, whatever the event looks like", () => {
  const { registry, deliverer } = stage();
  let told = 0;
  registry.add("HANDLER_ERROR", () => told++);
  registry.add(eventType("OWN", "internal"), () => {
    throw new Error("no");
  });
  deliverer.internal("OWN", { event: 1, error: 2 } as unknown as Delivered);
  assertEquals(told, 1);
});

for (const later of [false, true]) {
  Deno.test(`A definition's schema that answers ${later ? "later" : "at once"} checks content, and hands on its own`, async () => {
    const { registry, deliverer } = stage();
    const seen: unknown[] = [];
    const errors: unknown[] = [];
    const type = defineEvent({ type: "com.example.n", class: "message", schema: numberSchema({ later }) });
    registry.add(type, ({ content, event_id }: { content: unknown; event_id: string }) => {
      seen.push(event_id, content);
    });
    registry.add(eventType("com.example.n", "message"), ({ content }: { content: unknown }) => {
      seen.push(content);
    });
    for (const own of ["HANDLER_ERROR", "MALFORMED"]) {
      registry.add(own, (data: object) => errors.push([own, data]));
    }
    const n = (id: string, content: JsonObject) => event(message(id, { type: "com.example.n", content }));
    await settled(deliverer.event(n("good", { n: 21 })));
    assertEquals(
      seen.filter((item) => item !== "$good"),
      later ? [{ n: 21 }, { n: 42 }] : [{ n: 42 }, { n: 21 }],
    );
    seen.length = 0;
    await settled(deliverer.event(n("bad", { n: "x" })));
    assertEquals(seen, [{ n: "x" }]);
    assertEquals(errors.length, 1);
    const [told, { event: given, reason, isDelivered }] = errors[0] as [string, MalformedEvent];
    assertEquals([told, "event_id" in given && given.event_id, given.content, isDelivered], [
      ...["MALFORMED", "$bad", { n: "x" }, false],
    ]);
    assertEquals(reason.message, 'Cannot use content of "com.example.n": its schema refuses n');
    assertEquals([reason.code, reason.members], ["MALFORMED_CONTENT", ["n"]]);
  });
}

Deno.test("The delivery ID of an event that may come again is made of the event and the handler", () => {
  const { registry, deliverer } = stage();
  const names: unknown[] = [];
  const note = () => names.push(currentHandler()?.name);
  registry.add("m.room.message", note);
  registry.add(undefined, note);
  registry.add("JOIN", note);
  const again = { tasks: [], settled: [] };
  const run = () => {
    deliverer.event(event(message("1")), again);
    deliverer.internal("JOIN", event(member("@a:a", "join")) as Delivered, again);
    return names.splice(0);
  };
  const code = registry.forAll[0]?.id.split(".").at(-1);
  const expected = [`$1-*.${code}`, `$1-m.room.message.${code}`, `$@a:a-join-JOIN.${code}`];
  assertEquals([run(), run()], [expected, expected]);
  // State may be delivered twice for good reasons, and what is dispatched by hand always is.
  deliverer.event(event(member("@a:a", "join"), SyncStream.JOINED_ROOM | SyncStream.STATE), again);
  deliverer.event(event(message("1")));
  assertEquals(names, [undefined, undefined, undefined]);
});

Deno.test("A handler that is removed by another does not get the next event", () => {
  const { registry, deliverer } = stage();
  const seen: string[] = [];
  const late = () => seen.push("late");
  registry.add("m.room.message", () => {
    seen.push("first");
    registry.remove("m.room.message", late);
  });
  registry.add("m.room.message", late);
  deliverer.event(event(message("1")));
  deliverer.event(event(message("2")));
  assertEquals(seen, ["first", "late", "first"]);
});

Deno.test("Handlers get the very event, and tell by waitSync whether they are waited for", () => {
  const { registry, deliverer } = stage();
  const given = event(message("1"));
  const wait = Promise.resolve();
  registry.add("m.room.message", (event: unknown) => {
    assertStrictEquals(event, given);
    return wait;
  }, { waitSync: true });
  registry.add("m.room.message", () => wait);
  registry.add("m.room.message", () => {});
  assertEquals(deliverer.event(given).map(({ waitSync }) => waitSync), [true, false]);
});
