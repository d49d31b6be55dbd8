/**
 * Signatures on JSON.
 *
 * @see {@link https://spec.matrix.org/v1.16/appendices/#signing-json | Signing JSON}
 * @module
 */

import { type Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import { ValueError } from "../../errors/value_error.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { decodeBase64 } from "./base64.ts";
import { canonicalJsonWithout } from "./canonical_json.ts";

/** What no signature covers. */
const UNSIGNED_MEMBERS = ["signatures", "unsigned"] as const;

/** More characters than a signature has. */
const MAX_SIGNATURE = 100;

/** The signer, and the key of a signature. */
export interface Signer {
  /** The user. */
  readonly userId: string;
  /** The name of the key: `ed25519:` and a device ID, or a cross-signing key's own base64. */
  readonly keyId: string;
  /** The key itself, in base64: one that is expected, never one that the object brings along. */
  readonly publicKey: string;
}

/** A signature that was made. */
export interface NewSignature extends Pick<Signer, "userId" | "keyId"> {
  /** The signature, in unpadded base64. */
  readonly signature: string;
}

/**
 * The text that the signatures of an object cover: all of it except `signatures` and `unsigned`.
 *
 * @param object The object as it was parsed, with unknown members.
 * @throws {ValueError} If the object has no canonical form.
 */
export function signableJson(object: JsonObject): string {
  return canonicalJsonWithout(object, UNSIGNED_MEMBERS);
}

/**
 * Whether an object carries a good signature of a key.
 *
 * Any problem of the object, the signature or the key gives `false`. An object without a canonical
 * form has
 * no good signature.
 *
 * @param vodozemac Verifies.
 * @param object The object as it was parsed.
 * @param signer The signature that is looked for.
 * @throws {VodozemacError} `instance_dead` if vodozemac does not work any more, whatever the
 *   signature.
 */
export function verifySignedJson(vodozemac: Vodozemac, object: JsonObject, signer: Signer): boolean {
  const signature = signatureOf(object, signer);
  if (signature === undefined) return false;
  try {
    return vodozemac.keys.verify(signer.publicKey, signableJson(object), signature);
  } catch (error) {
    if (error instanceof ValueError) return false;
    if (error instanceof VodozemacError && error.code !== "instance_dead" && !vodozemac.dead) return false;
    throw error;
  }
}

/** A copy of an object with one more signature; another of the same key gives way. */
export function withSignature<Signed extends object>(
  object: Signed,
  { userId, keyId, signature }: NewSignature,
): Omit<Signed, "signatures"> & { signatures: Record<string, Record<string, string>> } {
  const signatures = memberOf(object, "signatures") ?? {};
  const ofUser = memberOf(signatures, userId) ?? {};
  // Members that are no objects hold no signatures; the others are kept.
  const all = { ...signatures, [userId]: { ...ofUser, [keyId]: signature } } as Record<
    string,
    Record<string, string>
  >;
  return { ...object, signatures: all };
}

function signatureOf(object: JsonObject, { userId, keyId }: Signer): Uint8Array | undefined {
  const text = memberOf(memberOf(object, "signatures") ?? {}, userId)?.[keyId];
  // Much longer texts are not decoded; the verification checks the exact length.
  return typeof text === "string" && text.length <= MAX_SIGNATURE ? decodeBase64(text) : undefined;
}

/** A member that is an object of its own, whatever its name. */
function memberOf(object: object, name: string): JsonObject | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(object, name)?.value;
  return isJsonObject(value) ? value : undefined;
}

/** A signature of nothing: it is refused before anything is computed. */
const NO_SIGNATURE = new Uint8Array(64);

/**
 * Whether something can be an Ed25519 key: of 32 bytes half are none. Other clients refuse all of a
 * file that has one.
 */
export function isSigningKey({ keys }: Vodozemac, key: string): boolean {
  try {
    keys.verify(key, "", NO_SIGNATURE);
    return true;
  } catch (error) {
    const code = error instanceof VodozemacError ? error.code : undefined;
    if (code === "bad_key" || code === "bad_length") return false;
    throw error;
  }
}
