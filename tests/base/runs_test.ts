import { assert, assertEquals, assertRejects } from "@std/assert";
import { culprits, pause, sideBySide, withPauses } from "../../src/base/runs.ts";

const later = () => new Promise<void>((resolve) => setTimeout(resolve));

Deno.test("All things are worked on, no more at once than the limit says", async () => {
  const done: number[] = [];
  let [running, most] = [0, 0];
  await sideBySide([0, 1, 2, 3, 4], 2, async (thing) => {
    most = Math.max(most, ++running);
    await later();
    running--;
    done.push(thing);
  });
  assertEquals([done.sort(), most], [[0, 1, 2, 3, 4], 2]);
});

Deno.test("After a failure nothing more is begun, and it is thrown when all that was begun has ended", async () => {
  const begun: number[] = [];
  let ended = 0;
  const work = async (thing: number) => {
    begun.push(thing);
    if (thing === 1) throw new TypeError("the second");
    await later();
    ended++;
  };
  await assertRejects(() => sideBySide([0, 1, 2, 3], 2, work), TypeError, "the second");
  assertEquals([begun, ended], [[0, 1], 1]);
});

/** Finds those that fail, and counts the tries. */
async function found(count: number, most: number, failing: readonly number[]) {
  let tries = 0;
  const places = await culprits(count, most, (start, end) => {
    assert(end > start, "nothing is tried without any");
    tries++;
    return Promise.resolve(!failing.some((place) => place >= start && place < end));
  });
  return { places, tries };
}

Deno.test("Those that fail by themselves are found, in order, or there are too many", async () => {
  assertEquals((await found(10, 2, [])).places, []);
  assertEquals((await found(10, 2, [0])).places, [0]);
  assertEquals((await found(10, 2, [9, 3])).places, [3, 9]);
  assertEquals((await found(10, 2, [1, 3, 9])).places, undefined);
  assertEquals((await found(0, 2, [])).places, []);
});

Deno.test("No more is tried than it takes to see that too many fail", async () => {
  const all = Array.from({ length: 1_024 }, (_, place) => place);
  const { places, tries } = await found(1_024, 1, all);
  assertEquals(places, undefined);
  assert(tries < 20, `${tries} tries`);
});

Deno.test("withPauses() gives all things in order, and lets other work go on after each few", async () => {
  const seen: (number | string)[] = [];
  for await (const thing of withPauses([0, 1, 2, 3, 4], 2)) {
    if (thing % 2 === 0) setImmediate(() => seen.push("other"));
    seen.push(thing);
  }
  await pause();
  assertEquals(seen, [0, 1, "other", 2, 3, "other", 4, "other"]);
});
