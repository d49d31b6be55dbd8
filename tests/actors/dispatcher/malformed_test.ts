// deno-lint-ignore-file no-boolean-literal-for-arguments -- it is how assertType() is called
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import type { SyncerAPI } from "@greenroom/matrix";
import { MalformedContentError } from "@greenroom/matrix/errors";
import type { JsonObject } from "@greenroom/matrix/types";
import { defineEvent } from "../../../src/types/events/define_event.ts";
import { numberSchema } from "../support/contents.ts";
import { joined, member, message, state, timeline } from "../support/events.ts";
import { syncerStage } from "../support/syncer_stage.ts";

/** Everything that `MALFORMED` tells. */
function malformed(api: SyncerAPI): unknown[] {
  const told: unknown[] = [];
  api.on("MALFORMED", ({ event, reason, isDelivered }) => {
    assert(reason instanceof MalformedContentError);
    told.push(["event_id" in event && event.event_id, ...reason.members, isDelivered]);
  });
  return told;
}

const redactedBecause = {
  unsigned: { redacted_because: { ...message("redaction"), type: "m.room.redaction", content: {} } },
};
const emptied = (id: string) => message(id, { content: {}, ...redactedBecause });

Deno.test("An event that is not what its type says goes to MALFORMED once, and to no handler of its type", async () => {
  const bad = message("bad", { content: { msgtype: "m.text", body: 7 } });
  await using here = await syncerStage({ answers: [joined(timeline([bad, message("good")]))] });
  const told = malformed(here.api);
  const seen: string[] = [];
  here.api.on("m.room.message", ({ content }) => void seen.push(`first ${content.body.toUpperCase()}`));
  here.api.on("m.room.message", ({ content }) => void seen.push(`second ${content.body}`));
  here.api.on((event) => {
    const id = "event_id" in event ? event.event_id : "";
    seen.push(`all ${id} ${JSON.stringify(event.content)}`);
  });
  await here.api.syncOnce();
  assertEquals(told, [["$bad", "body", false]]);
  assertEquals(seen, [
    'all $bad {"msgtype":"m.text","body":7}',
    'all $good {"msgtype":"m.text","body":"good"}',
    "first GOOD",
    "second good",
  ]);
});

Deno.test("An optional member of the wrong type is removed for handlers of the type, reported, and kept for handlers of all events", async () => {
  const content = { msgtype: "m.text", body: "hello", "m.relates_to": "broken", format: null };
  await using here = await syncerStage({ answers: [joined(timeline([message("1", { content })]))] });
  const told = malformed(here.api);
  const seen: unknown[] = [];
  here.api.on((event) => void seen.push(event.content));
  here.api.on("m.room.message", ({ content, event_id, source }) => {
    seen.push([event_id, content, source > 0]);
  });
  here.api.on(
    defineEvent({ type: "m.room.message", class: "message" }),
    (event) => void seen.push(event.content),
  );
  await here.api.syncOnce();
  assertEquals(told, [["$1", "m.relates_to", true]]);
  assertEquals(seen, [content, ["$1", { msgtype: "m.text", body: "hello" }, true], content]);
});

Deno.test("A content that fits reaches handlers as the very object, and a type without handlers is not looked at", async () => {
  await using here = await syncerStage({
    answers: [joined(timeline([message("1"), state("m.room.name", { name: 7 })]))],
  });
  const told = malformed(here.api);
  const contents: unknown[] = [];
  here.api.on((event) => void (event.type === "m.room.message" && contents.push(event.content)));
  here.api.on("m.room.message", (event) => void contents.push(event.content));
  await here.api.syncOnce();
  assertStrictEquals(contents[0], contents[1]);
  assertEquals([contents.length, told], [2, []]);
});

Deno.test("A membership change has a valid content, and its mistakes are reported once", async () => {
  const join = member("@a:a", "join", {
    content: { membership: "join", displayname: 5, avatar_url: "mxc://a/b" },
  });
  await using here = await syncerStage({ answers: [joined(timeline([join]))] });
  const told = malformed(here.api);
  const seen: unknown[] = [];
  here.api.on("m.room.member", ({ content }) => void seen.push(content));
  here.api.on("JOIN", ({ content, state_key }) => void seen.push([state_key, content]));
  await here.api.syncOnce();
  const content = { membership: "join", avatar_url: "mxc://a/b" };
  assertEquals(seen, [content, ["@a:a", content]]);
  assertEquals(told, [["$@a:a-join", "displayname", true]]);
});

Deno.test("Redacted events reach handlers of all events, of redactions, and those that take them", async () => {
  const redaction = message("redaction", { type: "m.room.redaction", content: { redacts: "$1" } });
  await using here = await syncerStage({
    answers: [joined(timeline([emptied("1"), redaction, message("2")]))],
  });
  const told = malformed(here.api);
  here.api.on("HANDLER_ERROR", ({ error }) => void told.push(error));
  const seen: string[] = [];
  here.api.on(
    "m.room.message",
    ({ event_id, content }) => void seen.push(`whole ${event_id} ${content.body.length}`),
  );
  here.api.on("m.room.message", ({ event_id, content }) => {
    assertType<IsExact<typeof content.body, string | undefined>>(true);
    seen.push(`either ${event_id} ${content.body}`);
  }, { redacted: true });
  here.api.on("m.room.redaction", ({ content }) => void seen.push(`redaction of ${content.redacts}`));
  here.api.on((event) => void seen.push(`all ${"event_id" in event && event.event_id}`));
  await here.api.syncOnce();
  assertEquals(seen, [
    ...["all $1", "either $1 undefined"],
    ...["all $redaction", "redaction of $1"],
    ...["all $2", "whole $2 1", "either $2 2"],
  ]);
  assertEquals(told, []);
});

Deno.test("Redacted state keeps its place: a redacted join is still reported as JOIN", async () => {
  const join = member("@a:a", "join", redactedBecause);
  const name = state("m.room.name", {}, { event_id: "$name", ...redactedBecause });
  await using here = await syncerStage({ answers: [joined(timeline([join, name]))] });
  const seen: string[] = [];
  here.api.on("JOIN", ({ state_key }) => void seen.push(`JOIN ${state_key}`));
  here.api.on("m.room.member", () => void seen.push("whole"));
  here.api.on("m.room.member", ({ content }) => void seen.push(`either ${content.membership}`), {
    redacted: true,
  });
  here.api.on("m.room.name", () => void seen.push("whole"));
  here.api.on("m.room.name", ({ content }) => void seen.push(`name ${content.name}`), { redacted: true });
  await here.api.syncOnce();
  assertEquals(seen, ["either join", "JOIN @a:a", "name undefined"]);
});

Deno.test("A redacted event of a type of the application's own is not held against the schema if nothing is left of it", async () => {
  const type = defineEvent({
    type: "com.example.n",
    class: "message",
    schema: numberSchema({ later: false }),
  });
  const event = (id: string, more: JsonObject) => message(id, { type: "com.example.n", ...more });
  await using here = await syncerStage({
    answers: [
      joined(timeline([event("1", { content: {}, ...redactedBecause }), event("2", { content: { n: 1 } })])),
    ],
  });
  const told = malformed(here.api);
  const seen: unknown[] = [];
  here.api.on(type, ({ content }) => {
    assertType<IsExact<typeof content.n, number | undefined>>(true);
    seen.push(content.n);
  }, { redacted: true });
  here.api.on(type, ({ content }) => {
    assertType<IsExact<typeof content.n, number>>(true);
    seen.push(content.n);
  });
  await here.api.syncOnce();
  assertEquals([seen, told], [[undefined, 2, 2], []]);
});

Deno.test("A schema that fails itself is a failure of the handler, and not of the event", async () => {
  const schema = {
    "~standard": { version: 1, vendor: "x", validate: () => Promise.reject(new Error("broken")) },
  } as const;
  const type = defineEvent({ type: "com.example.n", class: "message", schema });
  await using here = await syncerStage({
    answers: [joined(timeline([message("1", { type: "com.example.n" })]))],
  });
  const told = malformed(here.api);
  const errors: unknown[] = [];
  here.api.on("HANDLER_ERROR", ({ error }) => void errors.push(String(error)));
  here.api.on(type, () => void told.push("called"));
  await here.api.syncOnce();
  assertEquals([told, errors], [[], ["Error: broken"]]);
});

Deno.test("Everywhere a typed handler looks, is what the types say: beside the content, too", async () => {
  const odd = message("1", {
    redacts: 5,
    unsigned: {
      age: "12",
      prev_content: [],
      membership: "join",
      "m.relations": { "m.thread": {} },
      other: 1,
    },
  });
  const left = { ...message("2"), origin_server_ts: "now" };
  const wrong = { ...message("3"), unsigned: 7 };
  const usual = ["join", 7].map((membership) =>
    message(`${membership}`, { unsigned: { age: 1, membership } })
  );
  await using here = await syncerStage({ answers: [joined(timeline([odd, left, wrong, ...usual]))] });
  const seen: unknown[] = [];
  here.api.on(
    "m.room.message",
    ({ event_id, redacts, unsigned }) => void seen.push([event_id, redacts, unsigned]),
  );
  await here.api.syncOnce();
  assertEquals(seen, [
    ["$1", undefined, { membership: "join", "m.relations": {}, other: 1 }],
    ["$3", undefined, undefined],
    ["$join", undefined, { age: 1, membership: "join" }],
    ["$7", undefined, { age: 1 }],
  ]);
});

Deno.test("Events that are dispatched by hand are checked like those of a sync", async () => {
  await using here = await syncerStage({ answers: [] });
  const told = malformed(here.api);
  const seen: unknown[] = [];
  here.api.on("m.room.message", ({ content }) => void seen.push(content.body));
  for (const content of [{ msgtype: "m.text", body: "x" }, { msgtype: "m.text" }]) {
    const event = { ...message("1", { content }), room_id: "!room:a", source: 0 } as never;
    here.api.dispatchEvent(event, 1);
    here.api.dispatchManualEvent("m.room.message", event);
  }
  assertEquals([seen, told.length], [["x", "x"], 2]);
});
