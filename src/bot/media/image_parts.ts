/**
 * The chunks of a PNG.
 *
 * @see {@link https://www.w3.org/TR/png-3/#5DataRep | PNG: datastream structure}
 * @module
 */

import { concat } from "@std/bytes/concat";
/** A part of a PNG. */
export interface PngChunk {
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
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { bytes, packed, bits };
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
