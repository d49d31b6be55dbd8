/** Counts of what is under way are counted down: what is bounded by them goes on after thousands of times. */

import { assert, assertEquals } from "@std/assert";
import { GlobIndex } from "../../../src/bot/text/mod.ts";
import { InviteLimiter, JoinQueue } from "../../../src/bot/policy/policy.ts";

Deno.test("Joins make room for others, however they ended, thousands of times", async () => {
  const joins = new JoinQueue();
  for (let time = 0; time < 2_000; time++) {
    const joined = joins.run(
      `@user${time % 3}:a`,
      () => time % 2 === 0 ? Promise.resolve(time) : Promise.reject(time),
    );
    assertEquals(await joined.catch((error) => error), time);
  }
});

Deno.test("Patterns that are removed make room for others, thousands of times", () => {
  const index = new GlobIndex<string>();
  for (let time = 0; time < 5_000; time++) {
    const pattern = `*spam*${time}*`;
    assert(index.add(pattern, "rule"), `pattern ${time}`);
    index.delete(pattern, "rule");
  }
  assert(index.add("*ads*here*", "rule"));
  assertEquals([...index.find("@my-ads-are-here:a")], ["rule"]);
});

Deno.test("Turns of other times make room for invitations, also if the clock was wrong", () => {
  const window = 1_000;
  const limiter = new InviteLimiter({ count: 1, total: 1, window });
  for (const at of [0, 5, 1_000, 1, 0, 5].map((windows) => windows * window)) {
    assertEquals(limiter.take("@alice:a", at), at);
  }
});
