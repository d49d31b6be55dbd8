import { assert, assertEquals, assertRejects } from "@std/assert";
import { StoreError, StoreInUseError } from "@greenroom/matrix/errors";
import type { StoreKey } from "@greenroom/matrix";
import { Lease, type LeaseOptions } from "../../../src/store/device/mod.ts";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { SealedStore } from "../../../src/store/sealed/sealed.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { recordingLogger } from "../../actors/kernel/support.ts";
import { LockingStore } from "../support/locking_store.ts";

const DEVICE: StoreKey = ["@a:a", "D"];

function stage(kv = new LockingStore()) {
  const clock = new TestClock(1_000_000);
  const log = recordingLogger();
  const taken: string[] = [];
  const take = async (owner: string, options: LeaseOptions = {}) => {
    const lease = await Lease.acquire(kv, DEVICE, { clock, log, owner, ...options });
    taken.push(owner);
    return lease;
  };
  const write = (lease: Lease) => kv.commit([{ type: "set", key: [...DEVICE, "n"], value: 1 }], lease.checks);
  return { clock, kv, log, take, taken, write };
}

Deno.test("T60: a device whose process has ended is taken immediately, and the former owner can't write", async () => {
  const { kv, log, take, write } = stage();
  const one = await take("one");
  kv.endHolder(DEVICE);
  const two = await take("two", { held: "refuse" });
  assertEquals([await write(one), await write(two), log.lines], [false, true, []]);
  kv.endHolder(DEVICE);
  await take("three", { held: "refuse" }); // again and again
});

Deno.test("A process that ends while it takes a device keeps the next one from nothing", async () => {
  const { kv, take } = stage();
  await take("one");
  const commit = kv.commit.bind(kv);
  for (const isDone of [false, false, true]) { // before its commit, or right behind that
    kv.endHolder(DEVICE);
    kv.commit = async (mutations, checks) => {
      if (isDone) await commit(mutations, checks);
      throw new Error("The process has ended");
    };
    await assertRejects(() => take("two", { held: "refuse" }), Error, "has ended");
  }
  kv.commit = commit;
  await take("three", { held: "refuse" });
});

Deno.test("A process that waits for a device has it a quarter of a second after the other has ended or released it", async () => {
  const { clock, kv, take, taken } = stage();
  await take("one", { duration: 600_000 });
  const waiting = take("two");
  await clock.tick(9_900);
  kv.endHolder(DEVICE);
  assertEquals(taken, ["one"]);
  await clock.tick(100);
  const two = await waiting;
  const last = take("three");
  await clock.tick(1);
  await two.release();
  await clock.tick(249);
  await last;
  assertEquals(taken, ["one", "two", "three"]);
});

Deno.test("A process that stands still keeps its lock, and so its device until its lease has passed", async () => {
  const { clock, kv, take, taken, write } = stage();
  const one = await take("one");
  await assertRejects(() => take("two", { held: "refuse" }), StoreInUseError);
  const waiting = take("two");
  await clock.tick(14_999);
  assertEquals(taken, ["one"]);
  await clock.tick(1);
  const two = await waiting;
  assertEquals([await write(one), await write(two)], [false, true]);
  await one.release();
  assert(await write(two));
  // What stands in the lock is not who held the device last: nothing follows from it.
  assert(!kv.isLocked(DEVICE));
  await assertRejects(() => take("three", { held: "refuse" }), StoreInUseError);
});

Deno.test("T60: a lock that was removed proves nothing", async () => {
  const { kv, take } = stage();
  await take("one");
  kv.removeLock(DEVICE);
  await assertRejects(() => take("two", { held: "refuse" }), StoreInUseError);
  assert(!kv.isLocked(DEVICE));
});

Deno.test("T60: a lock proves nothing about an owner that took the device without one", async () => {
  const { kv, take, clock } = stage();
  await (await take("one")).release();
  await Lease.acquire(
    Object.assign(new MemoryStore(), { getMany: kv.getMany.bind(kv) }, {
      commit: kv.commit.bind(kv),
    }),
    DEVICE,
    { clock },
  );
  await assertRejects(() => take("three", { held: "refuse" }), StoreInUseError);
  const waiting = take("three");
  await clock.tick(15_000);
  await waiting;
});

Deno.test("The owner of a device has its lock, alone, until it is released, lost or given up", async () => {
  const { kv, take, clock } = stage();
  const one = await take("one");
  await Lease.acquire(kv, ["@a:a", "E"], { clock, held: "refuse" }); // another device
  assertEquals([kv.isLocked(DEVICE), kv.isLocked(["@a:a", "E"])], [true, true]);
  assert(await one.release());
  assert(!kv.isLocked(DEVICE));
  const two = await take("two");
  await kv.commit([{ type: "set", key: [...DEVICE, "owner"], value: { epoch: 9, id: "x", owner: "three" } }]);
  assertEquals([await two.release(), kv.isLocked(DEVICE)], [false, false]);
  const abort = new AbortController();
  const waiting = assertRejects(() => take("four", { signal: abort.signal }), TypeError, "enough");
  await clock.tick(1);
  abort.abort(new TypeError("enough"));
  await waiting;
  assertEquals([kv.isLocked(DEVICE), clock.pending], [false, 0]);
});

Deno.test("Where there can be no lock that is said once, and the lease counts", async () => {
  const why = new StoreError("Cannot lock the device: no");
  const { take, log, clock } = stage(
    new class extends LockingStore {
      override lock = () => Promise.reject(why);
    }(),
  );
  await take("one");
  const waiting = take("two");
  await clock.tick(15_000);
  await waiting;
  const said = log.lines.filter(([, message]) => message.startsWith("There is no lock"));
  const one = [
    "info",
    "There is no lock for the device: after a kill, the next process waits for the end of its lease",
    {
      device: "@a:a D",
      reason: "Cannot lock the device: no",
    },
  ];
  assertEquals(said as unknown[], [one, one]); // of each of the two
});

Deno.test("A sealed store has the locks of the store inside, if that has any", async () => {
  const key = crypto.getRandomValues(new Uint8Array(32));
  const { kv } = stage();
  const sealed = await SealedStore.open(kv, key);
  const lock = await sealed.lock(DEVICE);
  assertEquals([kv.isLocked(DEVICE), await sealed.lock(DEVICE)], [true, undefined]);
  lock?.release();
  const without = await SealedStore.open(new MemoryStore(), key);
  await assertRejects(() => without.lock(DEVICE), StoreError, "has no locks");
});
