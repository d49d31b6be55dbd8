/**
 * Patterns as the specification has them: `*` stands for any characters, `?` for one.
 *
 * @see {@link https://spec.matrix.org/v1.19/appendices/#glob-style-matching | Glob-style matching}
 * @module
 */

/** No identifier is longer, in UTF-16 units or bytes; a longer text fits no pattern with wildcards. */
const MAX_LENGTH = 255;
const STAR = 0x2a;
const ONE = 0x3f;

/** A pattern, ready to be matched. */
export interface Glob {
  /** Returns whether an identifier fits the pattern. */
  matches(text: string): boolean;
  /** Whether only one text fits it: the pattern itself. */
  readonly isLiteral: boolean;
}

/**
 * Reads a pattern. Matching takes at most 255 steps for each of 255 characters, some ten
 * microseconds.
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
  if (!/[*?]/.test(pattern)) return { matches: (text) => text === pattern, isLiteral: true };
  const short = pattern.replaceAll(/\*+/g, "*");
  return { matches: (text) => text.length <= MAX_LENGTH && fits(short, text), isLiteral: false };
}

/**
 * Goes through the text once for each star at most: what the star before the last one stands for
 * need never be looked at again.
 */
function fits(pattern: string, text: string): boolean {
  let [at, place, star, resume] = [0, 0, -1, 0];
  while (place < text.length) {
    const sign = pattern.charCodeAt(at);
    if (sign === STAR) {
      star = at++;
      resume = place;
    } else if (sign === ONE) {
      at++;
      place += isPair(text, place) ? 2 : 1;
    } else if (sign === text.charCodeAt(place)) {
      at++;
      place++;
    } else if (star >= 0) {
      at = star + 1;
      place = ++resume;
    } else return false;
  }
  while (pattern.charCodeAt(at) === STAR) at++;
  return at === pattern.length;
}

/** Returns whether a character takes two units. */
function isPair(text: string, place: number): boolean {
  return (text.charCodeAt(place) & 0xfc00) === 0xd800 && (text.charCodeAt(place + 1) & 0xfc00) === 0xdc00;
}

/** No identifier is longer; a longer name fits nothing with wildcards. */
const MAX_NAME = 255;
/** Of patterns that are compared one by one: all of them together take some ten milliseconds. */
const MAX_COMPARED = 20_000;

/**
 * Values by patterns. Those with one star at most are looked up, and others compared:
 * there is a limit to these.
 */
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

/** Splits a pattern at its only star; undefined for other patterns. */
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
