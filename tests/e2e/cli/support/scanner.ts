/**
 * A camera in front of a terminal.
 *
 * @module
 */

import jsqr from "jsqr";

/** How many pixels a module of a code has across, when it is looked at. */
const SCALE = 4;

/** The bytes of a QR code in the cells of a terminal: two modules a character, one above the other. */
export function scanned(shown: string): Uint8Array {
  const rows = shown.split(/\r?\n/).map((line) => line.trim()).filter((line) => /^[█▀▄ ]{20,}$/.test(line));
  const width = Math.max(...rows.map((row) => row.length));
  const bits = rows.flatMap((row) => {
    const cells = [...row.padEnd(width)];
    return [
      cells.map((cell) => cell === "█" || cell === "▀"),
      cells.map((cell) => cell === "█" || cell === "▄"),
    ];
  });
  const pixels = new Uint8ClampedArray(width * bits.length * SCALE * SCALE * 4);
  const across = width * SCALE;
  for (let y = 0; y < bits.length * SCALE; y++) {
    for (let x = 0; x < across; x++) {
      const isLight = bits[Math.floor(y / SCALE)]?.[Math.floor(x / SCALE)] ?? true;
      pixels.set(isLight ? [255, 255, 255, 255] : [0, 0, 0, 255], (y * across + x) * 4);
    }
  }
  const found = jsqr.default(pixels, across, bits.length * SCALE);
  if (found === null) throw new Error(`That is no QR code:\n${shown}`);
  return new Uint8Array(found.binaryData);
}
