/**
 * Patterns with `*` and `?`.
 *
 * @module
 */

const globs = new Map<string, RegExp>();

/**
 * Whether a text fits a pattern in which `*` stands for any characters and `?` for one; letters of
 * both cases are the same.
 *
 * @param options How to look.
 * @param options.words Whether it is enough that words within the text fit.
 */
export function matchesGlob(pattern: string, text: string, { words = false } = {}): boolean {
  const id = `${words}${pattern}`;
  let regExp = globs.get(id);
  if (regExp === undefined) {
    const body = pattern.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
    regExp = new RegExp(words ? `(^|\\W)${body}(\\W|$)` : `^${body}$`, "is");
    globs.set(id, regExp);
  }
  return regExp.test(text);
}
