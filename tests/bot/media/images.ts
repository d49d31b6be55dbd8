import { encode } from "fast-png";
import jpeg from "jpeg-js";
import { GifWriter } from "omggif";

/** A pixel at a place. */
export type Paint = (
  x: number,
  y: number,
) => readonly [red: number, green: number, blue: number, alpha?: number];

/** Red on the left, blue on the right. */
export const twoColours = (w: number): Paint => (x) => x < w / 2 ? [255, 0, 0] : [0, 0, 255];

export function rgba(w: number, h: number, paint: Paint): Uint8Array {
  const data = new Uint8Array(w * h * 4);
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      const [red, green, blue, alpha = 255] = paint(x, y);
      data.set([red, green, blue, alpha], (y * w + x) * 4);
    }
  }
  return data;
}

export function png(w: number, h: number, paint: Paint = twoColours(w)): Uint8Array {
  return encode({ width: w, height: h, data: rgba(w, h, paint), channels: 4, depth: 8 });
}

/** A chunk of a PNG; its checksum is wrong unless it is given. */
export function pngChunk(type: string, data: Uint8Array, checksum = 0): Uint8Array {
  const chunk = new Uint8Array(12 + data.length);
  const view = new DataView(chunk.buffer);
  view.setUint32(0, data.length);
  chunk.set(new TextEncoder().encode(type), 4);
  chunk.set(data, 8);
  view.setUint32(8 + data.length, checksum);
  return chunk;
}

export async function deflate(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return await new Response(new Blob([data]).stream().pipeThrough(new CompressionStream("deflate"))).bytes();
}

/** The IEEE checksum of a chunk's type and data. */
export function crc(bytes: Uint8Array): number {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

export function concat(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** A PNG of chunks with right checksums. */
export function pngOf(
  ...chunks: readonly (readonly [type: string, data: Uint8Array])[]
): Uint8Array<ArrayBuffer> {
  const signature = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return concat(
    signature,
    ...chunks.map(([type, data]) => pngChunk(type, data, crc(concat(new TextEncoder().encode(type), data)))),
  );
}

export function pngHeader(w: number, h: number, depth = 8, colour = 6): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, w);
  view.setUint32(4, h);
  header.set([depth, colour], 8);
  return header;
}

/** What Exif data says of an orientation, behind its head. */
export function tiff(orientation: number): number[] {
  return [
    ...[0x49, 0x49, 42, 0, 8, 0, 0, 0],
    ...[1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0],
    0,
    0,
    0,
    0,
  ];
}

/** A JPEG, with the orientation that a camera noted. */
export function jpg(w: number, h: number, orientation?: number, paint: Paint = twoColours(w)): Uint8Array {
  const bytes = Uint8Array.from(jpeg.encode({ width: w, height: h, data: rgba(w, h, paint) }, 90).data);
  if (orientation === undefined) return bytes;
  const exif = [...new TextEncoder().encode("Exif"), 0, 0, ...tiff(orientation)];
  return concat(
    bytes.subarray(0, 2),
    Uint8Array.from([0xff, 0xe1, 0, exif.length + 2, ...exif]),
    bytes.subarray(2),
  );
}

export function gif(w: number, h: number, frames = 1): Uint8Array {
  const buffer = new Uint8Array(1_000 + w * h * 2 * frames);
  const writer = new GifWriter(buffer, w, h, { palette: [0xff0000, 0x0000ff], loop: frames > 1 ? 0 : null });
  const paint = twoColours(w);
  const indexes = Array.from({ length: w * h }, (_, at) => paint(at % w, 0)[0] === 255 ? 0 : 1);
  for (let frame = 0; frame < frames; frame++) writer.addFrame(0, 0, w, h, indexes, { delay: 10 });
  return buffer.slice(0, writer.end());
}

/** The head of a WebP. */
export function webp(kind: "VP8 " | "VP8L" | "VP8X", ...bytes: number[]): Uint8Array {
  const text = (text: string) => [...new TextEncoder().encode(text)];
  const length = (bytes: number) => [bytes, 0, 0, 0];
  return Uint8Array.from([
    ...text("RIFF"),
    ...length(0),
    ...text(`WEBP${kind}`),
    ...length(bytes.length),
    ...bytes,
  ]);
}

/** A number of a JPEG, in two bytes. */
export const word = (value: number): [high: number, low: number] => [value >> 8, value & 255];

/** A segment of a JPEG, with its length. */
export const segment = (marker: number, content: readonly number[]): Uint8Array =>
  Uint8Array.of(0xff, marker, ...word(content.length + 2), ...content);
