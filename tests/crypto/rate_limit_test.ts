import { assertEquals } from "@std/assert";
import { RateLimit } from "../../src/crypto/rate_limit.ts";
import { TestClock } from "../../src/testing/test_clock.ts";

/** Which of some names may do it, one after the other. */
const taken = (limit: RateLimit, names: string) =>
  [...names].map((name) => limit.take(name) ? name : "-").join("");

Deno.test("a rate limit counts for each name by itself, and anew when the period is over", async () => {
  const clock = new TestClock();
  const limit = new RateLimit(clock, { times: 2, periodMs: 1_000 });
  assertEquals(taken(limit, "aaabb"), "aa-bb");
  await clock.tick(999);
  assertEquals(taken(limit, "ab"), "--");
  await clock.tick(1);
  assertEquals(taken(limit, "aaa"), "aa-");
});

Deno.test("a rate limit remembers as many names as it says; who came first is forgotten for who comes next", () => {
  const limit = new RateLimit(new TestClock(), { times: 1, periodMs: 1_000, names: 2 });
  assertEquals(taken(limit, "abab"), "ab--");
  assertEquals(taken(limit, "cbc"), "c--");
  assertEquals(taken(limit, "aca"), "a--");
  assertEquals(taken(limit, "b"), "b");
});
