/**
 * What kind of image some bytes are, and how large it is: read from its head, without decoding it.
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";
import { colourTable, LITTLE_ENDIAN } from "./pixels.ts";
import { pngChunks } from "./image_parts.ts";

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
