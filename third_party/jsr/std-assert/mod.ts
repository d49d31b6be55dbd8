// @ts-types="./mod.d.ts"
export {
  assert,
  assertEquals,
  assertFalse,
  AssertionError,
  assertInstanceOf,
  assertMatch,
  assertNotEquals,
  assertObjectMatch,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
  fail,
} from "npm:deno-std@1.4.0/assert/mod.js";
