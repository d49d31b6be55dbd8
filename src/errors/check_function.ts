/**
 * Functions that an application gives.
 *
 * @module
 */

import { ValueError } from "./value_error.ts";

/**
 * Refuses what is no function where one is called later, when nobody would see why it is not.
 *
 * @param given What was given.
 * @param action What was to be done, as the error has it.
 * @param what What the function is, with its article. Default: its function.
 * @throws {ValueError} If it is none.
 */
export function checkFunction(given: unknown, action: string, what = "its function"): void {
  if (typeof given === "function") return;
  const is = given === undefined || given === null ? "missing" : `of type ${typeof given}`;
  throw new ValueError(`Cannot ${action}: ${what} is ${is}; give a function`);
}
