/**
 * The words of the mutation run.
 *
 * @module
 */

/** One change to one guard. */
export interface Mutant {
  /** What switches it on; 0 is none. */
  readonly id: number;
  /** The file, from the repository's folder on. */
  readonly path: string;
  /** The line, from 1 on. */
  readonly line: number;
  /** The functions and classes around it. */
  readonly within: string;
  /** The code that is changed, on one line. */
  readonly code: string;
  /** What it is changed to. */
  readonly change: string;
  /** Its key in the file, which stays the same as long as the code does. */
  readonly key: string;
}

/** A test, as it was without any mutant. */
export interface TestRun {
  /** Its place among all that were loaded. */
  readonly index: number;
  /** Its file and its name. */
  readonly name: string;
  /** How long the processor worked for it, in milliseconds. */
  readonly ms: number;
  /** Which mutants it reached where they make a difference. */
  readonly reached: readonly number[];
  /** Why it failed, if it did. */
  readonly error?: string;
}

/** What a worker is asked to do, one line of JSON each. */
export type Request =
  /** Run each test once, without a mutant. */
  | { readonly kind: "baseline" }
  /** Run tests with a mutant until one fails. */
  | { readonly kind: "try"; readonly mutant: number; readonly tests: readonly number[] };

/** What a worker says. */
export type Reply =
  | { readonly kind: "loaded"; readonly reached: readonly number[] }
  | { readonly kind: "ran"; readonly test: TestRun }
  | { readonly kind: "baseline" }
  | { readonly kind: "begin"; readonly test: number }
  /** The test that failed, if one did; and whether it fails without the mutant, too, by then. */
  | { readonly kind: "tried"; readonly killer?: number; readonly error?: string; readonly tainted: boolean };

/** What became of a mutant. */
export interface Verdict {
  readonly mutant: Mutant;
  /** The test that failed. */
  readonly killer?: string;
  /** How: a test failed, did not end, or took too much memory. */
  readonly how?: "failed" | "time" | "memory or exit";
  /** In how many tests it makes a difference to what is compared or bounded. */
  readonly reachedBy: number;
}
