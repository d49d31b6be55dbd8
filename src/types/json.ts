/**
 * JSON as it comes off the wire.
 *
 * @module
 */

/** A parsed JSON object nobody has checked yet: every member must be looked at before it is used. */
export type JsonObject = { [key: string]: unknown };

/** Whether `value` is a JSON object, and not an array or `null`. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
