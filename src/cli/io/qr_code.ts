/**
 * QR codes in a terminal.
 *
 * @module
 */

import { hasNoColor } from "./system.ts";

/** White on black, whatever colours the terminal has: a code the other way round is not read by all. */
const [BEGIN, END] = ["\x1b[97;40m", "\x1b[0m"];

/** Draws bytes as a QR code; undefined: the terminal is too narrow. */
export async function drawnCode(
  bytes: Uint8Array,
  { columns }: { readonly columns: number },
): Promise<readonly string[] | undefined> {
  const { renderUnicodeCompact } = await import("uqr");
  const lines = renderUnicodeCompact(Array.from(bytes), { ecc: "L", border: 2 }).split("\n");
  if (lines.some((line) => line.length > columns)) return undefined;
  return hasNoColor() ? lines : lines.map((line) => `${BEGIN}${line}${END}`);
}
