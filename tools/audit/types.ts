/**
 * What the parts of the audit give each other.
 *
 * @module
 */

import type { ProcessResult } from "../process.ts";

/** A dependency, at a version. */
export interface Dependency {
  /** Name and version. */
  readonly name: string;
  /** Its licence as an SPDX expression; undefined if what it says is not at hand. */
  readonly licence: string | undefined;
  /** Whether the lock file has a hash of it. */
  readonly isHashed: boolean;
}

/** What came of a question. */
export interface Finding {
  /** What was asked. */
  readonly question: string;
  /** What is wrong. */
  readonly problems: readonly string[];
  /** What was looked at, in a few words. */
  readonly checked?: string;
  /** What could not be looked at, and why. */
  readonly unchecked?: string;
}

/** Runs a program in the repository's folder. */
export type Run = (command: string, args: string[]) => Promise<ProcessResult>;
