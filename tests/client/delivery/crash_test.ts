import { assert, assertEquals } from "@std/assert";
import { NO_FAULT } from "../support/crash.ts";
import { everyDay, playDays } from "../support/scripted_day.ts";

/**
 * What must be among the commits at which a day ends:
 * each is a place where something could be lost, or done twice.
 */
const COMMITS = [
  "lease",
  "account",
  "devices",
  "olm-session",
  "outbound_session",
  "outbox",
  "inbound",
  "olm-seen",
  "replay",
  "parked",
  "session",
  "settled",
  "state",
  "sync",
];

Deno.test("A bot without a fault sends and receives everything once, all day long", async () => {
  const [day] = await playDays([NO_FAULT]);
  assertEquals(day?.faults, []);
});

Deno.test("A bot that crashes before any commit and restarts sends and receives everything once", async () => {
  const days = await everyDay({ operation: "commit", takesEffect: false });
  for (const part of COMMITS) assert(days.some(([fault]) => fault?.includes(part)), part);
});

Deno.test("A bot that crashes after any commit, and after the next similar one, sends and receives everything once", async () => {
  const days = await everyDay({ operation: "commit", takesEffect: true, again: true });
  for (const part of COMMITS) assert(days.some(([fault]) => fault?.includes(part)), part);
  for (const part of ["lease", "outbound_session", "inbound", "session", "sync"]) {
    assert(days.some(([, fault]) => fault?.includes(part)), part);
  }
});
