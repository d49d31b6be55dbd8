/**
 * All that a message says of an image that it carries.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mimage | m.image}
 * @module
 */

import { ValueError } from "../../../mod.ts";
import type { ImageInfo, ThumbnailInfo } from "../../../types.ts";
import { checkOptions } from "../../errors/known_names.ts";
import { decodeGif, hasAlpha, type Pixels, shrink, turn } from "./pixels.ts";
import { bareJpeg, barePng, type ImageMeasures, measureImage } from "./measure_image.ts";

export { type ImageMeasures, measureImage } from "./measure_image.ts";

/** What is known of an image, with what is shown until it has been loaded. */
export interface DescribedImageInfo extends ImageInfo {
  /** The colours of the image in a few letters, as MSC2448 has them. */
  "xyz.amorgan.blurhash"?: string;
}

/** The result of {@link describeImage}. */
export interface DescribedImage {
  /** What is known of the image: for `sendImage()`. */
  readonly info: DescribedImageInfo;
  /** A smaller version: for `sendImage()`. Default: none, the image is small, or can't be decoded. */
  readonly thumbnail?: { readonly data: Uint8Array<ArrayBuffer>; readonly info: ThumbnailInfo };
}

/** Options of {@link describeImage}. */
export interface DescribeImageOptions {
  /** Whether to decode the image, for a thumbnail and a blurhash. Default: `true`. */
  thumbnail?: boolean;
  /**
   * Images with more pixels are measured, but not decoded, which takes up to 40 bytes of memory and
   * 0.1 µs of time for each pixel. From 1 to 40,000,000. Default: 16,000,000.
   */
  maxPixels?: number;
}

const MAX_PIXELS = 40_000_000;
const DEFAULT_PIXELS = 16_000_000;
/** What thumbnails have to fit into, in pixels; clients show none that is larger. */
const BOX = { w: 800, h: 600 };
/** A file that is no larger is its own thumbnail if it fits into the box. */
const SMALL_FILE = 100 * 1024;
const JPEG_QUALITY = 80;
/** How much of a PNG is unpacked at once, in bytes: what comes of it is 4 MiB at most. */
const SLICE = 4 * 1024;

/**
 * Measures an image, and makes a thumbnail and a blurhash of it, if it is a PNG, a JPEG or a GIF.
 * What it is shows in its bytes; its name is not asked.
 *
 * The program stands still while it decodes, for about a second if it is a photo of 12 megapixels.
 * Nothing is decoded that has more pixels than `maxPixels`, and an image that is damaged beyond its
 * measures has just these. The libraries that decode are loaded at the first image.
 *
 * @param data The bytes of the file.
 * @param options Whether and up to which size to decode it.
 * @throws {ValueError} If it is no PNG, JPEG, GIF or WebP, its head is damaged, or `maxPixels` is
 *   out of range.
 * @example
 * ```ts
 * import { describeImage } from "@greenroom/matrix/bot";
 *
 * const gif = Uint8Array.from([
 *   ...new TextEncoder().encode("GIF89a"), 1, 0, 1, 0, 0x80, 0, 0, 255, 255, 255, 0, 0, 0,
 *   0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3b,
 * ]);
 * const { info } = await describeImage(gif);
 * console.assert(info.mimetype === "image/gif" && info.w === 1 && info.size === gif.length);
 * ```
 */
export async function describeImage(
  data: Uint8Array,
  options: DescribeImageOptions = {},
): Promise<DescribedImage> {
  checkOptions(options, { thumbnail: true, maxPixels: true }, "describe an image");
  const { thumbnail = true, maxPixels = DEFAULT_PIXELS } = options;
  if (!(maxPixels >= 1 && maxPixels <= MAX_PIXELS)) {
    throw new ValueError(
      `Cannot describe the image: maxPixels is ${maxPixels}, and not from 1 to ${MAX_PIXELS}`,
    );
  }
  const measures = measureImage(data);
  const { mimetype, w, h, isAnimated } = measures;
  const info: DescribedImageInfo = {
    mimetype,
    size: data.length,
    w,
    h,
    ...(isAnimated && { is_animated: true }),
  };
  if (!thumbnail || w * h > maxPixels) return { info };
  // A damaged image goes without: others may show it all the same.
  const decoded = await decodeImage(data, measures).catch(() => undefined);
  if (decoded === undefined) return { info };
  const box = measures.orientation > 4 ? { w: BOX.h, h: BOX.w } : BOX;
  const small = turn(shrink(decoded, box), measures.orientation);
  info["xyz.amorgan.blurhash"] = await blurhash(small);
  if (w <= BOX.w && h <= BOX.h && data.length <= SMALL_FILE) return { info };
  const made = await encode(small);
  if (made.data.length >= data.length) return { info };
  return { info, thumbnail: made };
}

async function encode(image: Pixels): Promise<NonNullable<DescribedImage["thumbnail"]>> {
  const { w, h } = image;
  const [mimetype, data] = hasAlpha(image)
    ? [
      "image/png",
      (await import("fast-png")).encode({ width: w, height: h, data: image.data, channels: 4, depth: 8 }),
    ]
    : [
      "image/jpeg",
      (await import("jpeg-js")).default.encode({ width: w, height: h, data: image.data }, JPEG_QUALITY).data,
    ];
  return { data: Uint8Array.from(data), info: { mimetype, size: data.length, w, h } };
}

async function blurhash(image: Pixels): Promise<string> {
  const { encode } = await import("blurhash");
  const { w, h, data } = shrink(image, { w: 32, h: 32 });
  return w >= h ? encode(data, w, h, 4, 3) : encode(data, w, h, 3, 4);
}

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
  const unpacked = ReadableStream.from(slices(packed)).pipeThrough(new DecompressionStream("deflate"));
  for await (const chunk of unpacked) {
    size += chunk.length;
    if (size > limit) throw bomb();
  }
}

/** Small pieces: what comes out of one, up to a thousand times as much, is there at once. */
function* slices(parts: readonly Uint8Array<ArrayBuffer>[]): Generator<Uint8Array<ArrayBuffer>> {
  for (const part of parts) {
    for (let at = 0; at < part.length; at += SLICE) yield part.subarray(at, at + SLICE);
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
