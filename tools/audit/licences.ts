/**
 * Which licences the dependencies may have.
 *
 * @module
 */

/**
 * Licences that ask for no more than to be named, by their SPDX identifiers: what has them can go
 * into software under any other.
 */
const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "PSF-2.0",
  "Unicode-3.0",
  "Unlicense",
  "Zlib",
]);

/** Whether a licence is one that dependencies may have. */
export function isAllowed(expression: string): boolean {
  // "MIT/Apache-2.0" is how crates wrote it once.
  const tokens = expression.replaceAll("/", " OR ").match(/[()]|[^\s()]+/g) ?? [];
  let next = 0;
  const single = (): boolean => {
    const token = tokens[next++] ?? "";
    if (token !== "(") return ALLOWED.has(token);
    const inside = either();
    return tokens[next++] === ")" && inside;
  };
  const joined =
    (word: string, part: () => boolean, join: (one: boolean, other: boolean) => boolean) => () => {
      let result = part();
      while (tokens[next] === word) {
        next++;
        result = join(part(), result);
      }
      return result;
    };
  const both = joined("AND", single, (one, other) => one && other);
  const either = joined("OR", both, (one, other) => one || other);
  return either() && next === tokens.length;
}
