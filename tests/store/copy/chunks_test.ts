import { assertEquals, assertRejects } from "@std/assert";
import { StoreError, StoreFormatError, ValueError } from "@greenroom/matrix/errors";
import { ByteReader, ChunkReader, ChunkWriter } from "../../../src/store/copy/chunks.ts";
import { ItemReader, writeItem } from "../../../src/store/copy/import_target.ts";

const KEY = new Uint8Array(32).fill(7);
const LAST = 0x80;
const PREAMBLE = 42;

/** A copy of bytes, in its parts: the preamble, and the chunks. */
async function copyOf(bytes: Uint8Array, key?: Uint8Array): Promise<Uint8Array<ArrayBuffer>[]> {
  const writer = await ChunkWriter.begin(key);
  return [writer.preamble, ...await Array.fromAsync(writer.add(bytes)), await writer.end()];
}

async function read(parts: readonly Uint8Array<ArrayBuffer>[], key?: Uint8Array): Promise<Uint8Array> {
  const bytes = new ByteReader(ReadableStream.from(parts), undefined);
  const reader = await ChunkReader.begin(bytes, key);
  return await new Blob(await Array.fromAsync(reader.read())).bytes();
}

for (const key of [undefined, KEY]) {
  const name = key === undefined ? "in clear" : "sealed";

  Deno.test(`Chunks ${name} give back the bytes they were made of`, async () => {
    for (const size of [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000]) {
      const bytes = crypto.getRandomValues(new Uint8Array(Math.min(size, 65_536)));
      const all = await new Blob([bytes, new Uint8Array(size - bytes.length)]).bytes();
      const parts = await copyOf(all, key);
      assertEquals(parts.length, 1 + Math.max(1, Math.ceil(size / 65_536)));
      assertEquals(await read(parts, key), all);
    }
  });

  Deno.test(`Chunks ${name} are refused where one was made to look like the last, or not the last`, async () => {
    const parts = await copyOf(new Uint8Array(200_000), key);
    for (let index = 1; index < parts.length; index++) {
      const chunk = parts[index] ?? new Uint8Array();
      const changed = chunk.with(0, (chunk[0] ?? 0) ^ LAST);
      await assertRejects(() => read([...parts.slice(0, index), changed], key), StoreError);
      await assertRejects(() => read(parts.with(index, changed), key), StoreError);
    }
  });

  Deno.test(`Chunks ${name} that say they are too long are refused before they are read`, async () => {
    const [preamble = new Uint8Array()] = await copyOf(new Uint8Array(), key);
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(preamble);
        controller.enqueue(new Uint8Array([0x7f, 0, 0, 0]));
      },
      pull: () => Promise.reject(new ValueError("It was read")),
    }, { highWaterMark: 0 });
    const reader = await ChunkReader.begin(new ByteReader(stream, undefined), key);
    await assertRejects(() => Array.fromAsync(reader.read()), StoreFormatError);
  });
}

Deno.test("Copies of the same bytes differ in their salts, and so in all that follows", async () => {
  const [first, second] = [await copyOf(new Uint8Array(100), KEY), await copyOf(new Uint8Array(100), KEY)];
  for (const copy of [first, second]) assertEquals(copy[0]?.length, PREAMBLE);
  assertEquals(first[0]?.subarray(0, 10), second[0]?.subarray(0, 10));
  await assertRejects(
    () => read([first[0] ?? new Uint8Array(), second[1] ?? new Uint8Array()], KEY),
    StoreError,
  );
});

Deno.test("Items are refused that are not of a device, records and their number", async () => {
  const device = writeItem(["device", "@a:b", "D"]);
  const record = writeItem(["record", ["sync"], 1]);
  const end = writeItem(["end", 1]);
  const all = async (...items: Uint8Array[]) => {
    const reader = new ItemReader(ReadableStream.from(items));
    await reader.device();
    return await Array.fromAsync(reader.records(), ({ path }) => path);
  };
  assertEquals(await all(device, record, end), [["sync"]]);
  const odd = (item: unknown) => writeItem(item as ["end", number]); // as a damaged writer would
  const wrong: Uint8Array[][] = [
    [],
    [record, end],
    [odd(["device", "a:b", "D"]), record, end],
    [odd(["device", "@a:b"]), record, end],
    [odd("device"), record, end],
    [device],
    [device, record],
    [device, end],
    [device, record, record, end],
    [device, record, end, end],
    [device, record, end, record],
    [device, record, end, new Uint8Array([0])],
    [device, record, end, record.subarray(0, 9)],
    [device, record, new Uint8Array([0xff, 0xff, 0xff, 0xff])],
    [device, new Uint8Array([0, 0, 0, 2, 1, 2]), end],
    ...[["owner"], ["lease"], ["importing"], ["owner", "below"], [], [1], "sync", undefined].map((key) => [
      device,
      odd(["record", key, 1]),
      end,
    ]),
    [device, odd(["record", ["sync"]]), end],
    [device, odd(["other", ["sync"], 1]), end],
  ];
  for (const items of wrong) await assertRejects(() => all(...items), StoreFormatError);
});
