/**
 * Cross-signing keys, checked.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#cross-signing | Cross-signing}
 * @module
 */

import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { UserID } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";
import { isKey, unpadded } from "../../types/base64.ts";
import { verifySignedJson } from "../encoding/encoding.ts";

/**
 * The usage of a cross-signing key: it signs the other two, the user's own devices, or other users.
 */
export type KeyUsage = "master" | "self_signing" | "user_signing";

export interface ExpectedKey {
  readonly userId: UserID;
  /** What for: this, and nothing else besides. */
  readonly usage: KeyUsage;
  /** The master key that must have signed it; undefined for a master key. */
  readonly signedBy?: string;
}

/**
 * Reads a cross-signing key that is not checked yet.
 *
 * @param vodozemac Verifies.
 * @param value The key as it was parsed.
 * @param expected The expected key.
 * @returns The public key in unpadded base64; undefined if it is not the expected one, or has other
 *   usages as well.
 */
export function readCrossSigningKey(
  vodozemac: Vodozemac,
  value: unknown,
  { userId, usage, signedBy }: ExpectedKey,
): string | undefined {
  if (!isJsonObject(value) || value.user_id !== userId || !isJsonObject(value.keys)) return undefined;
  if (!Array.isArray(value.usage) || value.usage.length !== 1 || value.usage[0] !== usage) return undefined;
  const [entry, ...others] = Object.entries(value.keys);
  if (entry === undefined || others.length > 0) return undefined;
  const [name, key] = entry;
  if (!isKey(key) || name !== `ed25519:${key}`) return undefined;
  if (usage === "master") return unpadded(key);
  const signed = signedBy !== undefined &&
    verifySignedJson(vodozemac, value, { userId, keyId: `ed25519:${signedBy}`, publicKey: signedBy });
  return signed ? unpadded(key) : undefined;
}
