/**
 * What the options of end-to-end encryption come to.
 *
 * @module
 */

import { type CryptoPolicy, DEFAULT_POLICY } from "../crypto/context/context.ts";
import type { EncryptionOptions } from "./encryption_options.ts";
import type { EnsureVerifiedOptions } from "./identity/identity.ts";

/** What the device is verified with when it starts; undefined: it is not. */
export function verificationOptions(options: EncryptionOptions): EnsureVerifiedOptions | undefined {
  const { recoveryKey, passphrase, onRecoveryKey, ...rest } = options;
  const { password, authentication, backup, dehydratedDevice } = rest;
  if (recoveryKey === undefined && passphrase === undefined && onRecoveryKey === undefined) return undefined;
  return { recoveryKey, passphrase, onRecoveryKey, password, authentication, backup, dehydratedDevice };
}

export function policyOf(options: EncryptionOptions): CryptoPolicy {
  const { sendTo, accept, answerKeyRequests, onNewRecipient } = options;
  return {
    sendTo: sendTo ?? DEFAULT_POLICY.sendTo,
    accept: accept ?? DEFAULT_POLICY.accept,
    answerKeyRequests: answerKeyRequests ?? DEFAULT_POLICY.answerKeyRequests,
    approveRecipients: onNewRecipient !== undefined,
    shareHistory: options.shareHistory ?? DEFAULT_POLICY.shareHistory,
    awaitIdentity: verificationOptions(options) !== undefined,
    // Who has said whom to trust, or has an identity, gets no exception.
    sparesOwn: sendTo === undefined && accept === undefined && verificationOptions(options) === undefined,
  };
}
