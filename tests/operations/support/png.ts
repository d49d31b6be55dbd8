/**
 * A picture that a server can make a thumbnail of.
 *
 * @module
 */

import { crc32, deflateSync } from "node:zlib";

/** A grey PNG image of a size in pixels. */
export function png(width: number, height: number): Uint8Array<ArrayBuffer> {
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, width);
  header.setUint32(4, height);
  header.setUint8(8, 8); // bits a sample; the rest is 0: grey, and no specialities
  const rows = new Uint8Array((width + 1) * height).fill(0x80);
  for (let row = 0; row < height; row++) rows[row * (width + 1)] = 0; // no filter
  return Uint8Array.from([
    ...[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    ...chunk("IHDR", new Uint8Array(header.buffer)),
    ...chunk("IDAT", deflateSync(rows)),
    ...chunk("IEND", new Uint8Array()),
  ]);
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(data.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(data, 8);
  view.setUint32(data.length + 8, crc32(bytes.subarray(4, data.length + 8)));
  return bytes;
}
