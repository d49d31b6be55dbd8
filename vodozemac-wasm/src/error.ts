/** The one error class, and its codes. */

/** Why an operation failed. Decide by it, never by the text of the message. */
export type VodozemacErrorCode =
  | "bad_base64"
  | "bad_handle"
  | "bad_key"
  | "bad_length"
  | "bad_mac"
  | "bad_padding"
  | "bad_pickle"
  | "bad_signature"
  | "bad_state"
  | "bad_type"
  | "decryption_failed"
  | "disposed"
  | "exhausted"
  | "identity_key_mismatch"
  | "instance_dead"
  | "malformed"
  | "missing_message_key"
  | "non_contributory_key"
  | "not_convertible"
  | "out_of_range"
  | "too_long"
  | "too_long_gap"
  | "unknown_index"
  | "unknown_one_time_key"
  | "unsupported_version"
  | "wrong_instance";

const REASONS: Readonly<Record<VodozemacErrorCode, string>> = {
  bad_base64: "not Base64; send the standard alphabet, padded or not, without white space",
  bad_handle: "no such object in the instance; this is a bug of the binding",
  bad_key: "not a valid key",
  bad_length: "wrong length",
  bad_mac: "the MAC does not match",
  bad_padding: "the padding is wrong",
  bad_pickle: "not a pickle of this kind, or another key",
  bad_signature: "the signature does not match",
  bad_state: "not a state of this kind",
  bad_type: "wrong type of argument",
  decryption_failed: "the ciphertext is not authentic",
  disposed: "it is disposed or used up; create a new one",
  exhausted: "no more are possible; create a new one",
  identity_key_mismatch: "the message names another identity key than the one expected",
  instance_dead: "the WebAssembly instance has failed; load a new one and restore from saved states",
  malformed: "it can't be decoded",
  missing_message_key: "its key is used up or no longer kept: a replay, or too late",
  non_contributory_key: "the key adds nothing to the secret, as only an attacker's does",
  not_convertible: "it came from libolm, which keeps its key in another form",
  out_of_range: "a number lies outside its range",
  too_long: "the input is longer than allowed",
  too_long_gap: "more than 2000 messages of the chain are missing before it",
  unknown_index: "the session begins at a later index",
  unknown_one_time_key: "the one-time key is not here: used, replaced or never ours",
  unsupported_version: "unsupported version",
  wrong_instance: "the objects belong to different instances",
};

/** The statuses of `rust/error.rs`, from -1 downwards. */
const STATUSES: readonly VodozemacErrorCode[] = [
  "malformed",
  "unsupported_version",
  "bad_key",
  "non_contributory_key",
  "bad_signature",
  "bad_mac",
  "bad_padding",
  "unknown_index",
  "too_long_gap",
  "missing_message_key",
  "unknown_one_time_key",
  "identity_key_mismatch",
  "decryption_failed",
  "bad_state",
  "bad_pickle",
  "not_convertible",
  "out_of_range",
  "exhausted",
  "bad_handle",
];

/** The code of a negative status. */
export function codeOfStatus(status: number): VodozemacErrorCode {
  return STATUSES[-1 - status] ?? "malformed";
}

/** What else is known about a failure. */
export interface VodozemacErrorDetails {
  /** What brought it about: for `instance_dead` the trap. */
  readonly cause?: unknown;
  /** For `unknown_index`: the first index that the session can decrypt. */
  readonly firstKnownIndex?: number;
  /** For `unknown_index`: the index of the message. */
  readonly messageIndex?: number;
}

/**
 * Everything that this library throws.
 *
 * @example
 * ```ts
 * import { Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
 *
 * const { megolm } = await Vodozemac.load();
 * try {
 *   megolm.createInbound("no session key");
 * } catch (error) {
 *   if (!(error instanceof VodozemacError)) throw error;
 *   console.log(error.code); // "bad_base64"
 * }
 * ```
 */
export class VodozemacError extends Error {
  /** The name of the class. */
  override readonly name: string = "VodozemacError";
  /** Why it failed. */
  readonly code: VodozemacErrorCode;
  /** For `unknown_index`: the first index that the session can decrypt. */
  readonly firstKnownIndex: number | undefined;
  /** For `unknown_index`: the index of the message. */
  readonly messageIndex: number | undefined;

  /**
   * Makes an error.
   *
   * @param code Why it failed.
   * @param action What was attempted, as the verb and its object: `decrypt Megolm message`.
   * @param details What else is known.
   */
  constructor(code: VodozemacErrorCode, action: string, details: VodozemacErrorDetails = {}) {
    const options = "cause" in details ? { cause: details.cause } : undefined;
    super(`Cannot ${action}: ${REASONS[code]}`, options);
    this.code = code;
    this.firstKnownIndex = details.firstKnownIndex;
    this.messageIndex = details.messageIndex;
  }
}
