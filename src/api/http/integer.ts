/**
 * Numbers given by callers, checked before anything is sent.
 *
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";

/**
 * Checks a number, if there is one.
 *
 * @param name What the caller calls it.
 * @param value The number; undefined passes.
 * @param min The smallest value allowed.
 * @throws {ValueError} If it is no integer, too small, or beyond what JSON carries exactly.
 */
export function checkInteger(name: string, value: number | undefined, min: number = 0): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= min)) return;
  throw new ValueError(`Cannot use ${name} ${String(value)}: it must be an integer of at least ${min}`);
}
