/**
 * The pixels of images: the first frame of a GIF, and how an image is made smaller, and turned.
 * The libraries that there are for GIF do not end for some damaged files.
 *
 * @see {@link https://www.w3.org/Graphics/GIF/spec-gif89a.txt | GIF89a}
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";

/** An image in memory. */
export interface Pixels {
  /** The width, in pixels. */
  readonly w: number;
  /** The height, in pixels. */
  readonly h: number;
  /** Red, green, blue and alpha of each pixel, row by row. */
  readonly data: Uint8ClampedArray;
}

/**
 * Makes an image smaller until it fits, with its proportions: each pixel is the mean of those that
 * it stands for. One that fits stays as it is.
 */
export function shrink(image: Pixels, box: { readonly w: number; readonly h: number }): Pixels {
  const scale = Math.min(1, box.w / image.w, box.h / image.h);
  if (scale === 1) return image;
  const [w, h] = [Math.max(1, Math.round(image.w * scale)), Math.max(1, Math.round(image.h * scale))];
  const data = new Uint8ClampedArray(w * h * 4);
  for (let y = 0; y < h; y++) {
    const [top, bottom] = range(y, h, image.h);
    for (let x = 0; x < w; x++) {
      const [left, right] = range(x, w, image.w);
      mean(image, { left, right, top, bottom }, data.subarray((y * w + x) * 4));
    }
  }
  return { w, h, data };
}

/** Returns which of many stand behind one of few. */
function range(at: number, few: number, many: number): [from: number, to: number] {
  return [Math.floor(at * many / few), Math.floor((at + 1) * many / few)];
}

interface Area {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The mean of an area; what is not seen through counts more. */
function mean({ w, data }: Pixels, { left, right, top, bottom }: Area, to: Uint8ClampedArray): void {
  let [red, green, blue, alpha] = [0, 0, 0, 0];
  for (let y = top; y < bottom; y++) {
    for (let at = (y * w + left) * 4, end = (y * w + right) * 4; at < end; at += 4) {
      const weight = data[at + 3] ?? 0;
      red += (data[at] ?? 0) * weight;
      green += (data[at + 1] ?? 0) * weight;
      blue += (data[at + 2] ?? 0) * weight;
      alpha += weight;
    }
  }
  [to[0], to[1], to[2]] = [red / alpha, green / alpha, blue / alpha]; // where nothing is seen NaN, kept as 0
  to[3] = alpha / ((right - left) * (bottom - top));
}

/** Turns an image as Exif says it is to be shown. */
export function turn(image: Pixels, orientation: number): Pixels {
  if (orientation <= 1 || orientation > 8) return image;
  const isTurned = orientation > 4;
  const [w, h] = isTurned ? [image.h, image.w] : [image.w, image.h];
  const data = new Uint8ClampedArray(w * h * 4);
  const [right, bottom] = [image.w - 1, image.h - 1];
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      const [fromX, fromY] = source(orientation, x, y, right, bottom);
      const from = (fromY * image.w + fromX) * 4;
      data.set(image.data.subarray(from, from + 4), (y * w + x) * 4);
    }
  }
  return { w, h, data };
}

/** Returns where a pixel that is shown is stored. */
function source(
  orientation: number,
  x: number,
  y: number,
  right: number,
  bottom: number,
): [x: number, y: number] {
  switch (orientation) {
    case 2:
      return [right - x, y];
    case 3:
      return [right - x, bottom - y];
    case 4:
      return [x, bottom - y];
    case 5:
      return [y, x];
    case 6:
      return [y, bottom - x];
    case 7:
      return [right - y, bottom - x];
    default:
      return [right - y, x];
  }
}

/** Returns whether anything can be seen through an image. */
export function hasAlpha({ data }: Pixels): boolean {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 255) return true;
  return false;
}

/** Numbers of GIF and WebP begin with their lowest byte. */
export const LITTLE_ENDIAN = true;

/** How many bytes a table of colours takes, by the flags in front of it. */
export const colourTable = (flags: number): number => (flags & 0x80) === 0 ? 0 : 3 << ((flags & 7) + 1);

/** A frame, as it is described in front of its codes. */
interface Frame {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  readonly isInterlaced: boolean;
  /** Where its colours begin. */
  readonly colours: number;
  /** The colour that is none; -1 if all are. */
  readonly transparent: number;
  /** Where its codes begin. */
  readonly codes: number;
}

/** Where the rows of an interlaced frame begin, pass by pass, and how far they are apart. */
const PASSES = [[0, 8], [4, 8], [2, 4], [1, 2]] as const;

/**
 * Unpacks the first frame of a GIF.
 *
 * @param data The bytes of the file.
 * @param w The width of the image, as its head says.
 * @param h The height of the image, as its head says.
 * @throws {ValueError} If there is no frame, it is larger than the image, or it is cut off.
 */
export function decodeGif(data: Uint8Array, w: number, h: number): Pixels {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const frame = firstFrame(view);
  if (frame.x + frame.w > w || frame.y + frame.h > h) {
    throw new ValueError("Cannot decode the image: there is more in it than it says");
  }
  const indexes = unpack(data, frame.codes, frame.w * frame.h);
  const pixels = new Uint8ClampedArray(w * h * 4);
  const rows = frame.isInterlaced
    ? PASSES.flatMap(([from, step]) =>
      // A negative length gives none.
      Array.from({ length: Math.ceil((frame.h - from) / step) }, (_, at) => from + at * step)
    )
    : Array.from({ length: frame.h }, (_, at) => at);
  const colours = new Uint32Array(256);
  for (let index = 0; index < 256; index++) {
    if (index === frame.transparent) continue;
    const from = frame.colours + index * 3;
    const [red = 0, green = 0, blue = 0] = data.subarray(from, from + 3);
    new Uint8Array(colours.buffer).set([red, green, blue, 255], index * 4);
  }
  const whole = new Uint32Array(pixels.buffer);
  rows.forEach((row, at) => {
    const to = (frame.y + row) * w + frame.x;
    for (let column = 0; column < frame.w; column++) {
      whole[to + column] = colours[indexes[at * frame.w + column] ?? 0] ?? 0;
    }
  });
  return { w, h, data: pixels };
}

function firstFrame(view: DataView): Frame {
  let transparent = -1;
  for (let at = 13 + colourTable(view.getUint8(10));;) {
    const kind = view.getUint8(at);
    if (kind === 0x2c) {
      const flags = view.getUint8(at + 9);
      return {
        x: view.getUint16(at + 1, LITTLE_ENDIAN),
        y: view.getUint16(at + 3, LITTLE_ENDIAN),
        w: view.getUint16(at + 5, LITTLE_ENDIAN),
        h: view.getUint16(at + 7, LITTLE_ENDIAN),
        isInterlaced: (flags & 0x40) !== 0,
        colours: colourTable(flags) === 0 ? 13 : at + 10,
        transparent,
        codes: at + 10 + colourTable(flags),
      };
    }
    if (kind !== 0x21) throw new RangeError("No frame");
    if (view.getUint8(at + 1) === 0xf9 && (view.getUint8(at + 3) & 1) === 1) {
      transparent = view.getUint8(at + 6);
    }
    at += 2;
    while (view.getUint8(at) !== 0) at += 1 + view.getUint8(at);
    at++;
  }
}

const MAX_CODES = 4_096;

/** Unpacks codes of LZW, which grow with their number, into as many indexes of colours as there are. */
function unpack(data: Uint8Array, start: number, count: number): Uint8Array {
  const indexes = new Uint8Array(count);
  const smallest = data[start] ?? 0;
  if (smallest < 1 || smallest > 8) throw new RangeError("No size of codes");
  const [clear, end] = [1 << smallest, (1 << smallest) + 1];
  const prefixes = new Uint16Array(MAX_CODES);
  const suffixes = new Uint8Array(MAX_CODES);
  const stack = new Uint8Array(MAX_CODES + 1);
  for (let code = 0; code < clear; code++) suffixes[code] = code;
  let [next, size, previous, first] = [end + 1, smallest + 1, -1, 0];
  let [bits, known, at, left, written] = [0, 0, start + 1, 0, 0]; // `left` in the block, `known` of the bits
  while (written < count) {
    while (known < size) {
      if (left === 0) left = data[at++] ?? 0;
      if (left === 0 || at >= data.length) return indexes; // cut off: the rest stays of the first colour
      bits |= (data[at++] ?? 0) << known;
      known += 8;
      left--;
    }
    const code = bits & ((1 << size) - 1);
    bits >>>= size;
    known -= size;
    if (code === end) return indexes;
    if (code === clear) {
      [next, size, previous] = [end + 1, smallest + 1, -1];
      continue;
    }
    if (code > next || (code === next && previous < 0)) throw new RangeError("No such code");
    let depth = 0;
    let each = code;
    if (code === next) {
      stack[depth++] = first;
      each = previous;
    }
    while (each > end) {
      stack[depth++] = suffixes[each] ?? 0;
      each = prefixes[each] ?? 0;
    }
    first = suffixes[each] ?? 0;
    stack[depth++] = first;
    if (previous >= 0 && next < MAX_CODES) {
      prefixes[next] = previous;
      suffixes[next++] = first;
      if (next === 1 << size && size < 12) size++;
    }
    previous = code;
    while (depth > 0 && written < count) indexes[written++] = stack[--depth] ?? 0;
  }
  return indexes;
}
