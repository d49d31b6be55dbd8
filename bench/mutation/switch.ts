/**
 * Which mutant is on, and which were reached: what instrumented sources ask. This file is copied
 * into their tree.
 *
 * @module
 */

/** More mutants than there will be. */
const MOST = 1 << 16;

/** Whether the mutant of each number was reached, and would have made a difference there. */
export const reached: Uint8Array = new Uint8Array(MOST);

let on = 0;

/** Switches a mutant on; 0: none. */
export function switchOn(id: number): void {
  on = id;
}

/** Whether a mutant is on that makes a difference wherever it is reached. */
export function m(id: number): boolean {
  reached[id] = 1;
  return id === on;
}

/** Whether a mutant is on. */
export function is(id: number): boolean {
  return id === on;
}

/** A value that a mutant has `true` in place of, and another one `false`; 0: none has. */
export function seen<T>(whereTrue: number, whereFalse: number, value: T): T {
  if (value !== true) reached[whereTrue] = 1;
  if (value !== false) reached[whereFalse] = 1;
  return value;
}

/** What the source says, or what a mutant does. */
function either<T>(id: number, original: T, changed: T): T {
  if (original !== changed) reached[id] = 1;
  return id === on ? changed : original;
}

/** `a < b`, or `a <= b`. */
export const lt = <T>(id: number, a: T, b: T): boolean => either(id, a < b, a <= b);
/** `a <= b`, or `a < b`. */
export const le = <T>(id: number, a: T, b: T): boolean => either(id, a <= b, a < b);
/** `a > b`, or `a >= b`. */
export const gt = <T>(id: number, a: T, b: T): boolean => either(id, a > b, a >= b);
/** `a >= b`, or `a > b`. */
export const ge = <T>(id: number, a: T, b: T): boolean => either(id, a >= b, a > b);

/** `Math.min(a, b)`, or one of the two alone. */
export const min = (id: number, a: number, b: number): number =>
  either(id + 1, either(id, Math.min(a, b), a), b);
/** `Math.max(a, b)`, or one of the two alone. */
export const max = (id: number, a: number, b: number): number =>
  either(id + 1, either(id, Math.max(a, b), a), b);
