// deno-lint-ignore-file no-explicit-any -- the shapes of @std/testing/mock, as far as the tests use them
export interface SpyCall<Args extends unknown[], Return> {
  args: Args;
  returned?: Return;
  error?: Error;
}
export interface Spy<Args extends unknown[], Return> {
  (...args: Args): Return;
  calls: SpyCall<Args, Return>[];
}
export function spy<Args extends unknown[], Return>(func: (...args: Args) => Return): Spy<Args, Return>;
export function spy(): Spy<any[], undefined>;
export function assertSpyCalls(spy: Spy<any[], any>, expectedCalls: number): void;
