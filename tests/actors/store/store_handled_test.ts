import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import type { Actor } from "../../../src/actors/kernel/mod.ts";
import { ActorError, StoreInUseError } from "@greenroom/matrix/errors";
import type { StoreHandlers } from "../../../src/actors/store/mod.ts";
import { ROOM } from "../support/events.ts";
import { type LeaseStage, leaseStage, overtake } from "../support/lease_stage.ts";

async function commit(store: Actor<StoreHandlers>, nextBatch: string): Promise<void> {
  const repeated = false;
  await store.commitSync({ nextBatch, rooms: [], repeated } as never);
}

Deno.test("A sync is one commit: what was handled goes along with the next", async () => {
  await using here = leaseStage();
  const store = await here.opened("one");
  await commit(store, "t1");
  await store.handled("t1"); // the end of the very first response is written at once
  const before = here.kv.commits.length;
  for (let number = 2; number <= 11; number++) {
    await commit(store, `t${number}`);
    await store.handled(`t${number}`);
  }
  const later = here.kv.commits.slice(before);
  // Each its token and what was handled, in one record.
  assertEquals(later.map((mutations) => mutations.length), Array(10).fill(1));
  assertEquals((await store.position()).handled, "t11");
  const kept = await here.kv.value("sync");
  assertEquals(kept, { nextBatch: "t11", handled: "t10" });
});

const moments: [string, (here: LeaseStage, store: Actor<StoreHandlers>) => Promise<unknown>][] = [
  ["when the Store stops", (_, store) => store.stop()],
  ["when asked to", (_, store) => store.flush()],
  ["within five seconds", ({ clock }) => clock.tick(5_000)],
  ["with any commit", (_, store) => store.noEncryption(ROOM)],
];
for (const [moment, come] of moments) {
  Deno.test(`Handled events are durable ${moment}`, async () => {
    await using here = leaseStage();
    const store = await here.opened("one", { duration: 600_000 });
    for (const token of ["t1", "t2"]) {
      await commit(store, token);
      await store.handled(token);
    }
    assertEquals(await here.kv.value("sync"), { nextBatch: "t2", handled: "t1" });
    await come(here, store);
    assertEquals(await here.kv.value("sync"), { nextBatch: "t2", handled: "t2" });
    const { length } = here.kv.commits;
    if (moment !== "when the Store stops") await store.flush();
    assertEquals(here.kv.commits.length, length);
  });
}

Deno.test("A Store that can't write what was handled when it stops says so", async () => {
  await using here = leaseStage();
  const store = await here.opened("one");
  for (const token of ["t1", "t2"]) {
    await commit(store, token);
    await store.handled(token);
  }
  await overtake(here.kv);
  await store.stop();
  const error = await assertRejects(() => store.done, ActorError);
  assertInstanceOf(error.cause, StoreInUseError);
  assert(here.log.lines.length > 0);
});

Deno.test("A failed Store releases the device, and writes no deferred changes", async () => {
  await using here = leaseStage();
  const one = await here.opened("one");
  await commit(one, "t1");
  await one.handled("t1");
  await commit(one, "t2");
  await one.handled("t2");
  here.kv.failure = new Error("The disk is full");
  await assertRejects(() => one.noEncryption(ROOM), ActorError);
  here.kv.failure = undefined;
  await one.stop();
  assertEquals(here.kv.touched.at(-1), "lease");
});
