/**
 * The private keys of a dehydrated device, as the server keeps them: encrypted by vodozemac.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
 * @module
 */

import {
  type Account,
  type DehydratedAccount,
  type Vodozemac,
  VodozemacError,
} from "@greenroom/vodozemac-wasm";
import type { DehydratedDeviceData } from "../../types/api/dehydrated_device.ts";

/** The name that clients write, and the one to come. */
const ALGORITHMS = ["org.matrix.msc3814.v2", "m.dehydration.v2"] as const;

/** Longer ones are not looked at: an account with all the keys it may have takes less. */
const MAX_PICKLE = 524_288;
const MAX_NONCE = 64;

/** Encrypts the private keys. */
export function writeDeviceData(account: Account, key: Uint8Array): DehydratedDeviceData {
  const { ciphertext, nonce } = account.dehydrate(key);
  return { algorithm: ALGORITHMS[0], device_pickle: ciphertext, nonce };
}

/**
 * Decrypts the private keys.
 *
 * @param data What the server shows.
 * @returns The account, which the caller disposes of; undefined if it is of another algorithm, or the
 *   key is another one, or it was changed.
 */
export function readDeviceData(
  vodozemac: Vodozemac,
  data: DehydratedDeviceData,
  key: Uint8Array,
): Account | undefined {
  const encrypted = encryptedIn(data);
  if (encrypted === undefined) return undefined;
  try {
    return vodozemac.olm.rehydrateAccount(encrypted, key);
  } catch (error) {
    if (error instanceof VodozemacError && error.code !== "instance_dead") return undefined;
    throw error;
  }
}

function encryptedIn(data: DehydratedDeviceData): DehydratedAccount | undefined {
  const { algorithm, device_pickle: ciphertext, nonce } = data;
  if (typeof ciphertext !== "string" || typeof nonce !== "string") return undefined;
  if (ciphertext.length > MAX_PICKLE || nonce.length > MAX_NONCE) return undefined;
  return ALGORITHMS.some((known) => known === algorithm) ? { ciphertext, nonce } : undefined;
}
