import { assertEquals } from "@std/assert";
import { Retries } from "../../../src/crypto/requests/retries.ts";

const IN_2030 = Date.UTC(2030, 0, 1);
const IN_2026 = Date.UTC(2026, 0, 1);

Deno.test("what failed rests twice as long each time, up to the longest, and not at all once it has worked", () => {
  const retries = new Retries<string>({ base: 1_000, cap: 3_000 });
  assertEquals([retries.isOver("a", 0), retries.overAt("a"), retries.failures("a")], [true, 0, 0]);
  for (const [index, ms] of [1_000, 2_000, 3_000, 3_000].entries()) {
    retries.failed("a", IN_2026);
    assertEquals([retries.failures("a"), retries.overAt("a")], [index + 1, IN_2026 + ms]);
    assertEquals([ms - 1, ms].map((rest) => retries.isOver("a", IN_2026 + rest)), [false, true]);
  }
  retries.forget("a");
  assertEquals([retries.isOver("a", IN_2026), retries.failures("a")], [true, 0]);
});

Deno.test("what failed while the clock was in 2030 does not rest until then", () => {
  const retries = new Retries<string>({ base: 1_000, cap: 3_000 });
  retries.failed("a", IN_2030);
  assertEquals([retries.isOver("a", IN_2026), retries.failures("a")], [true, 1]);
});

Deno.test("of what failed so much is remembered as was asked for, the last", () => {
  const retries = new Retries<string>({ base: 1_000, cap: 3_000 }, 2);
  for (const name of ["a", "b", "a", "c"]) retries.failed(name, 0);
  assertEquals(["a", "b", "c"].map((name) => retries.failures(name)), [2, 0, 1]);
});
