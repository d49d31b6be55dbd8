/**
 * JSON as it comes off the wire.
 *
 * @module
 */

/** A parsed JSON object that is not checked yet: check every member before you use it. */
export type JsonObject = { [key: string]: unknown };

/** Returns whether `value` is a JSON object, and not an array or `null`. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns `value` if it is a JSON object, and an empty object otherwise. */
export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns an object's JSON; undefined: that is no object, or there is none, as of a cycle. */
export function objectJson(value: object): string | undefined {
  try {
    const json: string | undefined = JSON.stringify(value);
    return json?.startsWith("{") ? json : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the object that `value` itself has under a name; undefined: there is none. */
export function objectIn(value: unknown, name: string): JsonObject | undefined {
  const member = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return isJsonObject(member) ? member : undefined;
}

/** Returns whether `value` is a list. `Array.isArray()` does not tell a read-only list from an object. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/**
 * Far more than events need, and far less than what overflows the stack of code that copies, stores
 * or compares it: that begins at some 3,000.
 */
const MAX_DEPTH = 100;

/**
 * Returns whether no more than so many objects and arrays lie in each other, the value itself among them.
 * Every event is looked at as a whole: no list is made of its members.
 */
export function isShallow(value: object, levels: number = MAX_DEPTH): boolean {
  if (levels === 0) return false;
  if (Array.isArray(value)) return !value.some((item) => isObject(item) && !isShallow(item, levels - 1));
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    if (isObject(members[name]) && !isShallow(members[name], levels - 1)) return false;
  }
  return true;
}

/** Returns whether two values of JSON are the same, in whatever order their members stand. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = Object.keys(one);
  return Array.isArray(one) === Array.isArray(other) && names.length === Object.keys(other).length &&
    names.every((name) =>
      Object.hasOwn(other, name) && isSameJson(Reflect.get(one, name), Reflect.get(other, name))
    );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * Parses an object that comes as bytes, as strictly as text of JSON is UTF-8.
 *
 * @returns Undefined if it is none.
 */
export function parseObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
