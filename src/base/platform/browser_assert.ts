/**
 * What the suites for stores use of `node:assert` and `node:util`.
 * The npm package has this in their place for browsers.
 *
 * A file of its own because other platforms have that.
 *
 * @module
 */

class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** Compares as `node:util` does what stores keep. */
export function isDeepStrictEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  if (one instanceof Date) return one.getTime() === (other as Date).getTime();
  if (one instanceof RegExp) return String(one) === String(other);
  if (one instanceof ArrayBuffer) return isSame(new Uint8Array(one), new Uint8Array(other as ArrayBuffer));
  if (ArrayBuffer.isView(one)) return isSame(bytesOf(one), bytesOf(other as ArrayBufferView));
  if (one instanceof Map) {
    const map = other as Map<unknown, unknown>; // its keys are compared as they are
    return one.size === map.size &&
      [...one].every(([key, value]) => map.has(key) && isDeepStrictEqual(value, map.get(key)));
  }
  if (one instanceof Set) {
    return one.size === (other as Set<unknown>).size && one.isSubsetOf(other as Set<unknown>);
  }
  const [names, others] = [Object.keys(one), Object.keys(other)];
  return names.length === others.length && names.every((name) =>
    Object.hasOwn(other, name) &&
    isDeepStrictEqual((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name])
  ) && (!(one instanceof Error) || one.message === (other as Error).message);
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

export function fail(message = "It failed"): never {
  throw new AssertionError(message);
}

export function ok(value: unknown, message?: string): void {
  if (!value) fail(message);
}

export function strictEqual(one: unknown, other: unknown, message = `${one} is not ${other}`): void {
  if (!Object.is(one, other)) fail(message);
}

export function notStrictEqual(one: unknown, other: unknown, message = `It is ${other}`): void {
  if (Object.is(one, other)) fail(message);
}

export function deepStrictEqual(one: unknown, other: unknown, message?: string): void {
  if (!isDeepStrictEqual(one, other)) {
    fail(message ?? `${JSON.stringify(one)} is not ${JSON.stringify(other)}`);
  }
}

/** @param expected A class, a function that says whether it is the error, or a message's pattern. */
export async function rejects(
  promise: Promise<unknown> | (() => Promise<unknown>),
  expected?: unknown,
  message?: unknown,
): Promise<void> {
  const said = typeof expected === "string" ? expected : typeof message === "string" ? message : undefined;
  let thrown: { readonly error: unknown } | undefined;
  try {
    await (typeof promise === "function" ? promise() : promise);
  } catch (error) {
    thrown = { error };
  }
  if (thrown === undefined) fail(said ?? "It did not reject");
  const { error } = thrown;
  if (expected instanceof RegExp) return ok(expected.test(String(error)), said);
  if (typeof expected !== "function") return;
  const isClass = expected === Error || expected.prototype instanceof Error;
  ok(
    isClass ? error instanceof (expected as typeof Error) : expected(error) === true,
    said ?? `It was ${error}`,
  );
}
