import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { platform } from "../../../src/base/platform/mod.ts";
import { StoreError, StoreInUseError } from "@greenroom/matrix/errors";
import type { StoreKey } from "@greenroom/matrix";
import { Lease, type LeaseOptions } from "../../../src/store/device/lease.ts";
import { MAX_LEASE } from "../../../src/store/device/mod.ts";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { recordingLogger } from "../../actors/kernel/support.ts";
import { LockingStore } from "../support/locking_store.ts";

const DEVICE: StoreKey = ["@a:a", "D"];
const OWNER = [...DEVICE, "owner"];
const LEASE = [...DEVICE, "lease"];
const NOTE = [...DEVICE, "note"];

function stage(kv = new MemoryStore()) {
  const clock = new TestClock(1_000_000);
  const log = recordingLogger();
  const values = async (...keys: StoreKey[]) => (await kv.getMany(keys)).map((entry) => entry?.value);
  return {
    clock,
    kv,
    log,
    values,
    take: (owner: string, options: LeaseOptions = {}) =>
      Lease.acquire(kv, DEVICE, { clock, log, owner, ...options }),
    /** Writes as the holder of a lease does. */
    write: (lease: Lease, value: unknown) =>
      kv.commit([{ type: "set", key: NOTE, value }, ...lease.renewal()], lease.checks),
    note: async () => (await values(NOTE))[0],
  };
}

function epochOf(value: unknown): unknown {
  return (value as { epoch: unknown }).epoch;
}

Deno.test("A free device is taken immediately, with a lease", async () => {
  const { take, values, log } = stage();
  await take("one");
  const [owner, lease] = await values(OWNER, LEASE);
  assertEquals([(owner as { owner: unknown }).owner, epochOf(owner)], ["one", 1]);
  assertEquals(lease, { until: 1_015_000 });
  assertEquals(log.lines, []);
});

Deno.test("A device that another holds is refused by name, if it is not to be waited for, and left alone", async () => {
  const { take, values, kv } = stage();
  await take("one");
  const before = await values(OWNER, LEASE);
  const error = await assertRejects(() => take("two", { held: "refuse" }), StoreInUseError);
  assertEquals([error.owner, error.until], ["one", 1_015_000]);
  for (const part of ["@a:a", "D", "one", "1970-01-01T00:16:55.000Z"]) assert(error.message.includes(part));
  assertEquals(await values(OWNER, LEASE), before);
  await Lease.acquire(kv, ["@a:a", "E"], { held: "refuse" }); // another device
});

Deno.test("T60: a device that another holds is waited for until its lease has passed, and the log names the other", async () => {
  const { take, values, clock, log } = stage();
  await take("one");
  let isTaken = false;
  const waiting = take("two", { duration: 600_000 }).then(() => isTaken = true);
  await clock.tick(14_999);
  assertEquals([isTaken], [false]);
  await clock.tick(1);
  assert(isTaken);
  await waiting;
  const [owner, lease] = await values(OWNER, LEASE);
  assertEquals([epochOf(owner), lease], [2, { until: 1_615_000 }]);
  assertEquals(log.lines, [["warn", "Waiting for a device that another process holds", {
    device: "@a:a D",
    owner: "one",
    until: "1970-01-01T00:16:55.000Z",
  }]]);
});

Deno.test("A waiting process checks every third of a lease whether the device was released", async () => {
  const { take, clock } = stage();
  const one = await take("one");
  let isTaken = false;
  const waiting = take("two").then(() => isTaken = true);
  await clock.tick(1);
  await one.release();
  await clock.tick(4_998);
  assertEquals([isTaken], [false]);
  await clock.tick(1);
  assert(isTaken);
  await waiting;
});

Deno.test("A released device is taken immediately, though its lease has not passed", async () => {
  const { take, log } = stage();
  await (await take("one")).release();
  await take("two", { held: "refuse" });
  assertEquals(log.lines, []);
});

Deno.test("A signal ends the wait, and the device is left alone", async () => {
  const { take, values, clock } = stage();
  await take("one");
  const abort = new AbortController();
  const waiting = assertRejects(() => take("two", { signal: abort.signal }), TypeError, "enough");
  await clock.tick(1);
  abort.abort(new TypeError("enough"));
  await waiting;
  assertEquals([epochOf((await values(OWNER))[0]), clock.pending], [1, 0]);
});

Deno.test("T60: a sign of life that comes before a seizure wins", async () => {
  const { kv, clock, take, values } = stage();
  const one = await take("one");
  await clock.tick(15_000);
  const slow = new MemoryStore();
  const getMany = kv.getMany.bind(kv);
  Object.assign(slow, { commit: kv.commit.bind(kv) }, {
    async getMany(keys: StoreKey[]) {
      const seen = await getMany(keys);
      if (!isRenewed) isRenewed = await kv.commit(one.renewal(), one.checks);
      return seen;
    },
  });
  let isRenewed = false;
  await assertRejects(() => Lease.acquire(slow, DEVICE, { clock, held: "refuse" }), StoreInUseError);
  assertEquals([isRenewed, epochOf((await values(OWNER))[0])], [true, 1]);
});

Deno.test("T60: of two processes that see a device free, one takes it and the other waits", async () => {
  const { take, clock, log } = stage();
  const taken: string[] = [];
  for (const name of ["one", "two"]) take(name).then(() => taken.push(name));
  await clock.tick(0);
  assertEquals([taken.length, log.lines.length], [1, 1]);
  await clock.tick(15_000);
  assertEquals(taken.toSorted(), ["one", "two"]);
});

Deno.test("A lease is renewed when a third of it is gone, and not before; the owner's name stays", async () => {
  const { take, values, write, clock, kv } = stage();
  const one = await take("one");
  const [before] = await kv.getMany([OWNER]);
  await clock.tick(4_999);
  assertEquals([one.renewal(), one.dueIn], [[], 1]);
  await clock.tick(1);
  assertEquals(one.dueIn, 0);
  assert(await write(one, "later"));
  assertEquals(await values(NOTE, LEASE), ["later", { until: 1_020_000 }]);
  assertEquals([one.renewal(), one.dueIn], [[], 5_000]);
  assertEquals((await kv.getMany([OWNER]))[0], before);
});

Deno.test("T60: a process that was paused past its lease writes nothing once another has taken over, and names it", async () => {
  const { take, write, note, values, clock } = stage();
  const one = await take("one");
  await write(one, "of one");
  await clock.tick(15_000);
  const two = await take("two", { held: "refuse" });
  await write(two, "of two");
  const before = await values(OWNER, LEASE);
  assertEquals([await write(one, "of one again"), await note()], [false, "of two"]);
  const error = await one.lost();
  assertInstanceOf(error, StoreInUseError);
  assertEquals([error.owner, error.until], ["two", 1_030_000]);
  assert(error.message.includes("paused past its lease") && error.message.includes("nothing was written"));
  await one.release();
  assertEquals(await values(OWNER, LEASE), before);
  assert(await write(two, "of two again"));
});

Deno.test("A process that was paused past its lease goes on if no other took over", async () => {
  const { take, write, values, clock } = stage();
  const one = await take("one");
  await clock.tick(1_000_000);
  assert(await write(one, "late"));
  assertEquals(await values(LEASE), [{ until: 2_015_000 }]);
});

Deno.test("T60: a device whose owner record was removed is not written to, and the error names no process", async () => {
  const { take, write, note, kv } = stage();
  const one = await take("one");
  await kv.commit([{ type: "delete", key: OWNER }]);
  assertEquals([await write(one, "something"), await note()], [false, undefined]);
  const error = await one.lost();
  assertEquals([error instanceof StoreError, error instanceof StoreInUseError], [true, false]);
});

Deno.test("A lease that a wrong clock wrote is not waited for longer than any lease can be", async () => {
  const { take, clock } = stage();
  await take("one", { clock: new TestClock(9_000_000_000) });
  let isTaken = false;
  const waiting = take("two").then(() => isTaken = true);
  await clock.tick(MAX_LEASE - 1);
  assertEquals([isTaken], [false]);
  await clock.tick(1);
  assert(isTaken);
  await waiting;
});

Deno.test("A wait during which the clock is set back by years lasts no longer than the longest lease", async () => {
  const { take } = stage();
  let [now, waited] = [9_000_000_000, 0];
  const clock = {
    now: () => now,
    delay: (ms: number) => {
      now = waited === 0 ? 1_000_000 : now + ms;
      waited += ms;
      return waited > 2 * MAX_LEASE ? Promise.reject(new TypeError("It waits on")) : Promise.resolve();
    },
  };
  await take("one", { clock });
  await take("two", { clock });
  assert(waited >= MAX_LEASE);
});

Deno.test("A clock that is set back has the lease renewed by it", async () => {
  const { kv, values } = stage();
  let now = 1_000_000;
  const clock = { now: () => now, delay: () => Promise.resolve() };
  const lease = await Lease.acquire(kv, DEVICE, { clock });
  now = 500_000;
  assertEquals(lease.dueIn, 0);
  await kv.commit(lease.renewal(), lease.checks);
  assertEquals(await values(LEASE), [{ until: 515_000 }]);
});

Deno.test("The owner's default name has the number of the process, or none where there are no processes", async () => {
  const { kv, clock } = stage();
  const owner = async (device: string) => {
    const [entry] = await kv.getMany([["@a:a", device, "owner"]]);
    return (entry?.value as { owner: unknown }).owner;
  };
  await Lease.acquire(kv, ["@a:a", "A"], { clock });
  assertEquals(await owner("A"), `process ${Deno.pid}`);
  const pid = Object.getOwnPropertyDescriptor(platform.process, "pid") ?? {};
  Object.defineProperty(platform.process, "pid", { value: undefined, configurable: true });
  const taking = Lease.acquire(kv, ["@a:a", "B"], { clock });
  Object.defineProperty(platform.process, "pid", pid);
  await taking;
  assertEquals(await owner("B"), "process");
});

async function raceAll(kvOf: () => MemoryStore): Promise<void> {
  for (let seed = 1; seed <= 20; seed++) {
    const { kv, take, clock } = stage(kvOf());
    let state = seed;
    const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
    const written: number[] = [];
    const live = async (name: string): Promise<void> => {
      const lease = await take(name, { duration: 1_000 });
      const [entry] = await kv.getMany([NOTE]);
      for (let count = Number(entry?.value ?? 0) + 1;; count++) {
        const mutations = [{ type: "set", key: NOTE, value: count } as const, ...lease.renewal()];
        if (!await kv.commit(mutations, lease.checks)) return await live(name);
        written.push(count);
        if (kv instanceof LockingStore && random(8) === 0) kv.endHolder(DEVICE); // who lives on all the same
        await clock.delay(1 + random(random(4) === 0 ? 3_000 : 400)); // now and then past the lease
      }
    };
    for (const name of ["a", "b", "c", "d"]) live(name);
    for (let round = 0; round < 30; round++) await clock.tick(500);
    assertEquals(written, written.map((_, index) => index + 1), `seed ${seed}`);
    const [owner] = await kv.getMany([OWNER]);
    assert(written.length > 20 && Number(epochOf(owner?.value)) > 3);
  }
}

Deno.test("T60: however processes are paused, no two write: each continues from what the last one wrote", async () => {
  await raceAll(() => new MemoryStore());
});

Deno.test("T60: nor do two write when processes lose their locks and live on", async () => {
  await raceAll(() => new LockingStore());
});
