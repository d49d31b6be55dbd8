import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { isBlurhashValid } from "blurhash";
import fc from "fast-check";
import jpeg from "jpeg-js";
import { ValueError } from "@greenroom/matrix";
import { describeImage, measureImage } from "@greenroom/matrix/bot";
import { decodeImage } from "../../../src/bot/media/media.ts";
import { shrink, turn } from "../../../src/bot/media/pixels.ts";
import { concat, deflate, gif, jpg, png, pngHeader, pngOf, rgba, tiff, webp } from "./images.ts";

const size = (data: Uint8Array) => {
  const { mimetype, w, h, isAnimated } = measureImage(data);
  return [mimetype, w, h, isAnimated];
};

Deno.test("measureImage() reads type and size from the bytes", () => {
  assertEquals(size(png(30, 20)), ["image/png", 30, 20, false]);
  assertEquals(size(jpg(30, 20)), ["image/jpeg", 30, 20, false]);
  assertEquals(size(gif(30, 20)), ["image/gif", 30, 20, false]);
  assertEquals(size(webp("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 30, 0, 20, 0x40)), ["image/webp", 30, 20, false]);
  assertEquals(size(webp("VP8L", 0x2f, 29, 0xc0, 4, 0)), ["image/webp", 30, 20, false]);
  assertEquals(size(webp("VP8X", 0, 0, 0, 0, 29, 0, 0, 19, 0, 0)), ["image/webp", 30, 20, false]);
  assertEquals(size(webp("VP8X", 2, 0, 0, 0, 0, 1, 0, 0, 0, 1)), ["image/webp", 257, 65_537, true]);
});

Deno.test("measureImage() tells whether an image moves", () => {
  assertEquals(size(gif(3, 2, 2)), ["image/gif", 3, 2, true]);
  const frames = (count: number) => Uint8Array.from([0, 0, 0, count, 0, 0, 0, 0]);
  const apng = (count: number) =>
    size(pngOf(["IHDR", pngHeader(3, 2)], ["acTL", frames(count)], ["IDAT", new Uint8Array()]));
  assertEquals([apng(1)[3], apng(2)[3]], [false, true]);
});

Deno.test("measureImage() takes into account how a camera was held", () => {
  assertEquals([1, 3, 6, 8, 9].map((orientation) => size(jpg(30, 20, orientation))), [
    ["image/jpeg", 30, 20, false],
    ["image/jpeg", 30, 20, false],
    ["image/jpeg", 20, 30, false],
    ["image/jpeg", 20, 30, false],
    ["image/jpeg", 30, 20, false],
  ]);
});

Deno.test("measureImage() reads the orientation of PNG and WebP too, wherever it stands", () => {
  const exif = ["eXIf", Uint8Array.from(tiff(6))] as const;
  const [head, data] = [["IHDR", pngHeader(30, 20)], ["IDAT", new Uint8Array()]] as const;
  for (const file of [pngOf(head, exif, data), pngOf(head, data, exif)]) {
    assertEquals(size(file), ["image/png", 20, 30, false]);
  }
  for (const prefix of [[], [...new TextEncoder().encode("Exif"), 0, 0]]) {
    const chunk = [...prefix, ...tiff(8)];
    const head = [...new TextEncoder().encode("EXIF"), chunk.length, 0, 0, 0];
    const file = concat(webp("VP8X", 8, 0, 0, 0, 29, 0, 0, 19, 0, 0), Uint8Array.from([...head, ...chunk]));
    assertEquals(size(file), ["image/webp", 20, 30, false]);
    assertEquals(size(file.subarray(0, -10)), ["image/webp", 30, 20, false]); // cut off
  }
});

Deno.test("measureImage() refuses what is no image, is cut off, or has no size", () => {
  const text = new TextEncoder().encode("<svg xmlns='http://www.w3.org/2000/svg'/>");
  for (
    const data of [new Uint8Array(), text, pngOf(["IHDR", pngHeader(0, 5)]), jpg(30, 20).subarray(0, 12)]
  ) {
    assertThrows(() => measureImage(data), ValueError, "Cannot measure the image: ");
  }
});

Deno.test("describeImage() gives a small image a blurhash, and no thumbnail", async () => {
  for (const data of [png(30, 20), jpg(30, 20), gif(30, 20)]) {
    const { info, thumbnail } = await describeImage(data);
    const { "xyz.amorgan.blurhash": hash = "", ...measures } = info;
    assertEquals(measures, { mimetype: measureImage(data).mimetype, size: data.length, w: 30, h: 20 });
    assert(isBlurhashValid(hash).result);
    assertEquals(thumbnail, undefined);
  }
});

const noise = (x: number, y: number) =>
  [(x * 7919 + y * 104_729) % 256, (x * y) % 256, (x ^ y) % 256] as const;

Deno.test("describeImage() makes a JPEG of a large image that fits into 800 by 600", async () => {
  const data = png(1_600, 1_500, noise);
  const { thumbnail } = await describeImage(data);
  assertEquals(thumbnail?.info, { mimetype: "image/jpeg", size: thumbnail?.data.length, w: 640, h: 600 });
  assertEquals(measureImage(thumbnail?.data ?? data), {
    mimetype: "image/jpeg",
    w: 640,
    h: 600,
    isAnimated: false,
    orientation: 1,
  });
});

Deno.test("describeImage() makes a PNG of what can be seen through", async () => {
  const { thumbnail } = await describeImage(png(900, 900, (x, y) => [...noise(x, y), x % 2 === 0 ? 255 : 0]));
  assertEquals(thumbnail?.info.mimetype, "image/png");
});

Deno.test("describeImage() shows a thumbnail upright", async () => {
  const paint = (x: number, y: number) => x < 600 ? [255, 0, 0] as const : noise(x, y);
  const { info, thumbnail } = await describeImage(jpg(1_200, 1_000, 6, paint)); // to be turned to the right
  assertEquals([info.w, info.h, thumbnail?.info.w, thumbnail?.info.h], [1_000, 1_200, 500, 600]);
  const { data } = jpeg.decode(thumbnail?.data ?? new Uint8Array(), { useTArray: true });
  const top = data.subarray(0, 4); // what was on the left
  assert((top[0] ?? 0) > 248);
  assert((top[1] ?? 255) < 8);
});

Deno.test("describeImage() only measures what it is told not to decode, can't decode, or is too large", async () => {
  const measured = { mimetype: "image/png", size: png(30, 20).length, w: 30, h: 20 };
  assertEquals(await describeImage(png(30, 20), { thumbnail: false }), { info: measured });
  assertEquals(await describeImage(png(30, 20), { maxPixels: 599 }), { info: measured });
  const photo = webp("VP8L", 0x2f, 29, 0xc0, 4, 0);
  assertEquals(await describeImage(photo), {
    info: { mimetype: "image/webp", size: photo.length, w: 30, h: 20 },
  });
  for (const maxPixels of [0, 40_000_001, NaN]) {
    await assertRejects(() => describeImage(png(3, 2), { maxPixels }), ValueError, "maxPixels");
  }
});

/** The colours of an image, as they are decoded. */
const pixels = async (data: Uint8Array) => [...(await decodeImage(data, measureImage(data)))?.data ?? []];

Deno.test("decodeImage() unpacks all depths and colours of PNG", async () => {
  const packed = async (...bytes: number[]) => ["IDAT", await deflate(Uint8Array.from(bytes))] as const;
  const end = ["IEND", new Uint8Array()] as const;
  const header = (depth: number, colour: number) => ["IHDR", pngHeader(2, 1, depth, colour)] as const;
  const palette = ["PLTE", Uint8Array.from([1, 2, 3, 4, 5, 6])] as const;
  const cases: [Uint8Array, number[]][] = [
    [pngOf(header(1, 0), await packed(0, 0b01000000), end), [0, 0, 0, 255, 255, 255, 255, 255]],
    [pngOf(header(4, 0), await packed(0, 0x0f), end), [0, 0, 0, 255, 255, 255, 255, 255]],
    [pngOf(header(8, 0), await packed(0, 9, 200), end), [9, 9, 9, 255, 200, 200, 200, 255]],
    [pngOf(header(16, 0), await packed(0, 9, 1, 200, 2), end), [9, 9, 9, 255, 200, 200, 200, 255]],
    [pngOf(header(8, 4), await packed(0, 9, 7, 200, 8), end), [9, 9, 9, 7, 200, 200, 200, 8]],
    [pngOf(header(8, 2), await packed(0, 1, 2, 3, 4, 5, 6), end), [1, 2, 3, 255, 4, 5, 6, 255]],
    [pngOf(header(8, 6), await packed(0, 1, 2, 3, 4, 5, 6, 7, 8), end), [1, 2, 3, 4, 5, 6, 7, 8]],
    [pngOf(header(8, 3), palette, await packed(0, 1, 0), end), [4, 5, 6, 255, 1, 2, 3, 255]],
    [
      pngOf(header(8, 3), palette, ["tRNS", Uint8Array.from([0])], await packed(0, 1, 0), end),
      [4, 5, 6, 255, 1, 2, 3, 0],
    ],
  ];
  for (const [data, expected] of cases) assertEquals(await pixels(data), expected);
});

Deno.test("decodeImage() refuses a PNG in which there is more than it says, and leaves out its colour profile", async () => {
  const zeros = await deflate(new Uint8Array(100_000_000));
  const bomb = pngOf(["IHDR", pngHeader(10, 10)], ["IDAT", zeros], ["IEND", new Uint8Array()]);
  await assertRejects(() => decodeImage(bomb, measureImage(bomb)), ValueError, "more in it than it says");
  const rows = await deflate(new Uint8Array(10 * 41));
  const profile = concat(Uint8Array.from([65, 0, 0]), zeros); // a colour profile that grows without end
  const hidden = pngOf(["IHDR", pngHeader(10, 10)], ["iCCP", profile], ["IDAT", rows], [
    "IEND",
    new Uint8Array(),
  ]);
  assertEquals((await pixels(hidden)).length, 400);
});

Deno.test("decodeImage() refuses a GIF whose frame is larger than the image, and a JPEG with endless scans", async () => {
  const large = gif(3, 2);
  const frame = large.indexOf(0x2c);
  large.set([0xff, 0xff, 0xff, 0xff], frame + 5);
  await assertRejects(() => decodeImage(large, measureImage(large)), ValueError);
  const photo = jpg(30, 20);
  const scan = photo.subarray(photo.findIndex((byte, at) => byte === 0xff && photo[at + 1] === 0xda), -2);
  const scans = concat(photo.subarray(0, -2), ...Array.from({ length: 50 }, () => scan), photo.subarray(-2));
  await assertRejects(() => decodeImage(scans, measureImage(scans)), ValueError, "more in it than it says");
});

Deno.test("describeImage() never fails but with a ValueError, whatever is broken in an image", async () => {
  const images = [png(30, 20), jpg(30, 20, 6), gif(30, 20, 2), webp("VP8X", 2, 0, 0, 0, 29, 0, 0, 19, 0, 0)];
  const change = fc.record({ at: fc.nat(), to: fc.integer({ min: 0, max: 255 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...images),
      fc.array(change, { maxLength: 4 }),
      fc.nat(),
      async (image, changes, cut) => {
        const data = Uint8Array.from(image);
        for (const { at, to } of changes) data[at % data.length] = to;
        const part = cut % 3 === 0 ? data.subarray(0, cut % data.length) : data;
        await describeImage(part, { maxPixels: 1_000_000 }).catch((error) => {
          if (!(error instanceof ValueError)) throw error;
        });
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("shrink() takes means, and turn() turns as Exif says", () => {
  const image = {
    w: 2,
    h: 1,
    data: new Uint8ClampedArray(rgba(2, 1, (x) => x === 0 ? [200, 0, 0] : [0, 100, 0, 0])),
  };
  assertEquals([...shrink(image, { w: 1, h: 1 }).data], [200, 0, 0, 128]);
  assertEquals(shrink(image, { w: 5, h: 5 }), image);
  const letters = {
    w: 2,
    h: 3,
    data: new Uint8ClampedArray("abcdef".split("").flatMap((_, at) => [at, 0, 0, 0])),
  };
  const turned = (orientation: number) => {
    const { w, h, data } = turn(letters, orientation);
    const rows = [];
    for (let y = 0; y < h; y++) {
      rows.push(Array.from({ length: w }, (_, x) => "abcdef"[data[(y * w + x) * 4] ?? 0]).join(""));
    }
    return rows.join(" ");
  };
  assertEquals([1, 2, 3, 4, 5, 6, 7, 8].map(turned), [
    "ab cd ef",
    "ba dc fe",
    "fe dc ba",
    "ef cd ab",
    "ace bdf",
    "eca fdb",
    "fdb eca",
    "bdf ace",
  ]);
});
