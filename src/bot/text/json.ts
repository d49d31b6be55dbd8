/**
 * Looking at contents that anybody sent.
 *
 * @module
 */

import type { JsonObject } from "../../../types.ts";

/** Whether a value is a JSON object, and not an array or `null`. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member of a value, if the value is an object that has it itself. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A value if it is text, and else none. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
