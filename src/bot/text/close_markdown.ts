/**
 * Markdown that is still being written, made whole.
 *
 * @module
 */

import { closeInline } from "./close_inline.ts";

/** A line that is nothing yet but may become the beginning of anything. */
const MARK_ALONE = /^[ \t>]*(?:(?:[-=+*_#`~|:]{1,200}|\d{1,9}[.)]?)[ \t]*)?$/;
const MAX_ALONE = 256;
/** How many such lines are held back at most. */
const MAX_DROPPED = 3;
/** A line with which a text of its own begins: an item, a heading, the row of a table. */
const OWN_TEXT = /^[ \t>]*(?:[-+*][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\|(?!\|))/;
const HEADING = /^[ \t>]*#{1,6}[ \t]/;
const ROW = /^ {0,3}\|(?!\|)/;
/** How many columns a table is completed with. */
const MAX_COLUMNS = 100;

/**
 * Completes Markdown that is still being written, as when a model's answer streams: fences of code,
 * spans of code, emphasis, spoilers and tables are closed; marks and addresses of links that are
 * not complete yet are held back. So each step of a growing text can be formatted, and looks like
 * the text at its end.
 *
 * The complete text is to be formatted as it is, without this. The time is linear in the length of
 * the text.
 *
 * @param partial What there is so far.
 * @returns Markdown to show.
 * @example
 * ```ts
 * import { closeMarkdown } from "@greenroom/matrix/bot";
 *
 * console.assert(closeMarkdown("To **be or") === "To **be or**");
 * console.assert(closeMarkdown("~~~ts\nlet a") === "~~~ts\nlet a\n~~~");
 * console.assert(closeMarkdown("See [the play](https://exam") === "See the play");
 * ```
 */
export function closeMarkdown(partial: string): string {
  let text = partial.replace(/[\ud800-\udbff]$/, "");
  let found = blocks(text);
  for (let dropped = 0; found.fence === undefined; dropped++) {
    const shown = text.trimEnd();
    if (shown.length < text.length) [text, found] = [shown, blocks(shown)];
    const isAlone = text.length - found.lastLine <= MAX_ALONE && MARK_ALONE.test(text.slice(found.lastLine));
    if (!isAlone || dropped === MAX_DROPPED || found.wasCode) break;
    text = text.slice(0, found.lastLine);
    found = blocks(text);
  }
  const { fence, lastLine, ownText, block } = found;
  if (fence !== undefined) return closeCode(text, fence, found);
  const isRow = ROW.test(text.slice(ownText, ownText + 8));
  const start = isRow ? lastBar(text) + 1 : ownText;
  const closed = text.slice(0, start) + closeInline(text.slice(start));
  const isHeader = isRow && block === ownText && ownText === lastLine;
  return isHeader ? closed + delimiterRow(closed.slice(ownText)) : closed;
}

/** Where the last parts of a text begin. */
interface Blocks {
  /** The block of code that it ends in. */
  readonly fence: Fence | undefined;
  readonly lastLine: number;
  /** What emphasis can't reach over. */
  readonly ownText: number;
  /** The last block, behind a blank line. */
  readonly block: number;
  /** Whether the last line began in a block of code. */
  readonly wasCode: boolean;
}

function blocks(text: string): Blocks {
  let before: Fence | undefined;
  let fence: Fence | undefined;
  let [lastLine, ownText, block] = [0, 0, 0];
  let wasHeading = false;
  for (let at = 0; at <= text.length;) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, Math.min(end, at + MAX_FENCE_LINE));
    before = fence;
    fence = fenceBehind(line, fence);
    lastLine = at;
    if (before !== undefined || line.trim() === "") {
      block = ownText = end + 1;
    } else if (wasHeading || OWN_TEXT.test(line)) {
      ownText = at;
    }
    wasHeading = HEADING.test(line);
    at = end + 1;
  }
  return { fence, lastLine, ownText, block, wasCode: before !== undefined };
}

/** The first marks of a fence, alone in a line. */
const PARTIAL_FENCE = /^(?: {0,3}>){0,2} {0,3}([`~]{1,7})$/;

/** Closes a block of code; one of which there is only the first line is not begun. */
function closeCode(text: string, fence: Fence, { lastLine, wasCode }: Blocks): string {
  if (!wasCode) return text.slice(0, lastLine).trimEnd();
  const mark = PARTIAL_FENCE.exec(text.slice(lastLine, lastLine + MAX_FENCE_LINE))?.[1];
  const isPartialEnd = mark !== undefined && fence.mark.startsWith(mark);
  const code = isPartialEnd ? text.slice(0, lastLine) : text;
  return `${code}${code.endsWith("\n") ? "" : "\n"}${fence.prefix}${fence.mark}`;
}

/** The last bar that is between cells. */
function lastBar(text: string): number {
  for (let at = text.length - 1; at >= 0; at--) {
    if (text[at] === "|" && text[at - 1] !== "\\") return at;
  }
  return -1;
}

/** The line below a table's header, without which it is none. */
function delimiterRow(header: string): string {
  const bars = header.trim().replaceAll("\\|", "").match(/\|/g)?.length ?? 0;
  const columns = header.trim().endsWith("|") && bars > 1 ? bars - 1 : bars;
  return columns > MAX_COLUMNS ? "" : `\n|${"---|".repeat(columns)}`;
}

/** A fence that opened a block of code. */
export interface Fence {
  /** What stands in front of it: quotes and spaces. */
  readonly prefix: string;
  /** The backticks or tildes. */
  readonly mark: string;
  /** The line that opens the block again: with the language, if its name is not long. */
  readonly opening: string;
}

/**
 * A fence's line: what is in front, its marks, and what the code is written in. Fences deeper in
 * quotes or with more marks are nobody's, and not looked for, so that what is repeated is short.
 */
const FENCE = /^((?: {0,3}>){0,2} {0,3})(`{3,8}|~{3,8})([^\n]*)$/;
/** The longest opening line that is repeated. */
const MAX_OPENING = 24;
/** How much of a line has to be looked at. */
export const MAX_FENCE_LINE = 1_024;

/**
 * The fence that is open behind a line.
 *
 * @param line The line, without its end.
 * @param fence The fence that is open in front of it, if one is.
 */
export function fenceBehind(line: string, fence: Fence | undefined): Fence | undefined {
  const [, prefix = "", mark = "", info = ""] = FENCE.exec(line) ?? [];
  if (mark === "") return fence;
  if (fence !== undefined) return mark.startsWith(fence.mark) && info.trim() === "" ? undefined : fence;
  if (mark.startsWith("`") && info.includes("`")) return undefined;
  const whole = `${prefix}${mark}${info.trimEnd()}`;
  const isShort = whole.length <= MAX_OPENING && /^[ -~]*$/.test(whole);
  return { prefix, mark, opening: isShort ? whole : `${prefix}${mark}` };
}
