/**
 * The fences around blocks of code in Markdown.
 *
 * @module
 */

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
