/**
 * What has the verification at hand called off.
 *
 * @module
 */

import type { VerificationCancelCode } from "../../types/content/verification_content.ts";
import { EncryptionError } from "../../errors/encryption_error.ts";

/** A fault of the other device: the verification is cancelled with a code. It never leaves the engine. */
export class VerificationFault extends EncryptionError {
  /** The code to cancel with. */
  readonly problem: VerificationCancelCode;

  /**
   * @param problem The code to cancel with.
   * @param message The reason in words, which the other device gets: without secrets.
   */
  constructor(problem: VerificationCancelCode, message: string) {
    super(message);
    this.problem = problem;
  }
}
