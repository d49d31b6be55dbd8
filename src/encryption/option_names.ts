/**
 * Which options encryption has, and what `client.crypto` does with the own identity.
 *
 * @module
 */

import { REQUEST_OPTIONS } from "../api/http/mod.ts";
import type { OptionNames } from "../errors/known_names.ts";
import type { EncryptionOptions } from "./encryption_options.ts";
import type { CryptoDoctorOptions } from "./crypto_findings.ts";
import type { EnsureVerifiedOptions, ResetIdentityOptions } from "./identity/identity.ts";

/** The options of encryption: what is done with the identity takes the same object, and needs a part of it. */
export const ENCRYPTION_OPTIONS: OptionNames<EncryptionOptions> = {
  ...{ sendTo: true, accept: true, unencrypted: true, answerKeyRequests: true, shareHistory: true },
  ...{ onNewRecipient: true, verification: true, recoveryKey: true, passphrase: true },
  ...{ onRecoveryKey: true, password: true, authentication: true, backup: true, dehydratedDevice: true },
};
/** Those of {@link EnsureVerifiedOptions}, likewise. */
export const VERIFIED_OPTIONS: OptionNames<EnsureVerifiedOptions> = ENCRYPTION_OPTIONS;
/** Those of {@link ResetIdentityOptions}. */
export const RESET_OPTIONS: OptionNames<ResetIdentityOptions> = { ...VERIFIED_OPTIONS, confirm: true };
/** Those of {@link CryptoDoctorOptions}. */
export const DOCTOR_OPTIONS: OptionNames<CryptoDoctorOptions> = { ...REQUEST_OPTIONS, ...VERIFIED_OPTIONS };
