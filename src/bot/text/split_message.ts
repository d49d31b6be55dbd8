/**
 * Long Markdown in pieces.
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";
import { type Fence, fenceBehind, MAX_FENCE_LINE } from "./close_markdown.ts";

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

/** The longest header of a table that is repeated, as a part of a piece: one fourth. */
const HEADS_PER_PIECE = 4;

/** What a piece begins in. */
interface State {
  readonly fence: Fence | undefined;
  /** The table of which there are more rows. */
  readonly table: Table | undefined;
  /** What it begins with, if a line was cut. */
  readonly prefix: string;
}

/** A place to end a piece, and where to go on behind it. */
interface Cut extends State {
  readonly at: number;
  readonly next: number;
}

/**
 * Splits Markdown where it may be split best: between paragraphs, else between lines, else between
 * words, and within a word only if it is longer than a piece; never within a character. A code
 * block that is split is closed, and opened again with its language; a quote goes on as a quote; a
 * table has its header again, if that is no longer than one fourth of a piece.
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
  let state: State = { fence: undefined, table: undefined, prefix: "" };
  while (start < text.length) {
    const { fence, table, prefix } = state;
    const opening = fence?.opening ?? table?.head;
    const head = opening === undefined ? prefix : `${opening}\n${prefix}`;
    const cut = findCut(text, start, { limit, room: limit - byteLength(head) }, state);
    const body = text.slice(start, cut.at);
    const isOpen = cut.fence !== undefined && cut.at < text.length;
    const whole = isOpen ? `${body.trimEnd()}\n${cut.fence?.prefix}${cut.fence?.mark}` : body;
    if (body.trim() !== "") pieces.push(trimmed(head + whole, fence !== undefined));
    [start, state] = [cut.next, cut];
  }
  return pieces;
}

/** Blank lines around a piece are nothing; spaces in front of its first line may be code. */
function trimmed(piece: string, isCode: boolean): string {
  return (isCode ? piece : piece.replace(/^(?:[ \t]*\n)+/, "")).trimEnd();
}

/** Finds where to end the piece that begins at a place, in the state that is there. */
function findCut(
  text: string,
  start: number,
  { limit, room }: { readonly limit: number; readonly room: number },
  before: State,
): Cut {
  let { fence, table } = before;
  let paragraph: Cut | undefined;
  let line: Cut | undefined;
  let used = 0;
  let at = start;
  let inHead = 0; // so many lines are the head of a table, from this one on
  while (true) {
    const end = lineEnd(text, at);
    const own = text.slice(at, Math.min(end, at + MAX_FENCE_LINE));
    const found = fenceBehind(own, fence);
    const fits = fitting(text, at, end, room - used - Math.max(closing(fence), closing(found)));
    if (fits.at < end) {
      const early = Math.floor(room / 4); // a piece should not be tiny for the sake of its end
      if (paragraph !== undefined && paragraph.at - start >= early) return paragraph;
      if (line !== undefined && line.at > start) return line;
      const begun = `${at === start ? before.prefix : ""}${text.slice(at, fits.at)}`;
      return cutLine(text, at, fits.at, { fence, table, prefix: prefixOf(begun, fence, table) });
    }
    const nextEnd = lineEnd(text, end + 1);
    const next = text.slice(end + 1, Math.min(nextEnd, end + 1 + MAX_FENCE_LINE));
    if (found !== undefined) table = undefined;
    else if (fence === undefined && table === undefined && (at > start || before.prefix === "")) {
      table = tableOf(own, next);
      if (table !== undefined && byteLength(table.head) * HEADS_PER_PIECE > limit) table = undefined;
      if (table !== undefined) inHead = 2;
    }
    if (at > start && line !== undefined) {
      // A block of code, or a table, is not begun at the end of a piece,
      // if it does not fit in there with a line.
      const opens = fence === undefined && found !== undefined;
      const first = opens ? nextEnd : inHead === 2 ? lineEnd(text, nextEnd + 1) : at;
      if (fitting(text, at, first, room - used - (opens ? 40 : 0)).at < first) return paragraph ?? line;
    }
    fence = found;
    used += fits.bytes + 1;
    if (end === text.length) return { at: end, next: end, fence, table: undefined, prefix: "" };
    if (--inHead < 1) {
      if (table !== undefined && !isRowOf(table, next)) table = undefined;
      line = { at: end, next: end + 1, fence, table, prefix: "" };
      if (fence === undefined && text.startsWith("\n", end + 1)) paragraph = line;
    }
    at = end + 1;
  }
}

function lineEnd(text: string, at: number): number {
  const newline = text.indexOf("\n", at);
  return newline < 0 ? text.length : newline;
}

/** Counts the bytes that close a block of code. */
function closing(fence: Fence | undefined): number {
  return fence === undefined ? 0 : 1 + fence.prefix.length + fence.mark.length;
}

/** Cuts within a line: at the last space, or else where the room ends. */
function cutLine(text: string, lineStart: number, end: number, state: State): Cut {
  const least = lineStart + Math.floor((end - lineStart) / 2);
  for (let at = end; at > least; at--) {
    if (text[at] === " ") return { at, next: at + (state.fence === undefined ? 1 : 0), ...state };
  }
  return { at: end, next: end, ...state };
}

/** Returns the beginning for the rest of a line that has begun so. */
function prefixOf(begun: string, fence: Fence | undefined, table: Table | undefined): string {
  if (fence !== undefined) return "";
  return table === undefined ? QUOTE.exec(begun.slice(0, 64))?.[0] ?? "" : restPrefix(table, begun);
}

/** Returns how far a text from a place on fits into some bytes: always a whole character, at least one. */
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

/** Returns the length of a text in UTF-8. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** The head of a table. */
interface Table {
  /** The header and the delimiter row, as they are written. */
  readonly head: string;
  /** How many columns it has. */
  readonly columns: number;
  /** How many quotes it stands in. */
  readonly depth: number;
}

/** What stands in front of a row. More than three spaces begin code. */
const PREFIX = /^((?: {0,3}>){0,8}) {0,3}(?! )/;
/** A cell of the row below the header. */
const DELIMITER = /^[ \t]*:?-+:?[ \t]*$/;
/** A line with which something else begins: a block of code, a heading, an item, a rule, HTML. */
const OTHER_BLOCK = /^(?:`{3}|~{3}|#{1,6}(?:\s|$)|[-+*]\s|\d{1,9}[.)]\s|(?:[-*_][ \t]*){3,}$|<|>)/;

/** The table that begins with two lines; undefined: none does. */
function tableOf(header: string, delimiter: string): Table | undefined {
  const [first, second] = [parsed(header), parsed(delimiter)];
  if (first === undefined || second === undefined || first.depth !== second.depth) return undefined;
  if (!first.row.includes("|") || !isDelimiterRow(second.row)) return undefined;
  const columns = columnsOf(second.row);
  if (columnsOf(first.row) !== columns) return undefined;
  return { head: `${header.trimEnd()}\n${delimiter.trimEnd()}`, columns, depth: first.depth };
}

/** Returns whether a table goes on with a line. */
function isRowOf({ depth }: Table, line: string): boolean {
  const found = parsed(line);
  return found !== undefined && found.depth === depth && found.row !== "" && !OTHER_BLOCK.test(found.row);
}

/** Returns what stands in front of the rest of a row that was cut, so that the rest is in its column. */
function restPrefix({ columns }: Table, begun: string): string {
  const { quotes = "", row = "" } = parsed(begun) ?? {};
  const bars = barsIn(row) + (row.startsWith("|") ? 0 : 1);
  return `${quotes}${"|".repeat(Math.min(bars, columns))} `;
}

function parsed(line: string): { quotes: string; depth: number; row: string } | undefined {
  const [prefix, quotes = ""] = PREFIX.exec(line) ?? [];
  if (prefix === undefined) return undefined;
  return { quotes, depth: quotes.replaceAll(" ", "").length, row: line.slice(prefix.length).trimEnd() };
}

function isDelimiterRow(row: string): boolean {
  const cells = row.replace(/^\|/, "").replace(/\|$/, "").split("|");
  return cells.every((cell) => DELIMITER.test(cell));
}

function columnsOf(row: string): number {
  const hasLast = row.length > 1 && /(?<!\\)\|$/.test(row);
  return barsIn(row) + 1 - (row.startsWith("|") ? 1 : 0) - (hasLast ? 1 : 0);
}

/** Counts the bars that end a cell. */
function barsIn(row: string): number {
  return row.match(/(?<!\\)\|/g)?.length ?? 0;
}
