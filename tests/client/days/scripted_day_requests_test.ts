import { assert, assertEquals } from "@std/assert";
import { everyDay } from "../support/scripted_day.ts";

/** What must be among the requests that go wrong. */
const REQUESTS = [
  "login",
  "keys/upload",
  "keys/query",
  "keys/claim",
  "join",
  "sendToDevice",
  "send/m.room.encrypted",
  "send/m.reaction",
  "redact",
  "logout",
];

Deno.test("A bot that crashes before any request and restarts sends and receives everything once", async () => {
  const days = await everyDay({ operation: "request", takesEffect: false });
  for (const part of REQUESTS) assert(days.some(([fault]) => fault?.includes(part)), part);
});

Deno.test("A bot that crashes after any request, and after the next similar one, sends and receives everything once", async () => {
  const days = await everyDay({ operation: "request", takesEffect: true, again: true });
  for (const part of REQUESTS) assert(days.some(([fault]) => fault?.includes(part)), part);
  // Once is enough for these.
  for (const part of REQUESTS.filter((part) => part !== "join" && part !== "login")) {
    assert(days.some(([, fault]) => fault?.includes(part)), part);
  }
});

for (const takesEffect of [false, true]) {
  const when = takesEffect ? "after" : "before";
  Deno.test(`A bot sends and receives everything once when the connection is cut ${when} any request`, async () => {
    const days = await everyDay({ operation: "request", takesEffect, kind: "error" });
    for (const part of REQUESTS) assert(days.some(([fault]) => fault?.includes(part)), part);
  });
}

for (const kind of ["crash", "error"] as const) {
  const what = kind === "crash" ? "ends" : "fails";
  Deno.test(`A bot whose process ${what} at a sync request sends and receives everything once`, async () => {
    const days = await everyDay({ operation: "sync", takesEffect: true, kind });
    assert(days.length > 0);
    assertEquals(new Set(days.map((faults) => faults.length)), new Set([1]));
  });
}
