/**
 * What kind of image some bytes are, and how large it is: read from its head, for PNG from its chunks,
 * without decoding it.
 *
 * @see {@link https://www.w3.org/TR/png-3/#5DataRep | PNG: datastream structure}
 *
 * Over 300 lines because each format of images has its few lines.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { ValueError } from "../../../mod.ts";
import { colourTable, LITTLE_ENDIAN } from "./pixels.ts";

/** The result of {@link measureImage}. */
export interface ImageMeasures {
  /** The media type, by what the bytes are and not by what they are called. */
  readonly mimetype: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  /** The width as it is shown, in pixels. */
  readonly w: number;
  /** The height as it is shown, in pixels. */
  readonly h: number;
  /** Whether the image is animated. */
  readonly isAnimated: boolean;
  /** How to turn what is stored, as Exif counts it: from 1, not at all, to 8. */
  readonly orientation: number;
}

/** Measures as they are stored, in front of what turns them. */
type Stored = Omit<ImageMeasures, "orientation"> & { readonly orientation?: number };

/**
 * Measures an image: PNG, JPEG, GIF or WebP. The rotation that a camera noted in its Exif data is
 * taken into account.
 *
 * @param data The bytes of the file.
 * @throws {ValueError} If it is no such image, or its head is damaged.
 * @example
 * ```ts
 * import { measureImage } from "@greenroom/matrix/bot";
 *
 * const gif = new Uint8Array([...new TextEncoder().encode("GIF89a"), 3, 0, 2, 0, 0, 0, 0, 0x3b]);
 * const { mimetype, w, h } = measureImage(gif);
 * console.assert(mimetype === "image/gif" && w === 3 && h === 2);
 * ```
 */
export function measureImage(data: Uint8Array): ImageMeasures {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let found: Stored | undefined;
  try {
    found = measurePng(data) ?? measureJpeg(view) ?? measureGif(view) ?? measureWebp(view);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new ValueError("Cannot measure the image: it ends too early, or is damaged", { cause });
  }
  if (found === undefined) {
    throw new ValueError("Cannot measure the image: it is no PNG, JPEG, GIF or WebP; send it as a file");
  }
  const { w, h, orientation = 1 } = found;
  if (w === 0 || h === 0) throw new ValueError("Cannot measure the image: its width or height is 0");
  return orientation > 4 ? { ...found, w: h, h: w, orientation } : { ...found, orientation };
}

function measurePng(data: Uint8Array): Stored | undefined {
  let size: { w: number; h: number } | undefined;
  let isAnimated = false;
  let isInData = false;
  let orientation: number | undefined;
  for (const { type, view } of pngChunks(data) ?? []) {
    if (type === "IHDR") size ??= { w: view.getUint32(0), h: view.getUint32(4) };
    else if (type === "acTL" && !isInData) isAnimated = view.getUint32(0) > 1;
    else if (type === "eXIf") orientation ??= tiffOrientation(view);
    else if (type === "IDAT") isInData = true;
  }
  return size && { mimetype: "image/png", ...size, isAnimated, orientation };
}

/** Frames of JPEG: all but tables (C4, C8) and conditions (CC). */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function measureJpeg(view: DataView): Stored | undefined {
  if (view.byteLength < 3 || view.getUint16(0) !== 0xffd8 || view.getUint8(2) !== 0xff) return undefined;
  let orientation: number | undefined;
  for (let at = 2;;) {
    if (view.getUint8(at) !== 0xff) throw new RangeError("No marker");
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at++; // padding
      continue;
    }
    if (isFrame(marker)) {
      return {
        mimetype: "image/jpeg",
        w: view.getUint16(at + 7),
        h: view.getUint16(at + 5),
        isAnimated: false,
        orientation,
      };
    }
    const length = view.getUint16(at + 2);
    if (marker === 0xe1) orientation ??= exifOrientation(part(view, at + 4, length - 2));
    at += 2 + length; // a length below 2 leads to a byte that is no marker
  }
}

const hasBytes = (view: DataView, end: number) => end <= view.byteLength;
const part = (view: DataView, start: number, length: number) =>
  new DataView(view.buffer, view.byteOffset + start, length);

const EXIF = 0x45786966;
const EXIF_CHUNK = 0x45584946;

/** The orientation that Exif names behind its head; undefined if it names none that is one. */
function exifOrientation(view: DataView): number | undefined {
  const isExif = view.byteLength >= 6 && view.getUint32(0) === EXIF;
  return isExif ? tiffOrientation(part(view, 6, view.byteLength - 6)) : undefined;
}

/** The same, of what follows the head. */
function tiffOrientation(view: DataView): number | undefined {
  if (view.byteLength < 8) return undefined;
  const little = view.getUint16(0) === 0x4949;
  const directory = view.getUint32(4, little);
  if (!hasBytes(view, directory + 2)) return undefined;
  const entries = view.getUint16(directory, little);
  for (let at = directory + 2, left = entries; left > 0 && hasBytes(view, at + 12); at += 12, left--) {
    if (view.getUint16(at, little) !== 0x0112) continue;
    const value = view.getUint16(at + 8, little);
    return value >= 1 && value <= 8 ? value : undefined;
  }
  return undefined;
}

function measureGif(view: DataView): Stored | undefined {
  if (view.byteLength < 6 || view.getUint32(0) !== 0x47494638) return undefined;
  const [w, h, flags] = [
    view.getUint16(6, LITTLE_ENDIAN),
    view.getUint16(8, LITTLE_ENDIAN),
    view.getUint8(10),
  ];
  return { mimetype: "image/gif", w, h, isAnimated: hasTwoFrames(view, 13 + colourTable(flags)) };
}

function hasTwoFrames(view: DataView, start: number): boolean {
  let frames = 0;
  let at = start;
  while (at < view.byteLength) {
    const kind = view.getUint8(at);
    if (kind === 0x2c) {
      if (++frames === 2) return true;
      if (at + 10 > view.byteLength) return false;
      at += 11 + colourTable(view.getUint8(at + 9));
    } else if (kind === 0x21) at += 2;
    else return false;
    while (at < view.byteLength && view.getUint8(at) !== 0) at += 1 + view.getUint8(at);
    at++;
  }
  return false;
}

function measureWebp(view: DataView): Stored | undefined {
  if (view.byteLength < 16 || view.getUint32(0) !== 0x52494646 || view.getUint32(8) !== 0x57454250) {
    return undefined;
  }
  const size = (w: number, h: number, isAnimated = false): Stored => ({
    mimetype: "image/webp",
    w,
    h,
    isAnimated,
  });
  switch (view.getUint32(12)) {
    case 0x56503820: // VP8, after its start code
      if ((view.getUint32(22) & 0xffffff) !== 0x9d012a) throw new RangeError("No start code");
      return size(view.getUint16(26, LITTLE_ENDIAN) & 0x3fff, view.getUint16(28, LITTLE_ENDIAN) & 0x3fff);
    case 0x5650384c: { // VP8L
      if (view.getUint8(20) !== 0x2f) throw new RangeError("No signature");
      const bits = view.getUint32(21, LITTLE_ENDIAN);
      return size((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
    }
    case 0x56503858: { // VP8X
      const [w, h] = [view.getUint32(23, LITTLE_ENDIAN) >>> 8, view.getUint32(26, LITTLE_ENDIAN) >>> 8];
      return { ...size(w + 1, h + 1, (view.getUint8(20) & 2) !== 0), orientation: webpOrientation(view) };
    }
    default:
      return undefined;
  }
}

/** Reads the chunk with Exif data, which stands behind the image. */
function webpOrientation(view: DataView): number | undefined {
  for (let at = 12; hasBytes(view, at + 8);) {
    const length = view.getUint32(at + 4, LITTLE_ENDIAN);
    if (!hasBytes(view, at + 8 + length)) return undefined;
    if (view.getUint32(at) === EXIF_CHUNK) {
      const exif = part(view, at + 8, length); // most write no head in front, some do
      return exifOrientation(exif) ?? tiffOrientation(exif);
    }
    at += 8 + length + length % 2;
  }
  return undefined;
}

/** A part of a PNG. */
interface PngChunk {
  /** What it is: four letters. */
  readonly type: string;
  /** What is in it. */
  readonly view: DataView;
  /** All of it, with length and checksum. */
  readonly bytes: Uint8Array;
}

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** What is needed to see the first image. What else there is may be packed to grow without end. */
const NEEDED_CHUNKS = new Set(["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);

/**
 * Goes through the chunks of a PNG.
 *
 * @param data The bytes of a file.
 * @returns The chunks, until the data ends or makes no sense; undefined if it is no PNG.
 */
export function pngChunks(data: Uint8Array): Iterable<PngChunk> | undefined {
  return SIGNATURE.every((byte, at) => data[at] === byte) ? chunksOf(data) : undefined;
}

function* chunksOf(data: Uint8Array): Generator<PngChunk> {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (let at = SIGNATURE.length; at + 12 <= data.length;) {
    const length = view.getUint32(at);
    if (at + 12 + length > data.length) return;
    const type = String.fromCharCode(...data.subarray(at + 4, at + 8));
    yield {
      type,
      view: new DataView(data.buffer, data.byteOffset + at + 8, length),
      bytes: data.subarray(at, at + 12 + length),
    };
    if (type === "IEND") return;
    at += 12 + length;
  }
}

/**
 * A PNG with nothing in it but what its first image needs.
 *
 * @param data The bytes of a PNG.
 * @returns The smaller file, and how it packs its pixels.
 */
export function barePng(
  data: Uint8Array,
): { bytes: Uint8Array; packed: Uint8Array<ArrayBuffer>[]; bits: number } {
  const parts: Uint8Array[] = [Uint8Array.from(SIGNATURE)];
  const seen = new Set<string>();
  const packed: Uint8Array<ArrayBuffer>[] = [];
  let bits = 0;
  for (const { type, view, bytes } of pngChunks(data) ?? []) {
    if (type !== "IDAT" && seen.has(type)) continue; // the first counts, as for its measures
    seen.add(type);
    if (type === "IHDR") bits = bitsPerPixel(view);
    if (type === "IDAT") packed.push(Uint8Array.from(bytes.subarray(8, -4)));
    if (NEEDED_CHUNKS.has(type)) parts.push(bytes);
  }
  return { bytes: concat(parts), packed, bits };
}

/** Returns the bits of a pixel, by depth and type of colour; 0: there are no such ones. */
function bitsPerPixel(header: DataView): number {
  const channels = [1, 0, 3, 1, 2, 0, 4][header.getUint8(9)] ?? 0;
  const depth = header.getUint8(8);
  return [1, 2, 4, 8, 16].includes(depth) ? depth * channels : 0;
}

/** How often a JPEG may go over its pixels; programs that make them do it some ten times. */
const MAX_SCANS = 40;
/** How often it may go over each coefficient; programs that make them do it up to five times. */
const MAX_PASSES = 10;
/** How many blocks may stand for one place, as the specification has it. */
const MAX_BLOCKS = 10;
const COEFFICIENTS = 64;

/** A frame, as its header describes it. */
interface Frame {
  readonly isProgressive: boolean;
  /** How many blocks of 64 coefficients each component has, by its name. */
  readonly blocks: ReadonlyMap<number, number>;
}

/**
 * A JPEG with nothing in it but what its pixels need, if unpacking them takes no more memory and time than
 * an image of its size may: one frame, few components, no scan without end.
 *
 * @param data The bytes of a JPEG.
 * @returns The smaller file; undefined if there is more in it than in an image, or less than its head says.
 * @throws {RangeError} If it ends too early.
 */
export function bareJpeg(data: Uint8Array): Uint8Array | undefined {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const parts = [data.subarray(0, 2)];
  let frame: Frame | undefined;
  let [scans, steps, packed] = [0, 0, 0];
  for (let at = 2;;) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at++; // padding
      continue;
    }
    if (marker === 0xd9) break;
    const end = at + 2 + view.getUint16(at + 2);
    if (end > data.length) return undefined;
    const content = data.subarray(at + 4, end);
    if (marker >= 0xc0 && marker <= 0xc2) {
      frame = frameOf(content, { isProgressive: marker === 0xc2 });
      if (frame === undefined) return undefined;
    }
    if (NEEDED_SEGMENTS.has(marker)) parts.push(data.subarray(at, end));
    at = end;
    if (marker !== 0xda) continue;
    const cost = frame && scanSteps(frame, content);
    if (cost === undefined || ++scans > MAX_SCANS) return undefined;
    steps += cost;
    at = endOfScan(data, end);
    parts.push(data.subarray(end, at));
    packed += at - end;
  }
  const blocks = frame === undefined ? 0 : sum(frame.blocks.values());
  // Each block takes a bit at least, in the scan that begins it.
  if (steps > MAX_PASSES * COEFFICIENTS * blocks || packed * 8 < blocks) return undefined;
  const bare = concat([...parts, Uint8Array.of(0xff, 0xd9)]);
  // What else looks like a frame or a scan could be taken for one.
  return count(bare, [0xc0, 0xc1, 0xc2]) === 1 && count(bare, [0xda]) === scans ? bare : undefined;
}

/** Frames, tables, restarts, scans, and what Adobe says of the colours. */
const NEEDED_SEGMENTS = new Set([0xc0, 0xc1, 0xc2, 0xc4, 0xdb, 0xdd, 0xda, 0xee]);

function frameOf(
  header: Uint8Array,
  { isProgressive }: { readonly isProgressive: boolean },
): Frame | undefined {
  const [precision, high = 0, low = 0, left = 0, right = 0, count = 0] = header;
  if (precision !== 8 || ![1, 3, 4].includes(count) || header.length !== 6 + 3 * count) return undefined;
  const components = Array.from({ length: count }, (_, at) => {
    const [name = 0, sampling = 0] = header.subarray(6 + 3 * at);
    return { name, across: sampling >> 4, down: sampling & 15 };
  });
  if (components.some(({ across, down }) => across < 1 || across > 4 || down < 1 || down > 4)) {
    return undefined;
  }
  if (sum(components.map(({ across, down }) => across * down)) > MAX_BLOCKS) return undefined;
  const columns = Math.ceil((left * 256 + right) / 8 / Math.max(...components.map(({ across }) => across)));
  const rows = Math.ceil((high * 256 + low) / 8 / Math.max(...components.map(({ down }) => down)));
  const blocks = new Map(
    components.map(({ name, across, down }) => [name, columns * across * rows * down] as const),
  );
  return blocks.size === count ? { isProgressive, blocks } : undefined;
}

/** Counts the coefficients that a scan goes over; undefined if its header makes no sense. */
function scanSteps({ isProgressive, blocks }: Frame, header: Uint8Array): number | undefined {
  const [count = 0] = header;
  if (count < 1 || header.length !== 4 + 2 * count) return undefined;
  const names = new Set(Array.from({ length: count }, (_, at) => header[1 + 2 * at] ?? -1));
  if (names.size !== count || [...names].some((name) => !blocks.has(name))) return undefined;
  const [from = 0, to = 0] = header.subarray(1 + 2 * count);
  if (to >= COEFFICIENTS || from > to) return undefined;
  return sum([...names].map((name) => blocks.get(name) ?? 0)) *
    (isProgressive ? to - from + 1 : COEFFICIENTS);
}

/** Finds the end of a scan's data: a marker that is none of its own. */
function endOfScan(data: Uint8Array, start: number): number {
  for (let at = data.indexOf(0xff, start); at >= 0; at = data.indexOf(0xff, at + 1)) {
    const next = data[at + 1] ?? 0;
    if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at;
  }
  return data.length;
}

function count(data: Uint8Array, markers: readonly number[]): number {
  let found = 0;
  for (let at = data.indexOf(0xff); at >= 0; at = data.indexOf(0xff, at + 1)) {
    if (markers.includes(data[at + 1] ?? 0)) found++;
  }
  return found;
}

function sum(numbers: Iterable<number>): number {
  let all = 0;
  for (const each of numbers) all += each;
  return all;
}
