/**
 * Which mutant is on, and which were reached: what instrumented sources ask. This file is copied into their tree.
 *
 * @module
 */

/** More mutants than there will be. */
const MOST = 1 << 16;

/** Whether the mutant of each number was reached. */
export const reached: Uint8Array = new Uint8Array(MOST);

let on = 0;

/** Switches a mutant on; 0: none. */
export function switchOn(id: number): void {
  on = id;
}

/** Whether a mutant is on. */
export function m(id: number): boolean {
  reached[id] = 1;
  return id === on;
}

/** `a < b`, or `a <= b`. */
export const lt = <T>(id: number, a: T, b: T): boolean => m(id) ? a <= b : a < b;
/** `a <= b`, or `a < b`. */
export const le = <T>(id: number, a: T, b: T): boolean => m(id) ? a < b : a <= b;
/** `a > b`, or `a >= b`. */
export const gt = <T>(id: number, a: T, b: T): boolean => m(id) ? a >= b : a > b;
/** `a >= b`, or `a > b`. */
export const ge = <T>(id: number, a: T, b: T): boolean => m(id) ? a > b : a >= b;

/** `Math.min(a, b)`, or one of the two alone. */
export const min = (id: number, a: number, b: number): number => m(id) ? a : m(id + 1) ? b : Math.min(a, b);
/** `Math.max(a, b)`, or one of the two alone. */
export const max = (id: number, a: number, b: number): number => m(id) ? a : m(id + 1) ? b : Math.max(a, b);
