/**
 * Canonical JSON: the one text that signatures are made over.
 *
 * @see {@link https://spec.matrix.org/v1.16/appendices/#canonical-json | Canonical JSON}
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";

/** How deep objects and arrays may lie in each other. */
const MAX_DEPTH = 128;

/** Characters that may have to be escaped, and lone surrogates. */
const SPECIAL = /["\\\p{Cc}\p{Cs}]/u;

const SURROGATE = /[\ud800-\udfff]/;

/**
 * Writes a value as canonical JSON: without white space, the members of objects in the order of
 * their names' code points.
 *
 * Members that are `undefined` are left out, as they are when the object is sent.
 *
 * @param value Parsed JSON, or what would become JSON.
 * @throws {ValueError} If it has no canonical form: numbers that are not integers within ±(2^53 −
 *   1), lone surrogates, more than 128 levels, and whatever is not JSON.
 */
export function canonicalJson(value: unknown): string {
  return write(value, 0);
}

/**
 * The same for an object without some of its members.
 *
 * @param object The object.
 * @param left The names of the members that are left out; those of the objects within it stay.
 * @throws {ValueError} As {@link canonicalJson}.
 */
export function canonicalJsonWithout(object: object, left: readonly string[]): string {
  return writeObject(object, 0, left);
}

function write(value: unknown, depth: number): string {
  if (typeof value === "string") return writeText(value);
  if (typeof value === "number") return writeNumber(value);
  if (typeof value === "boolean") return value ? "true" : "false";
  if (value === null) return "null";
  if (typeof value !== "object") throw noForm(`a ${typeof value} is not JSON`);
  if (depth >= MAX_DEPTH) throw noForm(`it has more than ${MAX_DEPTH} levels`);
  return Array.isArray(value) ? writeArray(value, depth) : writeObject(value, depth);
}

function writeText(text: string): string {
  if (!SPECIAL.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw noForm("a text has a lone surrogate");
  return JSON.stringify(text);
}

function writeNumber(number: number): string {
  if (!Number.isSafeInteger(number)) throw noForm("a number is not an integer within ±(2^53 − 1)");
  return String(number); // of minus zero "0", as the specification has it
}

function writeArray(array: readonly unknown[], depth: number): string {
  let text = "[";
  for (let index = 0; index < array.length; index++) {
    if (index > 0) text += ",";
    text += write(array[index], depth + 1);
  }
  return text + "]";
}

function writeObject(object: object, depth: number, left?: readonly string[]): string {
  const prototype = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) throw noForm("an object is not plain");
  const members = object as Readonly<Record<string, unknown>>; // plain, as it has just turned out
  let text = "";
  for (const name of sortedNames(members)) {
    const value = members[name];
    if (value === undefined || left?.includes(name)) continue;
    text += `${text === "" ? "" : ","}${writeText(name)}:${write(value, depth + 1)}`;
  }
  return `{${text}}`;
}

function sortedNames(object: object): string[] {
  const names = Object.keys(object);
  return names.some((name) => SURROGATE.test(name)) ? names.sort(byCodePoint) : names.sort();
}

/** Strings compare by 16-bit units, which puts code points above U+FFFF before U+E000. */
function byCodePoint(first: string, second: string): number {
  const length = Math.min(first.length, second.length);
  for (let index = 0; index < length; index++) {
    const unit = first.charCodeAt(index);
    const other = second.charCodeAt(index);
    if (unit !== other) return rank(unit) - rank(other);
  }
  return first.length - second.length;
}

function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function noForm(why: string): ValueError {
  return new ValueError(`Cannot write canonical JSON: ${why}`);
}
