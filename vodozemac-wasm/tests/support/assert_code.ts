import { assertEquals, assertInstanceOf, fail } from "@std/assert";
import { VodozemacError, type VodozemacErrorCode } from "@greenroom/vodozemac-wasm";

/** Runs something that must throw a `VodozemacError` with this code; gives the error. */
export function assertCode(code: VodozemacErrorCode, run: () => unknown): VodozemacError {
  try {
    run();
  } catch (error) {
    assertInstanceOf(error, VodozemacError);
    assertEquals(error.code, code);
    return error;
  }
  fail(`expected ${code}`);
}
