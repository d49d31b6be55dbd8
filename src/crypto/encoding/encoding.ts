/**
 * Canonical JSON, and signatures on it.
 *
 * @see {@link https://spec.matrix.org/v1.19/appendices/#canonical-json | Canonical JSON}
 * @see {@link https://spec.matrix.org/v1.19/appendices/#signing-json | Signing JSON}
 * @module
 */

import { type Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import { ValueError } from "../../errors/matrix_error.ts";
import { type JsonObject, objectIn } from "../../types/json.ts";
import { decodeBase64 } from "../../types/base64.ts";

/** How deep objects and arrays may lie in each other. */
const MAX_DEPTH = 128;

/** Characters that may have to be escaped, and lone surrogates. */
const SPECIAL = /["\\\p{Cc}\p{Cs}]/u;

const SURROGATE = /[\ud800-\udfff]/;

/**
 * Writes a value as canonical JSON: without white space, the members of objects in the order of
 * their names' code points.
 *
 * Members that are `undefined` are left out, as they are when the object is sent.
 *
 * @param value Parsed JSON, or what would become JSON.
 * @throws {ValueError} If it has no canonical form: numbers that are not integers within ±(2^53 −
 *   1), lone surrogates, more than 128 levels, and whatever is not JSON.
 */
export function canonicalJson(value: unknown): string {
  return write(value, 0);
}

/**
 * The same for an object without some of its members.
 *
 * @param object The object.
 * @param left The names of the members that are left out; those of the objects within it stay.
 * @throws {ValueError} As {@link canonicalJson}.
 */
export function canonicalJsonWithout(object: object, left: readonly string[]): string {
  return writeObject(object, 0, left);
}

function write(value: unknown, depth: number): string {
  if (typeof value === "string") return writeText(value);
  if (typeof value === "number") return writeNumber(value);
  if (typeof value === "boolean") return value ? "true" : "false";
  if (value === null) return "null";
  if (typeof value !== "object") throw noForm(`a ${typeof value} is not JSON`);
  if (depth >= MAX_DEPTH) throw noForm(`it has more than ${MAX_DEPTH} levels`);
  return Array.isArray(value) ? writeArray(value, depth) : writeObject(value, depth);
}

function writeText(text: string): string {
  if (!SPECIAL.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw noForm("a text has a lone surrogate");
  return JSON.stringify(text);
}

function writeNumber(number: number): string {
  if (!Number.isSafeInteger(number)) throw noForm("a number is not an integer within ±(2^53 − 1)");
  return String(number); // of minus zero "0", as the specification has it
}

function writeArray(array: readonly unknown[], depth: number): string {
  let text = "[";
  for (let index = 0; index < array.length; index++) {
    if (index > 0) text += ",";
    text += write(array[index], depth + 1);
  }
  return text + "]";
}

function writeObject(object: object, depth: number, left?: readonly string[]): string {
  const prototype = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) throw noForm("an object is not plain");
  const members = object as Readonly<Record<string, unknown>>; // plain, as it has just turned out
  let text = "";
  for (const name of sortedNames(members)) {
    const value = members[name];
    if (value === undefined || left?.includes(name)) continue;
    text += `${text === "" ? "" : ","}${writeText(name)}:${write(value, depth + 1)}`;
  }
  return `{${text}}`;
}

function sortedNames(object: object): string[] {
  const names = Object.keys(object);
  return names.some((name) => SURROGATE.test(name)) ? names.sort(byCodePoint) : names.sort();
}

/** Strings compare by 16-bit units, which puts code points above U+FFFF before U+E000. */
function byCodePoint(first: string, second: string): number {
  const length = Math.min(first.length, second.length);
  for (let index = 0; index < length; index++) {
    const unit = first.charCodeAt(index);
    const other = second.charCodeAt(index);
    if (unit !== other) return rank(unit) - rank(other);
  }
  return first.length - second.length;
}

function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function noForm(why: string): ValueError {
  return new ValueError(`Cannot write canonical JSON: ${why}`);
}

/** What no signature covers. */
const UNSIGNED_MEMBERS = ["signatures", "unsigned"] as const;

/** More characters than a signature has. */
const MAX_SIGNATURE = 100;

/** The signer, and the key of a signature. */
export interface Signer {
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
 * Returns whether an object carries a good signature of a key.
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
  const signatures = objectIn(object, "signatures") ?? {};
  const ofUser = objectIn(signatures, userId) ?? {};
  // Members that are no objects hold no signatures; the others are kept.
  const all = { ...signatures, [userId]: { ...ofUser, [keyId]: signature } } as Record<
    string,
    Record<string, string>
  >;
  return { ...object, signatures: all };
}

function signatureOf(object: JsonObject, { userId, keyId }: Signer): Uint8Array | undefined {
  const text = objectIn(objectIn(object, "signatures"), userId)?.[keyId];
  // Much longer texts are not decoded; the verification checks the exact length.
  return typeof text === "string" && text.length <= MAX_SIGNATURE ? decodeBase64(text) : undefined;
}

/** A signature of nothing: it is refused before anything is computed. */
const NO_SIGNATURE = new Uint8Array(64);

/**
 * Returns whether something can be an Ed25519 key: of 32 bytes half are none. Other clients refuse all of a
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
