/** How large images say they are, byte by byte, and how they are turned. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { measureImage } from "@greenroom/matrix/bot";
import { concat, gif, pngHeader, pngOf, segment, tiff, webp, word } from "./images.ts";

const START = Uint8Array.of(0xff, 0xd8);
const frame = (marker = 0xc0) => segment(marker, [8, ...word(20), ...word(30), 1, 1, 0x11, 0]);
const jpegOf = (...parts: readonly Uint8Array[]) => concat(START, ...parts);
const EXIF = [...new TextEncoder().encode("Exif"), 0, 0];
const exif = (content: readonly number[], head = EXIF) => segment(0xe1, [...head, ...content]);

const sizeOf = (data: Uint8Array) => {
  const { w, h } = measureImage(data);
  return [w, h];
};
const orientationOf = (data: Uint8Array) => measureImage(data).orientation;

function refused(data: Uint8Array, why = ""): void {
  assertThrows(() => measureImage(data), ValueError, `Cannot measure the image: ${why}`);
}

Deno.test("A JPEG has the size of its first frame, of whatever kind, and not of what is none", () => {
  for (let marker = 0xc0; marker <= 0xcf; marker++) {
    if ([0xc4, 0xc8, 0xcc].includes(marker)) continue;
    assertEquals(sizeOf(jpegOf(frame(marker))), [30, 20]);
  }
  const other = [8, ...word(1), ...word(2), 1, 1, 0x11, 0];
  for (const marker of [0x01, 0xbf, 0xc4, 0xc8, 0xcc, 0xd0, 0xdb]) {
    assertEquals(sizeOf(jpegOf(segment(marker, other), frame(), frame())), [30, 20]);
  }
  assertEquals(sizeOf(jpegOf(Uint8Array.of(0xff, 0xff), frame())), [30, 20]);
});

Deno.test("A JPEG whose segments are no segments, or that ends before its frame, is refused", () => {
  refused(jpegOf(Uint8Array.of(0, 0xfe, 0, 2), frame()));
  refused(jpegOf(segment(0xfe, []), Uint8Array.of(0, 0xfe, 0, 2), frame()));
  refused(jpegOf(Uint8Array.of(0xff, 0xe1, 0, 1), frame()));
  refused(jpegOf(Uint8Array.of(0xff, 0xfe, 0, 1), frame()));
  refused(jpegOf(Uint8Array.of(0xff, 0xfe, 0, 0), frame()));
  assertEquals(sizeOf(jpegOf(Uint8Array.of(0xff, 0xfe, 0, 2), frame())), [30, 20]);
  for (const data of [START, jpegOf(Uint8Array.of(0xff)), jpegOf(frame()).subarray(0, 8)]) refused(data);
  refused(Uint8Array.of(0, 0, ...frame()));
  refused(Uint8Array.of(0xff, 0xd8, 0, ...frame()));
});

Deno.test("Exif says how a JPEG is turned, in either order of bytes, and by its first value that is one", () => {
  const big = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0];
  const turned = (...content: readonly (readonly number[])[]) =>
    orientationOf(jpegOf(...content.map((each) => exif(each)), frame()));
  assertEquals([1, 2, 5, 8, 0, 9].map((value) => turned(tiff(value))), [1, 2, 5, 8, 1, 1]);
  assertEquals([turned(big), turned(tiff(3), tiff(6)), turned(tiff(9), tiff(6)), turned(tiff(1), tiff(6))], [
    6,
    3,
    6,
    1,
  ]);
  assertEquals(orientationOf(jpegOf(segment(0xe2, [...EXIF, ...tiff(6)]), frame())), 1);
  assertEquals(orientationOf(jpegOf(exif(tiff(6), [...new TextEncoder().encode("Exit"), 0, 0]), frame())), 1);
  assertEquals(sizeOf(jpegOf(exif(tiff(5)), frame())), [20, 30]);
  assertEquals(sizeOf(jpegOf(exif(tiff(4)), frame())), [30, 20]);
});

Deno.test("Exif that is cut off, or points beyond its end, turns nothing", () => {
  const turned = (content: readonly number[]) => orientationOf(jpegOf(exif(content), frame()));
  const whole = tiff(6);
  const entryEnd = 8 + 2 + 12;
  assertEquals(turned(whole.slice(0, entryEnd)), 6);
  for (let length = 0; length < entryEnd; length++) {
    assertEquals(turned(whole.slice(0, length)), 1, `${length}`);
  }
  assertEquals(turned(whole.with(4, 100)), 1);
  assertEquals(turned(whole.with(8, 0)), 1, "no entries");
  assertEquals(turned(whole.with(10, 0x13)), 1, "another entry");
  const second = [...whole.slice(0, 8), 2, 0, ...whole.slice(10, 22).with(0, 0x13), ...whole.slice(10)];
  assertEquals(turned(second), 6);
  for (let length = 0; length <= 6; length++) {
    assertEquals(orientationOf(jpegOf(segment(0xe1, EXIF.slice(0, length)), frame())), 1);
  }
  refused(jpegOf(Uint8Array.of(0xff, 0xe1, 0xff, 0xff, ...EXIF, ...whole)));
});

Deno.test("A PNG has the size of its first head, is turned by its first Exif, and moves if it says so before its data", () => {
  const [head, data] = [["IHDR", pngHeader(30, 20)], ["IDAT", new Uint8Array()]] as const;
  const turned = (orientation: number) => ["eXIf", Uint8Array.from(tiff(orientation))] as const;
  const frames = ["acTL", Uint8Array.of(0, 0, 0, 2, 0, 0, 0, 0)] as const;
  assertEquals(sizeOf(pngOf(head, ["IHDR", pngHeader(1, 1)], data)), [30, 20]);
  assertEquals(orientationOf(pngOf(head, turned(3), turned(6), data)), 3);
  assertEquals(orientationOf(pngOf(head, ["iTXt", Uint8Array.from(tiff(6))], data)), 1);
  const moves = (...chunks: readonly (readonly [string, Uint8Array])[]) =>
    measureImage(pngOf(...chunks)).isAnimated;
  assertEquals([
    moves(head, frames, data),
    moves(head, data, frames),
    moves(head, ["tEXt", new Uint8Array()], frames, data),
  ], [
    true,
    false,
    true,
  ]);
  for (const [w, h] of [[0, 5], [5, 0]] as const) refused(pngOf(["IHDR", pngHeader(w, h)]));
});

Deno.test("What is refused is no image, or one that ends too early", () => {
  const bytesOf = (text: string) => new TextEncoder().encode(text);
  const none = [
    new Uint8Array(),
    bytesOf("abc"),
    bytesOf("RIFFabcdef"),
    bytesOf("a text that is long enough"),
  ];
  for (const data of [...none, Uint8Array.of(0xff, 0xd8, 0, 0xff, 0xff)]) refused(data, "it is no PNG, JPEG");
  const cut = [Uint8Array.of(0xff, 0xd8, 0xff), bytesOf("GIF89a"), bytesOf("RIFF    WEBPVP8 ")];
  for (const data of cut) refused(data, "it ends too early");
});

Deno.test("A GIF moves if it has two frames, as far as it is there", () => {
  const [one, two] = [gif(3, 2), gif(3, 2, 2)];
  const moves = (data: Uint8Array) => measureImage(data).isAnimated;
  assertEquals([moves(one), moves(two)], [false, true]);
  const second = two.lastIndexOf(0x2c);
  for (let length = 11; length < two.length; length++) {
    assertEquals(moves(two.subarray(0, length)), length > second, `${length} bytes`);
  }
  assert(!moves(Uint8Array.of(...two.subarray(0, 19), 0x22, 0, 0, ...two.subarray(19))));
  for (let length = 0; length < 11; length++) refused(two.subarray(0, length));
  refused(two.with(0, 0));
});

Deno.test("A WebP says its size behind its kind, and what does not is refused", () => {
  const files = [
    webp("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 30, 0, 20, 0),
    webp("VP8L", 0x2f, 29, 0xc0, 4, 0),
    webp("VP8X", 0, 0, 0, 0, 29, 0, 0, 19, 0, 0),
  ];
  for (const file of files) {
    assertEquals(sizeOf(file), [30, 20]);
    for (let length = 0; length < file.length - 1; length++) refused(file.subarray(0, length));
    for (const at of [0, 8, 12]) refused(file.with(at, 0));
  }
  refused(webp("VP8 ", 0, 0, 0, 0x9d, 1, 0x2b, 30, 0, 20, 0));
  refused(webp("VP8L", 0x2e, 29, 0xc0, 4, 0));
});
