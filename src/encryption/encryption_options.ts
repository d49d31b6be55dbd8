/**
 * The options of end-to-end encryption, and what they come to.
 *
 * @module
 */

import type { OnNewRecipient } from "../actors/crypto/crypto.ts";
import {
  type AcceptPolicy,
  type CryptoPolicy,
  DEFAULT_POLICY,
  type SendPolicy,
} from "../crypto/context/context.ts";
import type { EnsureVerifiedOptions, ResetIdentityOptions } from "./identity/identity.ts";
import type { UserID } from "../types/ids.ts";
import type { VerificationComparison, VerificationRequest } from "../types/verification.ts";
import { REQUEST_OPTIONS } from "../api/http/mod.ts";
import type { OptionNames } from "../errors/known_names.ts";
import type { CryptoDoctorOptions } from "./crypto_findings.ts";

/**
 * How a client encrypts, and what it accepts. With one of `recoveryKey`, `passphrase` and
 * `onRecoveryKey` it starts with `client.crypto.ensureVerified()`: its device is signed by its user
 * from the beginning.
 */
export interface EncryptionOptions extends EnsureVerifiedOptions {
  /**
   * Which devices get the keys to sent events: `all` of the room's members, those that are
   * `cross-signed` by their user, or those that are `verified`. A device that was blacklisted gets
   * none. Own devices count as cross-signed once `client.crypto.acknowledgeIdentity()` has said
   * that the own identity is the user's: the server could have made it. With neither `sendTo` nor
   * `accept` nor a recovery key, they need no signature as long as the account never had an identity.
   * Who is left out is told so, and `client.shareGroupSession()` says who that is. Default:
   * `cross-signed`. Users of clients without cross-signing read nothing then; `all` is for rooms with
   * such users.
   */
  sendTo?: SendPolicy;
  /**
   * Which decrypted events reach handlers: `all`, only those of devices that are cross-signed by
   * their user (`cross-signed`), or also those whose key came from a backup, a file, another own device
   * or, with `shareHistory`, an inviter (`cross-signed-or-legacy`), unless it is said to be of a device
   * that its user does not vouch for. A backup, into which the server can write, and an inviter only have
   * the past read: `crypto.decrypt()` and handlers with `history: true` get that, and an event of now waits
   * for another key. What is not accepted is reported as `UNDECRYPTABLE`, and delivered if its device
   * becomes trusted or such a key comes. Default: `cross-signed-or-legacy`; `encryptionOf(event)` says how
   * far each can be trusted. A program that obeys what it reads takes `cross-signed`.
   *
   * It holds for encrypted messages to this device too: those of a device that is not accepted are
   * discarded and logged. Messages to this device that came in clear always reach handlers. Anyone
   * can have sent one, and `encryptionOf()` returns undefined.
   */
  accept?: AcceptPolicy;
  /**
   * What becomes of messages that come in clear into an encrypted room, which any server may have
   * written. They are reported as `UNENCRYPTED` and otherwise ignored, or delivered like all
   * others: `encryptionOf()` distinguishes them. Reactions, redactions, calls and the steps of
   * verifications are always delivered. Default: `ignore`.
   */
  unencrypted?: "ignore" | "deliver";
  /**
   * Whether own verified devices, and devices that had a key before, get it again when they ask.
   * Own devices get no key here that only a backup or an inviter says whose it is. Default: false.
   */
  answerKeyRequests?: boolean;
  /**
   * Whether users who are invited get the keys of what was sent before, where the room lets those read
   * it who join later, and each sender has allowed it; and whether the keys are taken that a user shares
   * whose invitation this client accepts (MSC4268). Only devices take part that their user's identity
   * vouches for, so that this client needs a `recoveryKey` or a passphrase. Events that are read by
   * such keys have `bundle` as the `keySource` of `encryptionOf()`: their senders are as the inviter,
   * `sharedBy`, says. Default: false.
   */
  shareHistory?: boolean;
  /** Called before users get a room's key for the first time. Default: none. */
  onNewRecipient?: OnNewRecipient;
  /**
   * Whose requests to verify a program answers by itself, and by what it knows that both sides show the
   * same. Default: nobody's; `client.crypto.verificationRequests` has them all.
   */
  verification?: OwnerVerificationOptions;
}

/**
 * How a program verifies with its owner without anybody at its screen.
 *
 * What takes the place of a look at the screen decides what it protects against. `confirm` can ask
 * where the homeserver has no hand in: at a terminal, on a page of your own. Then it protects as well as
 * two people who compare. Without it the owner says "yes" and the names of the first three emoji, or
 * "no", in an encrypted room, and that word is only worth the device that says it: it counts if the
 * owner's identity, the one that was seen first or accepted by `acknowledgeIdentity()`, has signed that
 * device. The names keep a homeserver from holding back a "yes" for a verification of its own. So devices
 * that a homeserver adds later are kept out; a homeserver that showed an identity of its own from the very
 * beginning is not, and could say the word as well. The emoji and the word are said in the room of the
 * verification, and logged: the log is the better place to compare with.
 *
 * The last request of an owner counts, and calls off the one before.
 *
 * @example A bot whose owner looks at its terminal
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken } = homeserver.createUser("bot");
 * await using bot = new Client({
 *   baseUrl: homeserver.baseUrl,
 *   fetch: homeserver.fetch,
 *   accessToken,
 *   encryption: {
 *     verification: {
 *       acceptFrom: ["@owner:localhost"],
 *       confirm: ({ userId }, { emoji = [] }) =>
 *         confirm(`Does ${userId} see ${emoji.map(({ name }) => name).join(", ")}?`),
 *     },
 *   },
 * });
 * ```
 */
export interface OwnerVerificationOptions {
  /**
   * Whose requests are accepted; all others are left to `client.crypto.verificationRequests`. The own account
   * needs `confirm`: the word of a device that is not verified yet can't count. Without it such requests are
   * called off.
   */
  acceptFrom: readonly UserID[];
  /**
   * Asks whether the owner's device shows the same. Default: shows it in the log, and in the room if the
   * verification goes through one, and waits for a message of the owner, `yes Dog Cat Lion`, the same with
   * the emoji themselves, or `no`.
   *
   * @returns `true`: it does; `false` calls the verification off.
   */
  confirm?: (
    request: VerificationRequest,
    comparison: VerificationComparison,
  ) => boolean | Promise<boolean>;
}

/** Returns what the device is verified with when it starts; undefined: it is not. */
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

/**
 * The options of encryption: what is done with the identity takes the same object, and needs a part of it.
 */
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
