import { assert, assertEquals } from "@std/assert";
import { NO_FAULT } from "../support/crash.ts";
import { tornStore } from "../support/memory_kv.ts";
import { everyDay, playDays } from "../support/scripted_day.ts";

/** More than Deno KV takes in one commit, in bytes. */
const BULK = 900_000;
const THICK = { bulk: BULK };
const OPTIONS = { store: tornStore };

Deno.test("A bot with a session that takes several commits receives everything once", async () => {
  const [day] = await playDays([{ ...NO_FAULT, ...THICK }], OPTIONS);
  assertEquals(day?.faults, []);
});

for (const kind of ["crash", "error"] as const) {
  for (const takesEffect of [false, true]) {
    const what = kind === "crash" ? "ends" : "fails";
    const when = takesEffect ? "after" : "before";
    Deno.test(`A bot that ${what} within a commit, ${when} any part of it, receives everything once`, async () => {
      const again = kind === "crash";
      const days = await everyDay({ operation: "commit", takesEffect, kind, again, ...THICK }, OPTIONS);
      for (const part of ["staged", "journal", "part"]) {
        assert(days.some(([fault]) => fault?.includes(part)), part);
      }
      assertEquals(days.some(([, second]) => second !== undefined), again);
    });
  }
}
