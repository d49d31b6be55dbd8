/**
 * The chunks of a PNG.
 *
 * @see {@link https://www.w3.org/TR/png-3/#5DataRep | PNG: datastream structure}
 * @module
 */

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
const NEEDED = new Set(["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);

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
    if (NEEDED.has(type)) parts.push(bytes);
  }
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { bytes, packed, bits };
}

/** How many bits a pixel has, by depth and type of colour; 0: there are no such ones. */
function bitsPerPixel(header: DataView): number {
  const channels = [1, 0, 3, 1, 2, 0, 4][header.getUint8(9)] ?? 0;
  const depth = header.getUint8(8);
  return [1, 2, 4, 8, 16].includes(depth) ? depth * channels : 0;
}
