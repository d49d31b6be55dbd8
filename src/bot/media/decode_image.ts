/**
 * The pixels of an image.
 *
 * What images claim of themselves is checked before anything is unpacked, so that a small file can't
 * take all memory or time. The libraries that unpack are loaded at the first image.
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";
import { decodeGif } from "./decode_gif.ts";
import { bareJpeg } from "./jpeg_segments.ts";
import type { ImageMeasures } from "./measure_image.ts";
import type { Pixels } from "./pixels.ts";
import { barePng } from "./png_chunks.ts";

/**
 * Unpacks an image; of one that moves, the first frame.
 *
 * @param data The bytes of the file.
 * @param measures What `measureImage()` said of it; it must have been found small enough.
 * @returns The pixels as they are stored; undefined of a WebP, which nothing here can unpack.
 * @throws {ValueError} If the image is damaged, or would become larger than it says.
 */
export async function decodeImage(data: Uint8Array, measures: ImageMeasures): Promise<Pixels | undefined> {
  const isTurned = measures.orientation > 4;
  const stored = isTurned ? { w: measures.h, h: measures.w } : { w: measures.w, h: measures.h };
  try {
    if (measures.mimetype === "image/png") return await decodePng(data, stored);
    if (measures.mimetype === "image/jpeg") return await decodeJpeg(data, stored);
    if (measures.mimetype === "image/gif") return decodeGif(data, stored.w, stored.h);
    return undefined;
  } catch (cause) {
    if (cause instanceof ValueError) throw cause;
    throw new ValueError("Cannot decode the image: it is damaged", { cause });
  }
}

interface Size {
  readonly w: number;
  readonly h: number;
}

const bomb = () => new ValueError("Cannot decode the image: there is more in it than it says");

async function decodePng(data: Uint8Array, { w, h }: Size): Promise<Pixels> {
  const { bytes, packed, bits } = barePng(data);
  if (bits === 0) throw bomb();
  // Twice the rows, for those of an interlaced image are counted in each of its passes.
  await checkUnpacked(packed, 2 * (h + 8) * (1 + Math.ceil(w * bits / 8)));
  const { decode, convertIndexedToRgb } = await import("fast-png");
  const image = decode(bytes);
  if (image.width !== w || image.height !== h) throw bomb();
  const pixels = new Uint8ClampedArray(w * h * 4);
  if (image.palette !== undefined) {
    const alpha = image.palette.some((colour) => colour.length === 4) ? 4 : 3;
    fill(pixels, convertIndexedToRgb(image), { channels: alpha, depth: 8 });
  } else if (image.depth < 8) fill(pixels, unpackBits(image), { channels: 1, depth: 8 });
  else fill(pixels, image.data, image);
  return { w, h, data: pixels };
}

/** Checks that unpacking ends before it becomes too much, without keeping what comes out. */
async function checkUnpacked(packed: Uint8Array<ArrayBuffer>[], limit: number): Promise<void> {
  let size = 0;
  for await (const chunk of new Blob(packed).stream().pipeThrough(new DecompressionStream("deflate"))) {
    size += chunk.length;
    if (size > limit) throw bomb();
  }
}

/** Grey levels of less than a byte, one byte each. */
function unpackBits({ data, width, height, depth }: {
  readonly data: ArrayLike<number>;
  readonly width: number;
  readonly height: number;
  readonly depth: number;
}): Uint8Array {
  const levels = new Uint8Array(width * height);
  const perRow = Math.ceil(width * depth / 8);
  const most = (1 << depth) - 1;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const byte = data[y * perRow + Math.floor(x * depth / 8)] ?? 0;
      const level = (byte >> (8 - depth - x * depth % 8)) & most;
      levels[y * width + x] = Math.round(level * 255 / most);
    }
  }
  return levels;
}

/** Writes grey or coloured levels as red, green, blue and alpha. */
function fill(
  pixels: Uint8ClampedArray,
  levels: ArrayLike<number>,
  { channels, depth }: { readonly channels: number; readonly depth: number },
): void {
  const shift = depth === 16 ? 8 : 0;
  const isGrey = channels < 3;
  const hasAlpha = channels % 2 === 0;
  for (let from = 0, to = 0; to < pixels.length; from += channels, to += 4) {
    for (let colour = 0; colour < 3; colour++) {
      pixels[to + colour] = (levels[from + (isGrey ? 0 : colour)] ?? 0) >> shift;
    }
    pixels[to + 3] = hasAlpha ? (levels[from + channels - 1] ?? 0) >> shift : 255;
  }
}

async function decodeJpeg(data: Uint8Array, { w, h }: Size): Promise<Pixels> {
  const bare = bareJpeg(data);
  if (bare === undefined) throw bomb();
  const { default: jpeg } = await import("jpeg-js");
  const image = jpeg.decode(bare, {
    useTArray: true,
    formatAsRGBA: true,
    tolerantDecoding: false,
    maxResolutionInMP: Math.ceil(w * h / 1e6) + 1,
    maxMemoryUsageInMB: 2_048,
  });
  if (image.width !== w || image.height !== h) throw bomb();
  return { w, h, data: new Uint8ClampedArray(image.data.buffer, image.data.byteOffset, image.data.length) };
}
