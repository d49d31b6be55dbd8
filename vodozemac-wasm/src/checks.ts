/** Checks on arguments, before they enter the instance. */

import { VodozemacError } from "./error.ts";

/** A whole number from 0 to `max`. */
export function checkNumber(value: number, action: string, max = 0xffff_ffff): number {
  if (typeof value !== "number") throw new VodozemacError("bad_type", action);
  if (!Number.isInteger(value) || value < 0 || value > max) throw new VodozemacError("out_of_range", action);
  return value;
}

/** Text. */
export function checkText(value: string, action: string): string {
  if (typeof value !== "string") throw new VodozemacError("bad_type", action);
  return value;
}

/** Text, or bytes as they are. */
export function checkContent(value: string | Uint8Array, action: string): string | Uint8Array {
  if (typeof value !== "string" && !(value instanceof Uint8Array)) {
    throw new VodozemacError("bad_type", action);
  }
  return value;
}

/** An object whose members are read. */
export function checkObject<T extends object>(value: T, action: string): T {
  if (typeof value !== "object" || value === null) throw new VodozemacError("bad_type", action);
  return value;
}

/** An array. */
export function checkList<T>(value: readonly T[], action: string): readonly T[] {
  if (!Array.isArray(value)) throw new VodozemacError("bad_type", action);
  return value;
}
