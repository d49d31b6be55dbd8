/** The first frame of a GIF, in all its forms, and where it makes no sense. */

import { assertEquals, assertThrows } from "@std/assert";
import { GifReader, GifWriter } from "omggif";
import { decodeGif } from "../../../src/bot/media/pixels.ts";
import { concat } from "./images.ts";

const PALETTE = Array.from({ length: 256 }, (_, at) => (at * 0x010305 + 0x102030) & 0xffffff);

/** A GIF with a frame of many colours at a place in it. */
function written(
  frame: { x: number; y: number; w: number; h: number },
  { colours = 256, options = {} as object, isLocal = false } = {},
): Uint8Array {
  const palette = PALETTE.slice(0, colours);
  const buffer = new Uint8Array(100_000);
  const writer = new GifWriter(buffer, 150, 120, isLocal ? {} : { palette });
  const { x, y, w, h } = frame;
  const indexes = Array.from({ length: w * h }, (_, at) => (at * at * 7 + at * 13) % colours);
  writer.addFrame(x, y, w, h, indexes, { ...options, ...(isLocal && { palette }) });
  return buffer.slice(0, writer.end());
}

/** What another decoder makes of a GIF. */
function elsewhere(data: Uint8Array): Uint8Array {
  const pixels = new Uint8Array(150 * 120 * 4);
  new GifReader(data).decodeAndBlitFrameRGBA(0, pixels);
  return pixels;
}

const pixelsOf = (data: Uint8Array) => Uint8Array.from(decodeGif(data, 150, 120).data);
const WHOLE = { x: 0, y: 0, w: 150, h: 120 };
const PART = { x: 11, y: 7, w: 100, h: 90 };

for (
  const [name, data] of Object.entries({
    "of many colours": written(WHOLE),
    "of few colours": written(WHOLE, { colours: 4 }),
    "at a place": written(PART),
    "with colours of its own": written(PART, { isLocal: true }),
    "that can be seen through": written(PART, { options: { transparent: 20, delay: 10 } }),
    "with a delay alone": written(WHOLE, { options: { delay: 10 } }),
    "of one row": written({ ...PART, h: 1 }),
  })
) {
  Deno.test(`A frame ${name} is unpacked as elsewhere, interlaced or not`, () => {
    assertEquals(pixelsOf(data), elsewhere(data));
    const interlaced = Uint8Array.from(data);
    const frame = data.findIndex((byte, at) =>
      at >= 13 && byte === 0x2c && new GifReader(data).numFrames() === 1 &&
      isFrameAt(data, at)
    );
    interlaced[frame + 9] = (interlaced[frame + 9] ?? 0) | 0x40;
    assertEquals(pixelsOf(interlaced), elsewhere(interlaced));
  });
}

/** Whether a frame of one of these images begins at a place. */
function isFrameAt(data: Uint8Array, at: number): boolean {
  const { x, y, width, height } = new GifReader(data).frameInfo(0);
  const numbers = [x, y, width, height].flatMap((each) => [each & 255, each >> 8]);
  return numbers.every((byte, offset) => data[at + 1 + offset] === byte);
}

const SMALLEST = 2;
const [CLEAR, END] = [4, 5];

/** Codes, each of the size that it has after those before it. */
function packed(codes: readonly number[]): number[] {
  const bytes: number[] = [];
  let [bits, known, size, next, isFirst] = [0, 0, SMALLEST + 1, END + 1, true];
  for (const code of codes) {
    bits |= code << known;
    known += size;
    for (; known >= 8; known -= 8, bits >>>= 8) bytes.push(bits & 255);
    if (code === CLEAR) [size, next, isFirst] = [SMALLEST + 1, END + 1, true];
    else if (isFirst) isFirst = false;
    else if (next < 4_096 && ++next === 1 << size && size < 12) size++;
  }
  return known > 0 ? [...bytes, bits & 255] : bytes;
}

/** A GIF of one frame with given bytes for its data; four colours, whose red is their index. */
function gifOf(
  w: number,
  h: number,
  data: readonly number[],
  { smallest = SMALLEST, before = [] as number[] } = {},
) {
  const word = (value: number) => [value & 255, value >> 8];
  const colours = Array.from({ length: 16 }, (_, at) => [at, 0, 0]).flat();
  return Uint8Array.from([
    ...new TextEncoder().encode("GIF89a"),
    ...[...word(w), ...word(h), 0x83, 0, 0, ...colours, ...before],
    ...[0x2c, 0, 0, 0, 0, ...word(w), ...word(h), 0, smallest, ...data],
  ]);
}

/** Data in blocks, with the empty one at its end. */
function blocks(bytes: readonly number[]): number[] {
  const all: number[] = [];
  for (let at = 0; at < bytes.length; at += 255) {
    const part = bytes.slice(at, at + 255);
    all.push(part.length);
    for (const byte of part) all.push(byte);
  }
  return [...all, 0];
}

/** The indexes of the colours. */
function indexesOf(
  w: number,
  h: number,
  ...given: [readonly number[], { smallest?: number; before?: number[] }?]
) {
  const { data } = decodeGif(gifOf(w, h, ...given), w, h);
  return Array.from({ length: w * h }, (_, at) => data[at * 4]);
}

Deno.test("Codes stay as long as they are when there can be no more of them", () => {
  const indexes = Array.from({ length: 5_000 }, (_, at) => (at * 7 + (at >> 3)) % 4);
  assertEquals(indexesOf(100, 50, blocks(packed([CLEAR, ...indexes, END]))), indexes);
});

Deno.test("A frame ends with its last pixel, whatever comes then", () => {
  assertEquals(indexesOf(1, 1, blocks(packed([CLEAR, 3, 7]))), [3]);
});

Deno.test("A frame that ends too early has the first colour from there on", () => {
  assertEquals(indexesOf(4, 1, blocks(packed([CLEAR, 1, END, 2]))), [1, 0, 0, 0]);
  assertEquals(indexesOf(4, 1, [...blocks([0x58]), 0x55, 0x55], { smallest: 3 }), [5, 0, 0, 0]);
  assertEquals(indexesOf(2, 1, [2, 0xcc]), [1, 0], "a code of which two bits are there");
});

Deno.test("Codes that no code can be, and sizes that none can have, are refused", () => {
  for (
    const [codes, smallest] of [
      [packed([CLEAR, 6]), 2],
      [packed([CLEAR, 7]), 2],
      [Array(10).fill(0), 0],
      [Array(10).fill(0), 9],
    ] as [number[], number][]
  ) assertThrows(() => decodeGif(gifOf(2, 1, blocks(codes), { smallest }), 2, 1), RangeError);
  assertEquals(indexesOf(2, 1, blocks([0x12]), { smallest: 1 }), [0, 1]);
});

Deno.test("What stands in front of a frame must be an extension, and only one of them says what is seen through", () => {
  const one = blocks(packed([CLEAR, 3, END]));
  assertEquals(indexesOf(1, 1, one, { before: [0x21, 0xfe, 4, 1, 0, 0, 3, 0] }), [3]);
  assertThrows(() => indexesOf(1, 1, one, { before: [0x22, 0, 0] }), RangeError, "No frame");
});

Deno.test("A frame that does not fit into its image is refused", () => {
  const data = concat(gifOf(2, 2, blocks(packed([CLEAR, 1, 2, 3, 0, END]))));
  assertEquals(decodeGif(data, 2, 2).data.length, 16);
  for (const [w, h] of [[1, 2], [2, 1]] as const) {
    assertThrows(() => decodeGif(data, w, h), Error, "more in it");
  }
});
