/**
 * Reading fields of untrusted JSON: each reader refuses the wrong type as Synapse does.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { badJson, invalidParam, missingParam } from "./answer.ts";

/** The string under `key`, or `undefined` if it is absent or null. */
export function optionalString(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw badJson(`'${key}' must be a string`);
  return value;
}

/** The string under `key`. */
export function requiredString(object: JsonObject, key: string): string {
  const value = optionalString(object, key);
  if (value === undefined) throw missingParam(key);
  return value;
}

/** The object under `key`, or `undefined` if it is absent or null. */
export function optionalObject(object: JsonObject, key: string): JsonObject | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) throw badJson(`'${key}' must be an object`);
  return value;
}

/** The array under `key`, or an empty one. */
export function optionalArray(object: JsonObject, key: string): readonly unknown[] {
  const value = object[key];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw badJson(`'${key}' must be an array`);
  return value;
}

/** The strings under `key`, or `undefined` if it is absent or null. */
export function optionalStrings(object: JsonObject, key: string): string[] | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw badJson(`'${key}' must be an array of strings`);
  }
  return value;
}

/** The whole number under `key`, or `fallback`; flags count as 0 and 1. */
export function optionalInteger(object: JsonObject, key: string, fallback: number): number {
  const value = object[key];
  if (value === undefined || value === null) return fallback;
  if (typeof value === "boolean") return Number(value);
  if (typeof value !== "number" || !Number.isInteger(value)) {
    throw invalidParam(`'${key}' must be an integer`);
  }
  return value;
}

/** The flag under `key`, `false` unless it is there. */
export function flag(object: JsonObject, key: string): boolean {
  return object[key] === true;
}

/** Whether a value counts as true where nobody has asked for a flag: empty ones do not. */
export function isTruthy(value: unknown): boolean {
  return typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}

/**
 * The string behind a path of keys in JSON that needs no check, for example the content of an
 * event.
 */
export function stringAt(object: JsonObject, ...keys: string[]): string | undefined {
  const value = valueAt(object, keys);
  return typeof value === "string" ? value : undefined;
}

/** The value behind a path of keys. */
export function valueAt(object: unknown, keys: readonly string[]): unknown {
  let value = object;
  for (const key of keys) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** Whether a text is the ID of a room; without a server name it is one that a create event gives. */
export function isRoomId(text: unknown): boolean {
  return typeof text === "string" && /^!([^:]*:.+|[\w-]{43})$/s.test(text);
}
