/**
 * The error of a verification that was called off.
 *
 * @module
 */

import type { VerificationCancelCode } from "../types/content/verification_content.ts";
import { EncryptionError } from "./encryption_error.ts";

/**
 * Who called a verification off: this device (`us`, also because time ran out or a message was wrong),
 * the other one (`them`), or it goes on with another of the own user's devices (`other-device`).
 */
export type VerificationEnd = "us" | "them" | "other-device";

/** What makes a {@linkcode VerificationError}. */
export interface VerificationErrorInit extends ErrorOptions {
  /** Why it was called off. */
  readonly problem: VerificationCancelCode;
  /** Who called it off. */
  readonly by: VerificationEnd;
}

/**
 * A verification was called off: nothing is trusted that was not trusted before.
 *
 * Mend: Begin again; after a mismatch, find out first who sits between the devices.
 */
export class VerificationError extends EncryptionError {
  /** Always `VERIFICATION_ERROR`. */
  override readonly code = "VERIFICATION_ERROR";

  /**
   * Why: a code of `m.key.verification.cancel`. With `m.mismatched_sas`, `m.mismatched_commitment` and
   * `m.key_mismatch` somebody may have been listening in between.
   */
  readonly problem: VerificationCancelCode;

  /** Who called it off. */
  readonly by: VerificationEnd;

  /**
   * Makes an error.
   *
   * @param message What was asked, of what, and what to do.
   * @param init Why it was called off and by whom, and the `cause`.
   */
  constructor(message: string, { problem, by, ...options }: VerificationErrorInit) {
    super(message, options);
    this.problem = problem;
    this.by = by;
  }
}
