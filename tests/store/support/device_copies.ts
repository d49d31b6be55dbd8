/**
 * A device to copy, and what becomes of the copy.
 *
 * @module
 */

import { assertEquals, assertRejects } from "@std/assert";
import { StoreError, ValueError } from "@greenroom/matrix/errors";
import type { Store, StoreCheck, StoreKey, StoreMutation } from "@greenroom/matrix";
import { exportDevice, importDevice } from "../../../src/store/copy/copy.ts";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";

/** Whose records are copied. */
export const DEVICE = { mxid: "@alice:example.org", deviceId: "DEVICE" } as const;
/** What the keys of the device begin with. */
export const PREFIX: StoreKey = [DEVICE.mxid, DEVICE.deviceId];
/** A key to seal with. */
export const KEY = new Uint8Array(32).fill(7);
/** Another. */
export const OTHER_KEY = new Uint8Array(32).fill(8);
const OF_PLACE = ["owner", "lease", "importing"];

/** A change of a record of the device. */
export const set = (path: StoreKey, value: unknown): StoreMutation => ({
  type: "set",
  key: [...PREFIX, ...path],
  value,
});

/** A clock that stands still. */
export const clock = new TestClock();

/** What is there of the device: keys without its prefix, and values. */
export async function recordsOf(store: Store, prefix: StoreKey = PREFIX): Promise<[StoreKey, unknown][]> {
  const entries = await Array.fromAsync(store.list(prefix));
  return entries
    .map(({ key, value }): [StoreKey, unknown] => [key.slice(prefix.length), value])
    .filter(([[kind = ""]]) => !OF_PLACE.includes(kind));
}

/** A store in which this was changed. */
export async function storeWith(...changes: StoreMutation[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.commit(changes);
  return store;
}

/** A store with a few records of the device. */
export const some = () =>
  storeWith(
    set(["sync"], { nextBatch: "s1" }),
    set(["crypto", "account"], { pickle: "SECRET-PICKLE" }),
    set(["room", "!a:example.org"], { roomId: "!a:example.org" }),
  );

/** All of a stream. */
async function read(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream as BodyInit).arrayBuffer());
}

/** A stream of bytes, in parts of a size. */
export function streamOf(bytes: Uint8Array, size = bytes.length): ReadableStream<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += size) parts.push(bytes.subarray(start, start + size));
  return ReadableStream.from(parts);
}

/** A copy of the device, as bytes. */
export const copyOf = (store: Store, key?: Uint8Array) =>
  read(exportDevice(store, { ...DEVICE, key, clock }));

/** Expects that an import fails and leaves nothing at all. */
export async function assertRefused(
  bytes: Uint8Array,
  kind: typeof StoreError = StoreError,
  key?: Uint8Array,
): Promise<StoreError> {
  const store = await storeWith({ type: "set", key: ["@bob:example.org", "B", "sync"], value: 1 });
  const error = await assertRejects(() => importDevice(store, streamOf(bytes), { key, clock }), kind);
  assertEquals(await Array.fromAsync(store.list([]), ({ key }) => key), [["@bob:example.org", "B", "sync"]]);
  return error;
}

/** A store that dies after a number of commits: the commit after them, and all later ones, fail. */
export class DyingStore extends MemoryStore {
  left = Infinity;
  /** Whether the commit at which it dies counts all the same. */
  late = false;
  sizes: number[] = [];

  override async commit(
    mutations: readonly StoreMutation[],
    checks?: readonly StoreCheck[],
  ): Promise<boolean> {
    this.sizes.push(mutations.length);
    if (this.left-- > 0) return await super.commit(mutations, checks);
    if (this.left === -1 && this.late) await super.commit(mutations, checks);
    throw new ValueError("Cannot write: the disk is gone");
  }
}
