/**
 * Patterns as the specification has them: `*` stands for any characters, `?` for one.
 *
 * @see {@link https://spec.matrix.org/v1.16/appendices/#glob-style-matching | Glob-style matching}
 * @module
 */

/** No identifier is longer, in UTF-16 units or bytes; a longer text fits no pattern with wildcards. */
const MAX_LENGTH = 255;

/** A pattern, ready to be matched. */
export interface Glob {
  /** Whether an identifier fits the pattern. */
  matches(text: string): boolean;
  /** Whether only one text fits it: the pattern itself. */
  readonly isLiteral: boolean;
}

/**
 * Reads a pattern. Whatever it is, matching takes no more than 255 steps for each of 255 characters,
 * some ten microseconds.
 *
 * @param pattern The pattern.
 * @example
 * ```ts
 * import { readGlob } from "@greenroom/matrix/bot";
 *
 * console.assert(readGlob("@*:spam?.example").matches("@eve:spam1.example"));
 * ```
 */
export function readGlob(pattern: string): Glob {
  const characters = [...pattern.replaceAll(/\*+/g, "*")];
  if (!/[*?]/.test(pattern)) return { matches: (text) => text === pattern, isLiteral: true };
  return {
    matches: (text) => text.length <= MAX_LENGTH && fits(characters, [...text]),
    isLiteral: false,
  };
}

/**
 * Goes through the text once for each star at most: what the star before the last one stands for
 * need never be looked at again.
 */
function fits(pattern: readonly string[], text: readonly string[]): boolean {
  let [at, place, star, resume] = [0, 0, -1, 0];
  while (place < text.length) {
    if (pattern[at] === "*") [star, resume] = [at++, place];
    else if (at < pattern.length && (pattern[at] === "?" || pattern[at] === text[place])) {
      [at, place] = [at + 1, place + 1];
    } else if (star >= 0) [at, place] = [star + 1, ++resume];
    else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
