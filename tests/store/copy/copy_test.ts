import { assert, assertEquals, assertFalse, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { StoreError, StoreFormatError, StoreKeyError } from "@greenroom/matrix/errors";
import type { DeviceCopyProgress } from "@greenroom/matrix/types";
import type { StoreCheck, StoreEntry, StoreKey, StoreMutation } from "@greenroom/matrix";
import { exportDevice, importDevice } from "../../../src/store/copy/copy.ts";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { SealedStore } from "../../../src/store/sealed/sealed.ts";
import {
  clock,
  copyOf,
  DEVICE,
  DyingStore,
  KEY,
  PREFIX,
  recordsOf,
  set,
  some,
  storeWith,
  streamOf,
} from "../support/device_copies.ts";

Deno.test("importDevice() makes of a copy what exportDevice() found, for any records", async () => {
  const part = fc.constantFrom("", "a", "ab", "__proto__", "\0", "ä", "\uD800", "\uFFFF", "😀", "room");
  const path = fc.array(part, { minLength: 1, maxLength: 4 });
  const value = fc.oneof(
    fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true }),
    fc.integer({ min: 0, max: 100_000 }).map((size) => new Uint8Array(size).fill(size)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(path, value), { minLength: 1, maxLength: 12 }),
      fc.option(fc.constant(KEY), { nil: undefined }),
      fc.integer({ min: 1, max: 100_000 }),
      async (records, key, size) => {
        const from = await storeWith(...records.map(([path, value]) => set(path, value)));
        const to = new MemoryStore();
        const bytes = await copyOf(from, key);
        const imported = await importDevice(to, streamOf(bytes, size), { key, clock });
        const expected = await recordsOf(from);
        assertEquals(await recordsOf(to), expected);
        assertEquals(imported, { ...DEVICE, records: expected.length, bytes: bytes.length });
      },
    ),
    { numRuns: 40 },
  );
});

Deno.test("exportDevice() takes one device's records and no others", async () => {
  const from = await some();
  await from.commit([
    { type: "set", key: [DEVICE.mxid, "OTHER", "sync"], value: 1 },
    { type: "set", key: [DEVICE.mxid, "DEVICE2", "sync"], value: 1 },
    { type: "set", key: [DEVICE.mxid], value: 1 },
    { type: "set", key: PREFIX, value: 1 },
    { type: "set", key: ["@bob:example.org", "DEVICE", "sync"], value: 1 },
  ]);
  const to = new MemoryStore();
  const { records } = await importDevice(to, exportDevice(from, { ...DEVICE, clock }), { clock });
  assertEquals(records, 3);
  assertEquals((await recordsOf(to, [])).map(([key]) => key[2]).toSorted(), [
    "crypto",
    "lease",
    "owner",
    "room",
    "sync",
  ]);
});

Deno.test("A copy names the device and shows the keys, but not if it is sealed", async () => {
  const from = await some();
  const text = async (key?: Uint8Array) => new TextDecoder("latin1").decode(await copyOf(from, key));
  for (const word of ["@alice", "DEVICE", "SECRET-PICKLE"]) assertStringIncludes(await text(), word);
  const sealed = (await text(KEY)).slice("GRDEVICE".length);
  for (const word of ["@alice", "DEVICE", "SECRET-PICKLE", "crypto"]) assertFalse(sealed.includes(word));
});

Deno.test("importDevice() refuses a device that is there already, and leaves it as it was", async () => {
  const bytes = await copyOf(await some());
  const store = await storeWith(set(["sync"], "mine"));
  const before = await Array.fromAsync(store.list([]));
  const error = await assertRejects(() => importDevice(store, streamOf(bytes), { clock }), StoreError);
  assertStringIncludes(error.message, "@alice:example.org DEVICE");
  assertEquals(await Array.fromAsync(store.list([])), before);
});

Deno.test("importDevice() refuses a device that comes while it takes the place", async () => {
  const bytes = await copyOf(await some());
  const store = new class extends MemoryStore {
    override async commit(
      mutations: readonly StoreMutation[],
      checks?: readonly StoreCheck[],
    ): Promise<boolean> {
      await super.commit([set(["sync"], "mine")]);
      return await super.commit(mutations, checks);
    }
  }();
  await assertRejects(() => importDevice(store, streamOf(bytes), { clock }), StoreError, "already");
  assertEquals(await recordsOf(store), [[["sync"], "mine"]]);
});

Deno.test("importDevice() and exportDevice() refuse a sealed store without its seal", async () => {
  const inner = new MemoryStore();
  const sealed = await SealedStore.open(inner, KEY);
  const bytes = await copyOf(await some());
  await assertRejects(() => importDevice(inner, streamOf(bytes), { clock }), StoreKeyError);
  await importDevice(sealed, streamOf(bytes), { clock });
  const before = await Array.fromAsync(inner.list([]));
  await assertRejects(() => copyOf(inner), StoreKeyError);
  assertEquals(await Array.fromAsync(inner.list([])), before);
});

Deno.test("exportDevice() refuses a device that is not there, and leaves nothing behind", async () => {
  const store = new MemoryStore();
  await assertRejects(() => copyOf(store), StoreError, "no record");
  assertEquals(await Array.fromAsync(store.list([])), []);
});

Deno.test("importDevice() puts a bounded number of records and bytes into each commit", async () => {
  const from = await storeWith(
    ...Array.from({ length: 1_600 }, (_, index) => set(["n", String(index)], index)),
    ...Array.from({ length: 30 }, (_, index) => set(["large", String(index)], new Uint8Array(60_000))),
  );
  const store = new DyingStore();
  await importDevice(store, exportDevice(from, { ...DEVICE, clock }), { clock });
  assert(store.sizes.every((size) => size <= 503));
  assert(store.sizes.length >= 2 + 4 + 3);
});

Deno.test("Copying reports progress, at both ends the same in the end", async () => {
  const from = await storeWith(
    ...Array.from({ length: 30 }, (_, index) => set(["n", String(index)], new Uint8Array(20_000))),
  );
  const told: DeviceCopyProgress[][] = [[], []];
  const copy = exportDevice(from, { ...DEVICE, clock, onProgress: (progress) => told[0]?.push(progress) });
  const store = new MemoryStore();
  const { records, bytes } = await importDevice(store, copy, {
    clock,
    onProgress: (progress) => told[1]?.push(progress),
  });
  for (const list of told) {
    assert(list.length > 5);
    assertEquals(list.at(-1), { records: 30, bytes });
    for (const [index, next] of list.entries()) {
      assert(next.bytes >= (list[index - 1]?.bytes ?? 0) && next.records >= (list[index - 1]?.records ?? 0));
    }
  }
  assertEquals(records, 30);
});

Deno.test("importDevice() cancels the stream when it fails", async () => {
  const cancelled = Promise.withResolvers<void>();
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(100)),
    cancel: () => cancelled.resolve(),
  });
  await assertRejects(() => importDevice(new MemoryStore(), stream, { clock }), StoreFormatError);
  await cancelled.promise;
});

Deno.test("exportDevice() reads no further ahead than it is read", async () => {
  let seen = 0;
  const store = new class extends MemoryStore {
    override async *list(prefix: StoreKey): AsyncGenerator<StoreEntry> {
      for await (const entry of super.list(prefix)) {
        seen++;
        yield entry;
      }
    }
  }();
  await store.commit(
    Array.from({ length: 200 }, (_, index) => set(["n", String(index)], new Uint8Array(30_000))),
  );
  const reader = exportDevice(store, { ...DEVICE, clock }).getReader();
  for (let chunk = 0; chunk < 4; chunk++) await reader.read();
  assert(seen < 15, `${seen}`);
  await reader.cancel();
});
