/** What of a JPEG is taken for one image, by its segments: what they say decides how much memory it takes. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { bareJpeg, barePng, pngChunks } from "../../../src/bot/media/measure_image.ts";
import { concat, pngHeader, pngOf, segment, word } from "./images.ts";

/** A component: its name, and how many blocks it has across and down. */
type Component = readonly [name: number, across: number, down: number];

function frame(
  components: readonly Component[],
  { kind = 0xc0, precision = 8, w = 16, h = 16, extra = [] as number[] } = {},
): Uint8Array {
  const each = components.flatMap(([name, across, down]) => [name, across * 16 + down, 0]);
  return segment(kind, [precision, ...word(h), ...word(w), components.length, ...each, ...extra]);
}

function scan(
  names: readonly number[],
  { from = 0, to = 63, extra = [] as number[], data = Array(20).fill(1) as number[] } = {},
): Uint8Array {
  const head = segment(0xda, [names.length, ...names.flatMap((name) => [name, 0]), from, to, 0, ...extra]);
  return concat(head, Uint8Array.from(data));
}

const START = Uint8Array.of(0xff, 0xd8);
const END = Uint8Array.of(0xff, 0xd9);
const jpegOf = (...parts: readonly Uint8Array[]) => concat(START, ...parts, END);
const isTaken = (...parts: readonly Uint8Array[]) => bareJpeg(jpegOf(...parts)) !== undefined;

const GREY: readonly Component[] = [[1, 1, 1]];
const COLOURS: readonly Component[] = [[1, 2, 2], [2, 1, 1], [3, 1, 1]];

Deno.test("A JPEG of one, three or four components is taken, and of no other number", () => {
  const components = (count: number) => Array.from({ length: count }, (_, at) => [at + 1, 1, 1] as const);
  const taken = [1, 2, 3, 4, 5].map((count) => isTaken(frame(components(count)), scan([1])));
  assertEquals(taken, [true, false, true, true, false]);
});

Deno.test("A frame has a depth of 8 bits, each component once with up to four blocks each way, and ten blocks in all", () => {
  assert(isTaken(frame(COLOURS), scan([1, 2, 3])));
  const taken = (components: readonly Component[], more = {}) => isTaken(frame(components, more), scan([1]));
  assertEquals([taken(GREY, { precision: 12 }), taken(GREY, { extra: [0] })], [false, false]);
  const sizes = [[1, 4], [4, 1], [2, 4], [0, 1], [1, 0], [5, 1], [1, 5]] as const;
  assertEquals(sizes.map(([across, down]) => taken([[1, across, down]])), [
    ...[true, true, true],
    ...[false, false, false, false],
  ]);
  assertEquals([taken([[1, 2, 4], [2, 1, 1], [3, 1, 1]]), taken([[1, 2, 4], [2, 2, 1], [3, 1, 1]])], [
    true,
    false,
  ]);
  assert(!taken([[1, 1, 1], [1, 1, 1], [3, 1, 1]]));
});

Deno.test("A frame that is none is refused without a scan, too", () => {
  assert(!isTaken(frame(GREY, { precision: 12 })));
});

Deno.test("A scan names components of its frame, each once, and coefficients that there are", () => {
  const taken = (...given: Parameters<typeof scan>) => isTaken(frame(COLOURS), scan(...given));
  assertEquals([taken([1]), taken([1, 2, 3]), taken([])], [true, true, false]);
  assertEquals([taken([1, 1]), taken([4]), taken([1], { extra: [0] })], [false, false, false]);
  assertEquals([taken([1], { from: 1, to: 1 }), taken([1], { from: 2, to: 1 })], [true, false]);
  assertEquals([taken([1], { to: 63 }), taken([1], { to: 64 })], [true, false]);
});

Deno.test("A JPEG has one frame, in front of its scans, and one scan at least", () => {
  assertEquals([isTaken(frame(GREY), frame(GREY), scan([1])), isTaken(scan([1]))], [false, false]);
  assertEquals([isTaken(scan([1]), frame(GREY)), isTaken()], [false, false]);
});

Deno.test("A JPEG of one frame is of a kind that can be unpacked, and keeps what its pixels need", () => {
  for (const kind of [0xc0, 0xc1, 0xc2]) assert(isTaken(frame(GREY, { kind }), scan([1])));
  assert(!isTaken(frame(GREY, { kind: 0xc3 }), scan([1])));
  for (const kind of [0xc0, 0xc1, 0xc2]) {
    const needed = [0xc4, 0xdb, 0xdd, 0xee].map((marker) => segment(marker, [1, 2]));
    const others = [0x10, 0xe0, 0xe1, 0xfe].map((marker) => segment(marker, [1, 2]));
    const parts = [frame(GREY, { kind }), scan([1])];
    assertEquals(bareJpeg(jpegOf(...needed, ...others, ...parts)), jpegOf(...needed, ...parts));
  }
});

Deno.test("A JPEG may be padded, but its segments may not be cut off, nor anything stand between them", () => {
  const parts = [frame(GREY), scan([1])] as const;
  const padding = Uint8Array.of(0xff, 0xff);
  assertEquals(bareJpeg(jpegOf(padding, ...parts)), jpegOf(...parts));
  assert(!isTaken(Uint8Array.of(0, 0, 0), ...parts));
  assert(!isTaken(Uint8Array.of(0, 0xfe, 0, 2), ...parts));
  const cut = concat(START, ...parts, segment(0xfe, [1, 2, 3, 4]));
  assertThrows(() => bareJpeg(cut), RangeError);
  assertEquals(bareJpeg(cut.subarray(0, -1)), undefined);
});

Deno.test("A JPEG goes over its pixels forty times at most", () => {
  const head = frame(GREY, { kind: 0xc2 });
  const scans = (count: number) => Array.from({ length: count }, () => scan([1], { from: 1, to: 1 }));
  assertEquals([40, 41].map((count) => isTaken(head, ...scans(count))), [true, false]);
});

Deno.test("A JPEG goes over each coefficient ten times at most: all of them in each scan, unless it is progressive", () => {
  const taken = (kind: number, count: number) =>
    isTaken(frame(GREY, { kind }), ...Array.from({ length: count }, () => scan([1], { from: 0, to: 31 })));
  assertEquals([taken(0xc0, 10), taken(0xc0, 11)], [true, false]);
  assertEquals([taken(0xc2, 20), taken(0xc2, 21)], [true, false]);
});

Deno.test("A JPEG has a bit at least for each of its blocks", () => {
  const taken = (bytes: number) =>
    isTaken(frame(GREY, { w: 64, h: 16 }), scan([1], { data: Array(bytes).fill(1) })); // 16 blocks
  assertEquals([taken(1), taken(2)], [false, true]);
});

Deno.test("The data of a scan ends at a marker, which escapes and restarts are none of", () => {
  const data = [1, 0xff, 0, 0xff, 0xd0, 2, 0xff, 0xd7, 3];
  assert(isTaken(frame(GREY), scan([1], { data })));
  for (const marker of [0xcf, 0xd8]) {
    const other = [...data, 0xff, marker, 0, 2];
    const bare = bareJpeg(jpegOf(frame(GREY), scan([1], { data: other })));
    assertEquals(bare, jpegOf(frame(GREY), scan([1], { data })));
  }
  assertThrows(() => bareJpeg(concat(START, frame(GREY), scan([1], { data: [1, 0xff] }))), RangeError);
});

Deno.test("What looks like a frame or a scan within a table is none that is taken", () => {
  for (const inside of [frame(GREY), scan([1])]) {
    assert(!isTaken(segment(0xdb, [...inside]), frame(GREY), scan([1])));
  }
});

const IEND = ["IEND", new Uint8Array()] as const;
const IDAT = ["IDAT", Uint8Array.of(1, 2, 3)] as const;

Deno.test("A PNG is bared of all that its first image does not need, and of all after its end", () => {
  const head = ["IHDR", pngHeader(2, 2)] as const;
  const palette = ["PLTE", Uint8Array.of(1, 2, 3)] as const;
  const bare = pngOf(head, palette, IDAT, IDAT, IEND);
  const more = pngOf(
    head,
    ["iCCP", Uint8Array.of(9)],
    ["IHDR", pngHeader(9, 9)],
    palette,
    IDAT,
    IDAT,
    IEND,
    IDAT,
  );
  const { bytes, packed, bits } = barePng(more);
  assertEquals([bytes, packed, bits], [bare, [IDAT[1], IDAT[1]], 32]);
  const cut = barePng(more.subarray(0, more.length - 16)); // without the end, and what is behind it
  assertEquals(cut.packed.length, 2);
});

Deno.test("A PNG begins with its signature, and a chunk that is cut off is none", () => {
  const file = pngOf(["IHDR", pngHeader(2, 2)], IDAT, IEND);
  const types = (data: Uint8Array) => Array.from(pngChunks(data) ?? [], ({ type }) => type);
  assertEquals(types(file), ["IHDR", "IDAT", "IEND"]);
  assertEquals([types(file.subarray(0, -1)), types(file.subarray(0, -13))], [["IHDR", "IDAT"], ["IHDR"]]);
  for (let at = 0; at < 8; at++) assertEquals(pngChunks(file.with(at, 0)), undefined);
});

Deno.test("A PNG has as many bits a pixel as depth and colours say, if there are such", () => {
  const bitsOf = (depth: number, colour: number) =>
    barePng(pngOf(["IHDR", pngHeader(2, 2, depth, colour)], IDAT, IEND)).bits;
  assertEquals([1, 2, 4, 8, 16, 3, 32].map((depth) => bitsOf(depth, 0)), [1, 2, 4, 8, 16, 0, 0]);
  assertEquals([0, 1, 2, 3, 4, 5, 6, 7].map((colour) => bitsOf(8, colour)), [8, 0, 24, 8, 16, 0, 32, 0]);
});
