/**
 * Globs of push rules and access lists. They are not made into regular expressions, whose time has no bound where a
 * glob has several stars.
 *
 * @see {@link https://spec.matrix.org/v1.16/appendices/#glob-style-matching | Glob-style matching}
 * @module
 */

/** Longer globs match nothing: the time that one takes grows with its length times that of the text. */
const MAX_GLOB = 255;

/**
 * Whether a text matches a glob, in which `*` stands for any characters and `?` for one; letters of both cases are
 * the same.
 *
 * @param pattern The glob.
 * @param value The text; what is no text matches nothing.
 * @param options How to look.
 * @param options.words Whether it is enough that whole words within the text match.
 */
export function matchesGlob(pattern: string, value: unknown, { words = false } = {}): boolean {
  if (typeof value !== "string" || pattern.length > MAX_GLOB) return false;
  const text = value.toLowerCase();
  const [head = "", ...rest] = pattern.toLowerCase().split("*");
  const tail = rest.pop();
  const begins = (at: number) => words ? isEdge(text, at - 1) : at === 0;
  const ends = (at: number) => words ? isEdge(text, at) : at === text.length;
  if (tail === undefined) {
    return find(head, text, 0, (at) => begins(at) && ends(at + head.length)) !== undefined;
  }
  let from = find(head, text, 0, begins); // the first is best: it leaves the most for the others
  for (const part of rest) from = from === undefined ? undefined : find(part, text, from, () => true);
  return from !== undefined && find(tail, text, from, (at) => ends(at + tail.length)) !== undefined;
}

/** Where a part of a glob ends for the first time, at a place that fits; undefined: nowhere. */
function find(part: string, text: string, from: number, fits: (at: number) => boolean): number | undefined {
  const isPlain = !part.includes("?");
  for (let at = from; at + part.length <= text.length; at++) {
    if (isPlain) {
      at = text.indexOf(part, at);
      if (at < 0) return undefined;
    }
    if (fits(at) && (isPlain || isAt(part, text, at))) return at + part.length;
  }
  return undefined;
}

function isAt(part: string, text: string, at: number): boolean {
  for (let index = 0; index < part.length; index++) {
    if (part[index] !== "?" && part[index] !== text[at + index]) return false;
  }
  return true;
}

/** Whether there is no part of a word: another character, or an end of the text. */
function isEdge(text: string, at: number): boolean {
  return !/^[a-z0-9_]/.test(text.charAt(at));
}
