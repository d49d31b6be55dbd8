import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix/errors";
import { type JsonObject, type MatrixEvent, SyncStream } from "@greenroom/matrix/types";
import { defineEvent } from "../../src/types/events/define_event.ts";
import { eventType } from "../../src/types/events/event_type.ts";
import { message, ROOM } from "../actors/support/events.ts";
import { syncerStage } from "../actors/support/syncer_stage.ts";

const TIMELINE = SyncStream.JOINED_ROOM | SyncStream.TIMELINE;

function text(body: string, more: JsonObject = {}): MatrixEvent {
  return { ...message(body), room_id: ROOM, source: TIMELINE, ...more } as unknown as MatrixEvent;
}

Deno.test("on() adds a handler of all events or of a type, and returns it; removeEventHandler() removes it", async () => {
  await using here = await syncerStage();
  const { api } = here;
  const seen: string[] = [];
  const all = api.on(() => seen.push("all"));
  const typed = api.on("m.room.message", () => seen.push("typed"));
  const added = () => seen.push("added");
  api.addEventHandler("m.room.message", added);
  api.addEventHandler(added);
  api.dispatchEvent(text("1"), TIMELINE);
  assertEquals(seen, ["all", "added", "typed", "added"]);
  api.removeEventHandler(all);
  api.removeEventHandler("m.room.message", typed);
  api.removeEventHandler("m.room.message", added);
  api.dispatchEvent(text("1"), TIMELINE);
  assertEquals(seen.slice(4), ["added"]);
});

Deno.test("on(type) decorates methods, which are bound to their object, and functions", async () => {
  await using here = await syncerStage();
  const { api } = here;
  class Bot {
    readonly heard: string[] = [];

    @api.on("m.room.message")
    hear({ content }: { content: { body: string } }): void {
      this.heard.push(content.body);
    }
  }
  const one = new Bot();
  const other = new Bot();
  const seen: string[] = [];
  const hear = ({ event_id }: { event_id: string }) => seen.push(event_id);
  assertStrictEquals(api.on("m.room.message")(hear), hear);
  api.dispatchEvent(text("1"), TIMELINE);
  assertEquals([one.heard, other.heard, seen], [["1"], ["1"], ["$1"]]);
});

Deno.test("addEventHandler() refuses what is no type or no handler", async () => {
  await using here = await syncerStage();
  assertThrows(() => here.api.addEventHandler("" as never, () => {}), ValueError);
  assertThrows(() => here.api.addEventHandler(null as never, () => {}), ValueError);
  assertThrows(() => here.api.addEventHandler("m.room.message", undefined as never), ValueError);
  assertThrows(() => here.api.on("m.room.message", 7 as never), ValueError);
});

Deno.test("dispatchEvent() gives an event to all that it fits, as from the given source, and gives their promises", async () => {
  await using here = await syncerStage();
  const { api } = here;
  const seen: unknown[] = [];
  const gate = Promise.withResolvers<void>();
  api.on((event) => seen.push(["all", event.source]));
  api.on("m.room.message", async () => {
    await gate.promise;
    seen.push("late");
  });
  api.on("m.room.message", () => seen.push("state"), { source: SyncStream.STATE });
  const event = Object.freeze(text("1", { source: 0 }));
  const tasks = api.dispatchEvent(event, SyncStream.LEFT_ROOM | SyncStream.TIMELINE);
  assertEquals([seen, tasks.length], [[["all", 24]], 1]);
  gate.resolve();
  await Promise.all(tasks);
  assertEquals(seen.at(-1), "late");
});

Deno.test("dispatchInternalEvent() reaches handlers of the type, or of a custom one, and none of all events", async () => {
  await using here = await syncerStage();
  const { api } = here;
  const seen: unknown[] = [];
  api.on(() => seen.push("all"));
  api.on("SYNC_STARTED", (data) => seen.push(["started", data]));
  api.on("MY_EVENT", (data) => seen.push(["mine", data]));
  api.on("JOIN", async (data) => {
    await Promise.resolve();
    seen.push(["join", data]);
  });
  const data = { source: SyncStream.INTERNAL };
  api.dispatchInternalEvent("SYNC_STARTED", data);
  api.dispatchInternalEvent("SYNC_STARTED", data, { customType: "MY_EVENT" });
  api.dispatchInternalEvent("MY_EVENT", { own: 1 });
  await api.runInternalEvent("JOIN", { own: 2 } as never);
  assertEquals(seen, [["started", data], ["mine", data], ["mine", { own: 1 }], ["join", { own: 2 }]]);
});

Deno.test("dispatchManualEvent() includes handlers of all events only if asked, and of internal events never", async () => {
  await using here = await syncerStage();
  const { api } = here;
  const seen: string[] = [];
  api.on("m.room.message", () => seen.push("typed"));
  api.on("SYNC_STARTED", () => seen.push("internal"));
  api.on(() => seen.push("all"));
  const event = text("1") as never;
  api.dispatchManualEvent("m.room.message", event);
  api.dispatchManualEvent("m.room.message", event, { includeGlobalHandlers: true });
  api.dispatchManualEvent("SYNC_STARTED", { source: SyncStream.INTERNAL }, { includeGlobalHandlers: true });
  assertEquals(seen, ["typed", "all", "typed", "internal"]);
});

Deno.test("dispatchManualEvent() gives the promises of waitSync handlers, or of all if forced", async () => {
  await using here = await syncerStage();
  const { api } = here;
  api.on("m.room.message", () => Promise.resolve(), { waitSync: true });
  api.on("m.room.message", () => Promise.reject(new Error("it does not reject")));
  const event = text("1") as never;
  assertEquals(api.dispatchManualEvent("m.room.message", event).length, 1);
  const all = api.dispatchManualEvent("m.room.message", event, { forceSynchronous: true });
  assertEquals((await Promise.all(all)).length, 2);
});

Deno.test("dispatchManualEvent() of a type with its class reaches handlers of the class, and of any", async () => {
  await using here = await syncerStage();
  const { api } = here;
  const seen: string[] = [];
  const type = defineEvent({ type: "com.example.x", class: "message" });
  api.on(type, () => seen.push("defined"));
  api.on(eventType("com.example.x", "state"), () => seen.push("state"));
  api.on("com.example.x", () => seen.push("any"));
  api.dispatchManualEvent(type, text("1", { type: "com.example.x" }) as never);
  assertEquals(seen, ["defined", "any"]);
});
