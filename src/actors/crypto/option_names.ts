/**
 * The options that the acts of `client.crypto` about the own identity have, for those who misspell one.
 *
 * @module
 */

import { REQUEST_OPTIONS } from "../../api/http/request_options.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import type { EncryptionOptions } from "./encryption_options.ts";
import type { CryptoDoctorOptions } from "./crypto_findings.ts";
import type { EnsureVerifiedOptions, ResetIdentityOptions } from "./identity_crypto.ts";

/** The options of encryption: the acts below take the same object, of which they need a part. */
export const ENCRYPTION_OPTIONS: OptionNames<EncryptionOptions> = {
  ...{ sendTo: true, accept: true, unencrypted: true, answerKeyRequests: true, shareHistory: true },
  ...{ onNewRecipient: true, verification: true, recoveryKey: true, passphrase: true },
  ...{ onRecoveryKey: true, password: true, authentication: true, backup: true, dehydratedDevice: true },
};
const VERIFIED: OptionNames<EnsureVerifiedOptions> = ENCRYPTION_OPTIONS;
const RESET: OptionNames<ResetIdentityOptions> = { ...VERIFIED, confirm: true };
const DOCTOR: OptionNames<CryptoDoctorOptions> = { ...REQUEST_OPTIONS, ...VERIFIED };

const NAMES = {
  ensureVerified: [VERIFIED, "verify the device"],
  resetIdentity: [RESET, "reset the identity"],
  doctor: [DOCTOR, "look at the encryption"],
} as const;

/**
 * Refuses options that an act has not.
 *
 * @throws {ValueError} If there is one.
 */
export function checkIdentityOptions(act: keyof typeof NAMES, options: unknown): void {
  const [names, action] = NAMES[act];
  checkOptions(options, names, action);
}
