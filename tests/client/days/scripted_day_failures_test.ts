import { assert } from "@std/assert";
import { everyDay } from "../support/scripted_day.ts";

/** What must be among the commits that fail. */
const COMMITS = [
  "lease",
  "account",
  "olm-session",
  "outbound_session",
  "outbox",
  "inbound",
  "session",
  "sync",
];

for (const takesEffect of [false, true]) {
  const what = takesEffect ? "took effect without an answer" : "failed";
  Deno.test(`A bot that has ended because a commit ${what} restarts, and sends and receives everything once`, async () => {
    const days = await everyDay({ operation: "commit", takesEffect, kind: "error" });
    for (const part of COMMITS) assert(days.some(([fault]) => fault?.includes(part)), part);
  });
}
