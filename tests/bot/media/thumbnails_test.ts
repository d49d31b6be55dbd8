/** Which images get a thumbnail and a blurhash, at the bounds, and what pixels become. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { describeImage, measureImage } from "@greenroom/matrix/bot";
import { decodeImage } from "../../../src/bot/media/media.ts";
import { shrink, turn } from "../../../src/bot/media/pixels.ts";
import { concat, gif, jpg, type Paint, png, pngChunk, pngHeader, pngOf, rgba, webp } from "./images.ts";

const SMALL_FILE = 100 * 1024;

/** Much in few pixels: a file of it is larger than its thumbnail. */
const noise: Paint = (x, y) => [(x * 7919 + y * 104_729) % 256, (x * y * 31) % 256, (x * x ^ y * 77) % 256];
const flat: Paint = () => [10, 20, 30];

/** A PNG that a chunk which shows nothing makes as long as it is to be. */
function padded(file: Uint8Array, length: number): Uint8Array {
  const end = file.length - 12;
  const rest = pngChunk("prVt", new Uint8Array(length - file.length - 12));
  return concat(file.subarray(0, end), rest, file.subarray(end));
}

const thumbnailOf = async (data: Uint8Array) => (await describeImage(data)).thumbnail;
const hashOf = async (...given: Parameters<typeof describeImage>) =>
  (await describeImage(...given)).info["xyz.amorgan.blurhash"];

Deno.test("A small file that fits into 800 by 600 is its own thumbnail, and no other is", async () => {
  for (const [w, h, has] of [[800, 20, false], [801, 20, true], [20, 600, false], [20, 601, true]] as const) {
    const data = padded(png(w, h, flat), 90_000);
    assertEquals(await thumbnailOf(data) !== undefined, has, `${w} by ${h}`);
  }
  const file = png(100, 100, noise);
  const has = (length: number) => thumbnailOf(padded(file, length)).then((each) => each !== undefined);
  assertEquals([await has(SMALL_FILE), await has(SMALL_FILE + 1)], [false, true]);
});

Deno.test("A thumbnail is smaller than its image, or there is none", async () => {
  const file = png(900, 900, flat);
  const made = (await thumbnailOf(padded(file, SMALL_FILE)))?.data.length ?? 0;
  assert(made > file.length + 12, `${made} bytes`);
  const has = (length: number) => thumbnailOf(padded(file, length)).then((each) => each !== undefined);
  assertEquals([await has(made), await has(made + 1)], [false, true]);
});

Deno.test("An image has as many pixels as maxPixels says, from 1 to 40,000,000", async () => {
  const data = png(30, 20);
  assertEquals([await hashOf(data, { maxPixels: 599 }), await hashOf(data, { maxPixels: 600 })], [
    undefined,
    await hashOf(data),
  ]);
  for (const maxPixels of [1, 40_000_000]) {
    assert(await hashOf(png(1, 1), { maxPixels }) !== undefined);
  }
  await assertRejects(
    () => describeImage(data, { maxPixel: 1 } as object),
    ValueError,
    "did you mean maxPixels?",
  );
});

Deno.test("A blurhash has more of what is longer", async () => {
  const first = async (w: number, h: number) => (await hashOf(png(w, h)))?.[0];
  assertEquals([await first(30, 20), await first(20, 20), await first(20, 30)], ["L", "L", "T"]);
});

Deno.test("Whether an image is animated is said if it is", async () => {
  const animated = async (frames: number) => (await describeImage(gif(3, 2, frames))).info.is_animated;
  assertEquals([await animated(1), await animated(2)], [undefined, true]);
});

Deno.test("A thumbnail lies as its image does, which is turned from the fifth orientation on", async () => {
  const sizeOf = async (orientation: number) => {
    const { w, h } = (await thumbnailOf(jpg(1_200, 1_000, orientation, noise)))?.info ?? {};
    return [w, h];
  };
  assertEquals([await sizeOf(4), await sizeOf(5)], [[720, 600], [500, 600]]);
});

Deno.test("An image that can't be unpacked is not, or says why", async () => {
  const data = webp("VP8L", 0x2f, 29, 0xc0, 4, 0);
  assertEquals(await decodeImage(data, measureImage(data)), undefined);
  const broken = gif(3, 2);
  broken.fill(0xff, broken.indexOf(0x2c) + 12);
  const refused = (each: Uint8Array, why: string) =>
    assertRejects(() => decodeImage(each, measureImage(each)), ValueError, why);
  await refused(broken, "it is damaged");
  assertEquals(Object.keys(await describeImage(broken)), ["info"]);
  const empty = new Uint8Array();
  await refused(
    pngOf(["IHDR", pngHeader(2, 2, 3, 0)], ["IDAT", empty], ["IEND", empty]),
    "more in it than it says",
  );
});

Deno.test("A JPEG that is measured by one frame, and unpacked by another, is refused", async () => {
  const photo = jpg(16, 16);
  for (const [w, h] of [[8, 16], [16, 8]] as const) {
    const lossless = Uint8Array.of(0xff, 0xc3, 0, 11, 8, 0, h, 0, w, 1, 1, 0x11, 0);
    const data = concat(photo.subarray(0, 2), lossless, photo.subarray(2));
    assertEquals([measureImage(data).w, measureImage(data).h], [w, h]);
    await assertRejects(() => decodeImage(data, measureImage(data)), ValueError, "more in it than it says");
  }
});

Deno.test("Each pixel of a smaller image is the mean of its own part, and there is one at least each way", () => {
  const image = (w: number, h: number, paint: Paint) => ({
    w,
    h,
    data: new Uint8ClampedArray(rgba(w, h, paint)),
  });
  const quarters = image(4, 4, (x, y) => [x < 2 ? 200 : 100, y < 2 ? 40 : 80, 0]);
  assertEquals([...shrink(quarters, { w: 2, h: 2 }).data], [
    ...[200, 40, 0, 255, 100, 40, 0, 255],
    ...[200, 80, 0, 255, 100, 80, 0, 255],
  ]);
  const unseen = image(2, 1, () => [9, 9, 9, 0]);
  assertEquals([...shrink(unseen, { w: 1, h: 1 }).data], [0, 0, 0, 0]);
  for (const [w, h, wide, high] of [[10, 1, 2, 1], [1, 10, 1, 2]] as const) {
    const line = shrink(image(w, h, flat), { w: 2, h: 2 });
    assertEquals([line.w, line.h, [...line.data]], [wide, high, [10, 20, 30, 255, 10, 20, 30, 255]]);
  }
  assertEquals([0, 9].map((orientation) => turn(quarters, orientation) === quarters), [true, true]);
});
