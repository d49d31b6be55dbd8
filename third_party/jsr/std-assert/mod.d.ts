// deno-lint-ignore-file no-explicit-any -- the shapes of @std/assert, as far as the tests use them
export class AssertionError extends Error {}
type ErrorClass<E extends Error> = abstract new (...args: any[]) => E;
export function assert(expr: unknown, msg?: string): asserts expr;
export function assertFalse(expr: unknown, msg?: string): void;
export function assertEquals<T>(actual: T, expected: T, msg?: string): void;
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void;
export function assertStrictEquals<T>(actual: unknown, expected: T, msg?: string): asserts actual is T;
export function assertInstanceOf<T extends abstract new (...args: any[]) => any>(
  actual: unknown,
  expectedType: T,
  msg?: string,
): asserts actual is InstanceType<T>;
export function assertMatch(actual: string, expected: RegExp, msg?: string): void;
export function assertStringIncludes(actual: string, expected: string, msg?: string): void;
export function assertObjectMatch(
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void;
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  errorClass: ErrorClass<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export function assertRejects(fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  errorClass: ErrorClass<E>,
  msgIncludes?: string,
  msg?: string,
): E;
export function assertThrows(fn: () => unknown, msg?: string): unknown;
export function fail(msg?: string): never;
