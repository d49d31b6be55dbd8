import { assertEquals } from "@std/assert";
import { RateLimit } from "../../../src/crypto/requests/requests.ts";
import { TestClock } from "@greenroom/matrix/testing";

/** Which of some names may do it, one after the other. */
const taken = (limit: RateLimit, names: string) =>
  [...names].map((name) => limit.take(name) ? name : "-").join("");

Deno.test("a rate limit counts for each name by itself, and from zero when the period is over", async () => {
  const clock = new TestClock();
  const limit = new RateLimit(clock, { times: 2, periodMs: 1_000 });
  assertEquals(taken(limit, "aaabb"), "aa-bb");
  await clock.tick(999);
  assertEquals(taken(limit, "ab"), "--");
  await clock.tick(1);
  assertEquals(taken(limit, "aaa"), "aa-");
});

Deno.test("a rate limit remembers a bounded number of names, the newest ones", () => {
  const limit = new RateLimit(new TestClock(), { times: 1, periodMs: 1_000, names: 2 });
  assertEquals(taken(limit, "abab"), "ab--");
  assertEquals(taken(limit, "cbc"), "c--");
  assertEquals(taken(limit, "aca"), "a--");
  assertEquals(taken(limit, "b"), "b");
});

Deno.test("those that share a name are refused only when it is used up, and only beyond an equal part", () => {
  const limit = new RateLimit(new TestClock(), { times: 4, periodMs: 1_000 });
  const takes = (share: string, count: number) =>
    Array.from({ length: count }, () => limit.take("room", share)).filter((taken) => taken).length;
  assertEquals([takes("a", 1), takes("b", 1), takes("c", 1)], [1, 1, 1]);
  assertEquals(takes("a", 2), 1, "while there is room, an equal part does not matter");
  assertEquals([takes("c", 1), takes("d", 2), takes("e", 1), takes("a", 1)], [0, 1, 0, 0]);
});
