import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { SharedRuns } from "../../src/base/runs.ts";

/** Runs that end when they are told to. */
function stage(): { runs: SharedRuns; begun: PromiseWithResolvers<void>[] } {
  const begun: PromiseWithResolvers<void>[] = [];
  const runs = new SharedRuns(() => {
    const run = Promise.withResolvers<void>();
    begun.push(run);
    return run.promise;
  });
  return { runs, begun };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};

Deno.test("A call during a run waits for the next, which all calls in the meantime share", async () => {
  const { runs, begun } = stage();
  assertStrictEquals(runs.pending, undefined);
  const first = runs.next();
  await turns();
  assertStrictEquals(runs.pending, runs.last);
  const second = runs.next();
  assertStrictEquals(runs.next(), second);
  await turns();
  assertEquals(begun.length, 1);
  begun[0]?.resolve();
  await first;
  await turns();
  assertEquals(begun.length, 2);
  assertStrictEquals(runs.last, second);
  begun[1]?.resolve();
  await second;
  assertEquals([begun.length, runs.pending], [2, undefined]);
});

Deno.test("After a run that has failed all fail with its error, and nothing is run", async () => {
  const { runs, begun } = stage();
  const failure = new Error("no");
  const [first, second] = [runs.next(), turns().then(() => runs.next())];
  await turns();
  begun[0]?.reject(failure);
  for (const run of [first, second, runs.next()]) assertStrictEquals(await assertRejects(() => run), failure);
  assertEquals(begun.length, 1);
});
