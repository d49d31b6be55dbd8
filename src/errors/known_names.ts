/**
 * Names that a person has written: options and variables.
 *
 * @module
 */

import { ValueError } from "./value_error.ts";

/** The longest way to another name at which that is taken for what was meant. */
const MAX_DISTANCE = 3;

/**
 * Refuses names that there are not, as of a typing error, and names the nearest that there is.
 *
 * @param given The names that were given.
 * @param known Those that there are.
 * @param action What was to be done, as the error has it, and what the names are.
 * @throws {ValueError} If there is one that there is not.
 */
export function checkNames(
  given: Iterable<string>,
  known: readonly string[],
  { action, what }: { readonly action: string; readonly what: string },
): void {
  for (const name of given) {
    if (known.includes(name)) continue;
    const nearest = nearestName(name, known);
    const mend = nearest === undefined ? "leave it out" : `did you mean ${nearest}?`;
    throw new ValueError(`Cannot ${action}: there is no ${what} ${name}; ${mend}`);
  }
}

/**
 * The nearest of some names.
 *
 * @param limit How many characters may differ.
 * @returns Undefined: all are too far away.
 */
export function nearestName(
  name: string,
  known: readonly string[],
  limit = MAX_DISTANCE,
): string | undefined {
  const near = known.map((each) => ({ each, distance: distanceOf(name.toLowerCase(), each.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.min(limit, name.length / 2))
    .sort((one, other) => one.distance - other.distance);
  return near[0]?.each;
}

/** How many characters have to be put in, taken out or changed (Levenshtein). */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const changed = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, changed));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
