/**
 * Canonical JSON.
 *
 * @see {@link https://spec.matrix.org/v1.16/appendices/#canonical-json | Canonical JSON}
 * @module
 */

import { isJsonObject } from "../../../types/json.ts";

/** The one text of a JSON value: keys in the order of their code points, and no spaces. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, item]) => item !== undefined).sort(([a], [b]) =>
    byCodePoint(a, b)
  );
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`;
}

/**
 * JavaScript compares UTF-16 units, which puts the characters beyond U+FFFF in front of some that
 * they follow.
 */
function byCodePoint(a: string, b: string): number {
  const [as, bs] = [[...a], [...b]];
  for (let i = 0; i < Math.min(as.length, bs.length); i++) {
    const difference = (as[i]?.codePointAt(0) ?? 0) - (bs[i]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return as.length - bs.length;
}
