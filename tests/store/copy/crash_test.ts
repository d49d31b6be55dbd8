import { assert, assertEquals, assertRejects } from "@std/assert";
import { StoreError, StoreInUseError, ValueError } from "@greenroom/matrix/errors";
import type { Store, StoreCheck, StoreMutation } from "@greenroom/matrix";
import { exportDevice, importDevice } from "../../../src/store/copy/copy.ts";
import { assertUsable } from "../../../src/store/copy/import_target.ts";
import { Lease } from "../../../src/store/device/mod.ts";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import {
  clock,
  copyOf,
  DEVICE,
  DyingStore,
  PREFIX,
  recordsOf,
  set,
  some,
  storeWith,
  streamOf,
} from "../support/device_copies.ts";

Deno.test("A device that a client holds is neither exported nor imported over", async () => {
  const from = await some();
  const held = await Lease.acquire(from, PREFIX, { clock, owner: "the bot" });
  const error = await assertRejects(() => copyOf(from), StoreInUseError);
  assertEquals(error.owner, "the bot");
  await held.release();
  const bytes = await copyOf(from);
  const to = new MemoryStore();
  const lease = await Lease.acquire(to, PREFIX, { clock, owner: "the bot" });
  await assertRejects(() => importDevice(to, streamOf(bytes), { clock }), StoreInUseError);
  await lease.release();
  await importDevice(to, streamOf(bytes), { clock });
});

Deno.test("A device is free again after it was exported or imported, and when an export was cancelled", async () => {
  const refuse = { clock, held: "refuse" } as const;
  const from = await some();
  const to = new MemoryStore();
  await importDevice(to, exportDevice(from, { ...DEVICE, clock }), { clock });
  for (const store of [from, to]) await (await Lease.acquire(store, PREFIX, refuse)).release();
  const reader = exportDevice(from, { ...DEVICE, clock }).getReader();
  await reader.read();
  await assertRejects(() => Lease.acquire(from, PREFIX, refuse), StoreInUseError);
  await reader.cancel();
  await Lease.acquire(from, PREFIX, refuse);
  await exportDevice(from, { ...DEVICE, clock }).cancel(); // had not begun
});

Deno.test("An export that was paused past its lease fails if another process has written meanwhile, and goes on if not", async () => {
  const clock = new TestClock();
  for (const isTaken of [true, false]) {
    const from = await some();
    const reader = exportDevice(from, { ...DEVICE, clock }).getReader();
    await reader.read();
    await clock.tick(3_600_000);
    if (isTaken) await Lease.acquire(from, PREFIX, { clock, owner: "the bot" });
    const rest = async () => {
      while (!(await reader.read()).done);
    };
    if (isTaken) await assertRejects(rest, StoreInUseError);
    else await rest();
  }
});

Deno.test("A long export and a long import keep their leases alive", async () => {
  const clock = new TestClock();
  const large = Array.from({ length: 40 }, (_, index) => set(["n", String(index)], new Uint8Array(60_000)));
  const from = await storeWith(...large);
  const to = new MemoryStore();
  const held = { from: 0, to: 0 };
  const look = async (name: "from" | "to", store: Store) => {
    const [owner, lease] = await store.getMany(["owner", "lease"].map((kind) => [...PREFIX, kind]));
    if (owner !== undefined && Number(Object(lease?.value).until) > clock.now()) held[name]++;
  };
  const slow = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      await clock.tick(30_000);
      await look("from", from);
      await look("to", to);
      controller.enqueue(chunk);
    },
  });
  const copy = exportDevice(from, { ...DEVICE, clock }).pipeThrough(slow);
  const { bytes } = await importDevice(to, copy, { clock });
  const chunks = Math.ceil(bytes / 65_600);
  // The last chunk comes when the export is over, the first before the import.
  assertEquals(held, { from: chunks, to: chunks - 1 });
  assertEquals((await recordsOf(to)).length, 40);
});

Deno.test("An import that dies at any commit leaves nothing that counts, and the next one makes it good", async () => {
  const from = await some();
  await from.commit(Array.from({ length: 1_300 }, (_, index) => set(["state", String(index)], index)));
  const bytes = await copyOf(from);
  const whole = new DyingStore();
  await importDevice(whole, streamOf(bytes), { clock });
  const commits = whole.sizes.length;
  assert(commits >= 5);
  for (const late of [false, true]) {
    for (let left = 0; left < commits; left++) {
      const clock = new TestClock();
      const store = new DyingStore();
      Object.assign(store, { left, late });
      await assertRejects(() => importDevice(store, streamOf(bytes), { clock }), ValueError);
      store.left = Infinity;
      const isWhole = late && left === commits - 1;
      if ((await recordsOf(store)).length > 0 && !isWhole) {
        await assertRejects(() => assertUsable(store, PREFIX), StoreError, "import it again");
        await assertRejects(() => copyOf(store), StoreError);
      }
      if (isWhole) assertEquals(await recordsOf(store), await recordsOf(from));
      await clock.tick(60_000);
      if (!isWhole) await importDevice(store, streamOf(bytes), { clock });
      await assertUsable(store, PREFIX);
      assertEquals(await recordsOf(store), await recordsOf(from));
    }
  }
});

Deno.test("An import whose last commit counts although it fails is taken back as a whole", async () => {
  const bytes = await copyOf(await some());
  const whole = new DyingStore();
  await importDevice(whole, streamOf(bytes), { clock });
  const store = new class extends DyingStore {
    override async commit(
      mutations: readonly StoreMutation[],
      checks?: readonly StoreCheck[],
    ): Promise<boolean> {
      const held = await super.commit(mutations, checks);
      if (this.sizes.length === whole.sizes.length) throw new ValueError("Cannot tell");
      return held;
    }
  }();
  await assertRejects(() => importDevice(store, streamOf(bytes), { clock }), ValueError);
  assertEquals(await Array.fromAsync(store.list([])), []);
});

Deno.test("An import that was paused past its lease writes nothing after another has begun", async () => {
  const clock = new TestClock();
  const from = await some();
  await from.commit(
    Array.from({ length: 20 }, (_, index) => set(["n", String(index)], new Uint8Array(60_000))),
  );
  const bytes = await copyOf(from);
  const store = new MemoryStore();
  const [waiting, pause] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const parts = [bytes.subarray(0, 900_000), bytes.subarray(900_000)];
  const paused = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (parts.length === 1) {
        waiting.resolve(); // whatever there was has been taken in
        await pause.promise;
      }
      const part = parts.shift();
      if (part === undefined) controller.close();
      else controller.enqueue(part);
    },
  }, { highWaterMark: 0 });
  const first = importDevice(store, paused, { clock });
  await waiting.promise;
  assert((await recordsOf(store)).length > 0);
  await assertRejects(() => importDevice(store, streamOf(bytes), { clock }), StoreInUseError);
  await clock.tick(60_000);
  await importDevice(store, streamOf(bytes), { clock });
  pause.resolve();
  await assertRejects(() => first, StoreInUseError);
  await assertUsable(store, PREFIX);
  assertEquals(await recordsOf(store), await recordsOf(from));
});

Deno.test("Copying ends when its signal is aborted, also while it waits for the stream, and leaves nothing", async () => {
  const reason = new ValueError("Enough");
  const from = await some();
  const bytes = await copyOf(from);
  for (const length of [0, 20, 60, bytes.length - 1]) {
    const controller = new AbortController();
    const cancelled = Promise.withResolvers<unknown>();
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes.subarray(0, length || 1)),
      cancel: (reason) => cancelled.resolve(reason),
    });
    const store = new MemoryStore();
    const importing = importDevice(store, stream, { clock, signal: controller.signal });
    await clock.tick();
    controller.abort(reason);
    assertEquals(await assertRejects(() => importing, ValueError), reason);
    assertEquals(await cancelled.promise, reason);
    assertEquals(await Array.fromAsync(store.list([])), []);
  }
  const controller = new AbortController();
  const reader = exportDevice(from, { ...DEVICE, clock, signal: controller.signal }).getReader();
  await reader.read();
  controller.abort(reason);
  assertEquals(await assertRejects(() => reader.read(), ValueError), reason);
  await Lease.acquire(from, PREFIX, { clock, held: "refuse" });
});

Deno.test("An import removes what another has left behind that died", async () => {
  const clock = new TestClock();
  const store = new DyingStore();
  const large = Array.from({ length: 1_300 }, (_, index) => set(["old", String(index)], index));
  store.left = 4;
  const old = await copyOf(await storeWith(...large));
  await assertRejects(() => importDevice(store, streamOf(old), { clock }), ValueError);
  assert((await recordsOf(store)).length >= 500);
  store.left = Infinity;
  await clock.tick(60_000);
  const from = await some();
  await importDevice(store, streamOf(await copyOf(from)), { clock });
  assertEquals(await recordsOf(store), await recordsOf(from));
});

Deno.test("An import that dies while it is taken back leaves nothing that counts", async () => {
  const large = Array.from({ length: 1_300 }, (_, index) => set(["n", String(index)], index));
  const bytes = await copyOf(await storeWith(...large));
  const whole = new DyingStore();
  await importDevice(whole, streamOf(bytes), { clock });
  const last = whole.sizes.length;
  for (let more = 1; more <= 4; more++) {
    const store = new class extends DyingStore {
      override async commit(
        mutations: readonly StoreMutation[],
        checks?: readonly StoreCheck[],
      ): Promise<boolean> {
        if (this.sizes.length >= last + more) throw new ValueError("Cannot write: the disk is gone");
        const held = await super.commit(mutations, checks);
        if (this.sizes.length === last) throw new ValueError("Cannot tell"); // but it counts
        return held;
      }
    }();
    await assertRejects(() => importDevice(store, streamOf(bytes), { clock }), ValueError, "Cannot tell");
    const { length } = await recordsOf(store);
    if (length < large.length) await assertRejects(() => assertUsable(store, PREFIX), StoreError);
  }
});
