import { assert, assertRejects, assertStringIncludes } from "@std/assert";
import { StoreError, StoreFormatError, StoreKeyError, ValueError } from "@greenroom/matrix/errors";
import { importDevice } from "../../../src/store/copy/copy.ts";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import {
  assertRefused,
  copyOf,
  KEY,
  OTHER_KEY,
  set,
  some,
  storeWith,
  streamOf,
} from "../support/device_copies.ts";

for (const key of [undefined, KEY]) {
  const name = key === undefined ? "A clear copy" : "A sealed copy";

  Deno.test(`${name} of which any byte is changed is refused, and nothing is left of it`, async () => {
    const bytes = await copyOf(await some(), key);
    for (let index = 0; index < bytes.length; index++) {
      for (const bit of [1, 0x80]) {
        await assertRefused(bytes.with(index, (bytes[index] ?? 0) ^ bit), StoreError, key);
      }
    }
  });

  Deno.test(`${name} that is cut off anywhere, or goes on, is refused, and nothing is left of it`, async () => {
    const bytes = await copyOf(await some(), key);
    for (let length = 0; length < bytes.length; length++) {
      await assertRefused(bytes.slice(0, length), StoreFormatError, key);
    }
    for (const more of [[0], [0, 0, 0, 0], bytes]) {
      await assertRefused(new Uint8Array([...bytes, ...more]), StoreFormatError, key);
    }
  });

  Deno.test(`${name} of several chunks of which one is missing, twice there or moved is refused`, async () => {
    const from = await storeWith(
      ...Array.from(
        { length: 40 },
        (_, index) => set(["n", String(index)], new Uint8Array(10_000).fill(index)),
      ),
    );
    const bytes = await copyOf(from, key);
    const pieces = chunksOf(bytes, key === undefined ? 32 : 16);
    assert(pieces.length > 5);
    const { length } = pieces;
    const orders: number[][] = [];
    const all = pieces.map((_, index) => index);
    for (let index = 1; index < length; index++) {
      orders.push(all.toSpliced(index, 1), all.toSpliced(index, 0, index), all.slice(0, index));
      if (index > 1) orders.push(all.with(index, index - 1).with(index - 1, index));
    }
    for (const order of orders) {
      const joined = await new Blob(order.map((index) => pieces[index] as BlobPart)).bytes();
      await assertRefused(joined, StoreError, key);
    }
    const other = chunksOf(await copyOf(from, key), key === undefined ? 32 : 16);
    const mixed = pieces.with(2, other[2] ?? new Uint8Array());
    await assertRefused(await new Blob(mixed as BlobPart[]).bytes(), StoreFormatError, key);
  });
}

/** The preamble and the chunks of a copy. */
function chunksOf(bytes: Uint8Array, overhead: number): Uint8Array[] {
  const pieces = [bytes.slice(0, 42)];
  for (let start = 42; start < bytes.length;) {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(start) & 0x7fffffff;
    pieces.push(bytes.slice(start, start + 4 + length + overhead));
    start += 4 + length + overhead;
  }
  return pieces;
}

Deno.test("importDevice() says whether a key is missing, wrong, or none is needed", async () => {
  const clear = await copyOf(await some());
  const sealed = await copyOf(await some(), KEY);
  assertStringIncludes((await assertRefused(sealed, StoreKeyError)).message, "it is sealed");
  assertStringIncludes((await assertRefused(clear, StoreKeyError, KEY)).message, "it is not sealed");
  assertStringIncludes((await assertRefused(sealed, StoreKeyError, OTHER_KEY)).message, "this key");
  const short = new Uint8Array(16);
  await assertRejects(() => importDevice(new MemoryStore(), streamOf(sealed), { key: short }), ValueError);
  await assertRejects(async () => await copyOf(await some(), short), ValueError);
});

Deno.test("importDevice() refuses what is no copy, or one of a newer version", async () => {
  const bytes = await copyOf(await some());
  assertStringIncludes((await assertRefused(bytes.with(0, 0), StoreFormatError)).message, "it is none");
  assertStringIncludes((await assertRefused(bytes.with(8, 2), StoreFormatError)).message, "newer");
  // Against its type.
  const text = ReadableStream.from(["GRDEVICE".repeat(20)]) as unknown as ReadableStream<Uint8Array>;
  await assertRejects(() => importDevice(new MemoryStore(), text), ValueError);
});
