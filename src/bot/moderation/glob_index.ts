/**
 * What stands under patterns, found by a name without comparing the name with each.
 *
 * @module
 */

import { type Glob, readGlob } from "../text/glob.ts";

/** No identifier is longer; a longer name fits nothing with wildcards. */
const MAX_NAME = 255;
/** Of patterns that are compared one by one: all of them together take some ten milliseconds. */
const MAX_COMPARED = 20_000;

/** Values by patterns. Those with one star at most are looked up, and others compared: there is a limit to these. */
export class GlobIndex<Value> {
  readonly #literals = new Map<string, Set<Value>>();
  /** Those with one star, by what stands before it, and by what stands behind it. */
  readonly #framed = new Map<string, Map<string, Set<Value>>>();
  readonly #compared = new Map<string, { readonly glob: Glob; readonly values: Set<Value> }>();
  #size = 0;

  /**
   * Adds a value.
   *
   * @returns False if its pattern would have to be compared, and those that are have 20,000 characters.
   */
  add(pattern: string, value: Value): boolean {
    const { start, end } = framed(pattern) ?? {};
    if (isLiteral(pattern)) valuesOf(this.#literals, pattern).add(value);
    else if (start !== undefined && end !== undefined) {
      const ends = this.#framed.get(start) ?? new Map<string, Set<Value>>();
      this.#framed.set(start, ends);
      valuesOf(ends, end).add(value);
    } else {
      const known = this.#compared.get(pattern);
      if (known === undefined && this.#size + pattern.length > MAX_COMPARED) return false;
      if (known === undefined) this.#size += pattern.length;
      const { glob, values } = known ?? { glob: readGlob(pattern), values: new Set() };
      this.#compared.set(pattern, { glob, values: values.add(value) });
    }
    return true;
  }

  /** Removes a value. */
  delete(pattern: string, value: Value): void {
    const { start, end } = framed(pattern) ?? {};
    if (isLiteral(pattern)) remove(this.#literals, pattern, value);
    else if (start !== undefined && end !== undefined) {
      const ends = this.#framed.get(start);
      if (ends === undefined) return;
      remove(ends, end, value);
      if (ends.size === 0) this.#framed.delete(start);
    } else {
      const values = this.#compared.get(pattern)?.values;
      if (values?.delete(value) !== true || values.size > 0) return;
      this.#compared.delete(pattern);
      this.#size -= pattern.length;
    }
  }

  /** The values whose patterns a name fits. */
  *find(name: string): Generator<Value, void, undefined> {
    yield* this.#literals.get(name) ?? [];
    if (name.length > MAX_NAME) return;
    for (let at = 0; at <= name.length && this.#framed.size > 0; at++) {
      const ends = this.#framed.get(name.slice(0, at));
      if (ends === undefined) continue;
      for (let from = at; from <= name.length; from++) yield* ends.get(name.slice(from)) ?? [];
    }
    for (const { glob, values } of this.#compared.values()) if (glob.matches(name)) yield* values;
  }
}

const isLiteral = (pattern: string): boolean => !/[*?]/.test(pattern);

/** What stands before the only star of a pattern, and behind it; undefined for other patterns. */
function framed(pattern: string): { readonly start: string; readonly end: string } | undefined {
  const [start, end, ...more] = pattern.split(/\*+/);
  if (start === undefined || end === undefined || more.length > 0 || pattern.includes("?")) return undefined;
  return { start, end };
}

function valuesOf<Value>(map: Map<string, Set<Value>>, key: string): Set<Value> {
  const found = map.get(key) ?? new Set();
  map.set(key, found);
  return found;
}

function remove<Value>(map: Map<string, Set<Value>>, key: string, value: Value): void {
  const values = map.get(key);
  values?.delete(value);
  if (values?.size === 0) map.delete(key);
}
