/** Two whole engines, and whatever may happen to them, in any order. */

import fc from "fast-check";
import { type Happening, Play } from "./play.ts";

const who = fc.constantFrom("alice", "bob");
const index = fc.nat(3);

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("send"), who }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("sync"), who }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("restart", "unsent", "discard"), who }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("turnAround", "syncLate"), who }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("lose", "repeat"), who, index }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("syncTwice"), who, restart: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("crash"),
      who,
      when: fc.constantFrom("before", "after"),
      commits: fc.nat(3),
      during: fc.constantFrom("send", "sync"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("member"), membership: fc.constantFrom("join", "leave") }),
  },
);

Deno.test("whatever is lost, repeated, reordered or cut short between two engines, each event with a key is decrypted once, and no index is used twice", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 40, size: "max" }), async (happenings) => {
      const play = await Play.begin();
      for (const each of happenings) await play.happen(each);
      await play.end();
    }),
    { numRuns: 25, seed: 20_261_121 },
  );
});
