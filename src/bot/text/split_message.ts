/**
 * Long Markdown in pieces.
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";
import { type Fence, fenceBehind, MAX_FENCE_LINE } from "./fences.ts";

/**
 * How long a piece is by default, in bytes.
 *
 * An event has at most 65,536 bytes. Encrypted, what is in it takes four thirds of its length, and
 * servers add some thousand bytes; so 46,000 bytes of JSON remain. Each text is in there as
 * Markdown and as HTML, which is seldom twice as long, and in an edit all that twice: 6 × 7,500
 * bytes are 45,000.
 */
export const PIECE_BYTES = 7_500;

/** The shortest pieces that can be asked for: a code block must fit in with its fences. */
const MIN_BYTES = 64;

const QUOTE = /^(?: {0,3}>){1,8} ?/;

/** A place to end a piece, and where to go on behind it. */
interface Cut {
  readonly at: number;
  readonly next: number;
  readonly fence: Fence | undefined;
  /** What the next piece begins with, if a line was cut. */
  readonly prefix: string;
}

/**
 * Splits Markdown where it may be split best: between paragraphs, else between lines, else between
 * words, and within a word only if it is longer than a piece; never within a character. A code
 * block that is split is closed, and opened again with its language; a quote goes on as a quote.
 *
 * Nothing but white space at the cuts is lost. The time is linear in the length of the text.
 *
 * @param markdown What to split.
 * @param limit How many bytes of UTF-8 a piece may have, at least 64. Default: 7,500, with which a
 *   message fits into an encrypted event even as an edit.
 * @returns The pieces, in order; one if it is short enough, and none that is blank.
 * @throws {ValueError} If the limit is no integer, or too low.
 * @example
 * ```ts
 * import { splitMessage } from "@greenroom/matrix/bot";
 *
 * const act = "To be, or not to be. ".repeat(3).trim();
 * console.assert(splitMessage(`${act}\n\n${act}`, 100).join("|") === `${act}|${act}`);
 * ```
 */
export function splitMessage(markdown: string, limit: number = PIECE_BYTES): string[] {
  if (!Number.isInteger(limit) || limit < MIN_BYTES) {
    throw new ValueError(
      `Cannot split a message into pieces of ${limit} bytes: give an integer from ${MIN_BYTES} on`,
    );
  }
  const text = markdown.toWellFormed().replaceAll("\r\n", "\n");
  const pieces: string[] = [];
  let start = 0;
  let fence: Fence | undefined;
  let prefix = "";
  while (start < text.length) {
    const head = fence === undefined ? prefix : `${fence.opening}\n${prefix}`;
    const cut = findCut(text, start, limit - byteLength(head), fence);
    const body = text.slice(start, cut.at);
    const isOpen = cut.fence !== undefined && cut.at < text.length;
    const whole = isOpen ? `${body.trimEnd()}\n${cut.fence?.prefix}${cut.fence?.mark}` : body;
    if (body.trim() !== "") pieces.push(trimmed(head + whole, fence !== undefined));
    [start, fence, prefix] = [cut.next, cut.fence, cut.prefix];
  }
  return pieces;
}

/** Blank lines around a piece are nothing; spaces in front of its first line may be code. */
function trimmed(piece: string, isCode: boolean): string {
  return (isCode ? piece : piece.replace(/^(?:[ \t]*\n)+/, "")).trimEnd();
}

/** Finds where to end the piece that begins at a place, in the state that is there. */
function findCut(text: string, start: number, room: number, before: Fence | undefined): Cut {
  let fence = before;
  let paragraph: Cut | undefined;
  let line: Cut | undefined;
  let used = 0;
  let at = start;
  while (true) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    const found = fenceBehind(text.slice(at, Math.min(end, at + MAX_FENCE_LINE)), fence);
    const fits = fitting(text, at, end, room - used - Math.max(closing(fence), closing(found)));
    if (fits.at < end) {
      const early = Math.floor(room / 4); // a piece should not be tiny for the sake of its end
      if (paragraph !== undefined && paragraph.at - start >= early) return paragraph;
      if (line !== undefined && line.at > start) return line;
      return cutLine(text, at, fits.at, fence);
    }
    const opens = fence === undefined && found !== undefined;
    if (opens && at > start) {
      // A code block is not begun at the end of a piece, if it does not fit in there with a line.
      const next = text.indexOf("\n", end + 1);
      const first = fitting(text, at, next < 0 ? text.length : next, room - used - 40);
      if (first.at < (next < 0 ? text.length : next) && line !== undefined) return paragraph ?? line;
    }
    fence = found;
    used += fits.bytes + 1;
    if (newline < 0) return { at: end, next: end, fence, prefix: "" };
    line = { at: end, next: end + 1, fence, prefix: "" };
    if (fence === undefined && text.startsWith("\n", end + 1)) paragraph = line;
    at = end + 1;
  }
}

/** How many bytes it takes to close a block of code. */
function closing(fence: Fence | undefined): number {
  return fence === undefined ? 0 : 1 + fence.prefix.length + fence.mark.length;
}

/** Cuts within a line: at the last space, or else where the room ends. */
function cutLine(text: string, lineStart: number, end: number, fence: Fence | undefined): Cut {
  const quote = fence === undefined ? QUOTE.exec(text.slice(lineStart, lineStart + 64))?.[0] ?? "" : "";
  const least = lineStart + Math.floor((end - lineStart) / 2);
  for (let at = end; at > least; at--) {
    if (text[at] === " ") return { at, next: at + (fence === undefined ? 1 : 0), fence, prefix: quote };
  }
  return { at: end, next: end, fence, prefix: quote };
}

/** How far a text from a place on fits into some bytes: always a whole character, at least one. */
function fitting(text: string, start: number, end: number, room: number): { at: number; bytes: number } {
  let bytes = 0;
  for (let at = start; at < end;) {
    const code = text.codePointAt(at) ?? 0;
    const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes + size > room) return { at, bytes };
    bytes += size;
    at += size === 4 ? 2 : 1;
  }
  return { at: end, bytes };
}

const encoder = new TextEncoder();

/** How long a text is in UTF-8. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}
