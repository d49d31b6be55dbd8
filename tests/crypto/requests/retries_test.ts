import { assertEquals } from "@std/assert";
import { Retries } from "../../../src/crypto/requests/retries.ts";

const IN_2030 = Date.UTC(2030, 0, 1);
const IN_2026 = Date.UTC(2026, 0, 1);

Deno.test("the wait doubles with each failure, up to the longest, and ends with a success", () => {
  const retries = new Retries<string>({ base: 1_000, cap: 3_000 });
  assertEquals([retries.isOver("a", 0), retries.failures("a")], [true, 0]);
  for (const [index, ms] of [1_000, 2_000, 3_000, 3_000].entries()) {
    retries.failed("a", IN_2026);
    assertEquals(retries.failures("a"), index + 1);
    assertEquals([ms - 1, ms].map((rest) => retries.isOver("a", IN_2026 + rest)), [false, true]);
  }
  retries.forget("a");
  assertEquals([retries.isOver("a", IN_2026), retries.failures("a")], [true, 0]);
});

Deno.test("a failure while the clock was in 2030 does not wait until then", () => {
  const retries = new Retries<string>({ base: 1_000, cap: 3_000 });
  retries.failed("a", IN_2030);
  assertEquals([retries.isOver("a", IN_2026), retries.failures("a")], [true, 1]);
});

Deno.test("the latest failures are kept, as many as asked for", () => {
  const retries = new Retries<string>({ base: 1_000, cap: 3_000 }, 2);
  for (const name of ["a", "b", "a", "c"]) retries.failed(name, 0);
  assertEquals(["a", "b", "c"].map((name) => retries.failures(name)), [2, 0, 1]);
});
