/**
 * Canonical JSON, and the signatures of it.
 *
 * @see {@link https://spec.matrix.org/v1.16/appendices/#canonical-json | Canonical JSON}
 * @see {@link https://spec.matrix.org/v1.16/appendices/#signing-json | Signing JSON}
 * @module
 */

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { badRequest, invalidParam } from "./answer.ts";
import { stringAt, valueAt } from "./read.ts";

/** Refuses unless `json` carries a valid Ed25519 signature by `signer` with the key `keyId`. */
export async function checkSignature(
  json: JsonObject,
  signer: string,
  keyId: string,
  publicKey: string,
): Promise<void> {
  const signature = stringAt(json, "signatures", signer, keyId);
  const valid = signature !== undefined && await isValid(json, signature, publicKey).catch(() => false);
  if (!valid) throw badRequest("M_INVALID_SIGNATURE", "Invalid signature");
}

/** The one Ed25519 key of a cross-signing key: its ID and its value. */
export function ed25519KeyOf(json: JsonObject): { id: string; key: string } {
  const [entry, ...others] = Object.entries(valueAt(json, ["keys"]) ?? {});
  if (
    entry === undefined || others.length > 0 || typeof entry[1] !== "string" ||
    !entry[0].startsWith("ed25519:") || !/^[A-Za-z0-9+/]{43}=?$/.test(entry[1])
  ) {
    throw invalidParam("Invalid key");
  }
  return { id: entry[0], key: entry[1] };
}

async function isValid(json: JsonObject, signature: string, publicKey: string): Promise<boolean> {
  const { signatures: _signatures, unsigned: _unsigned, ...signed } = json;
  const key = await crypto.subtle.importKey("raw", fromBase64(publicKey), "Ed25519", NOT_EXTRACTABLE, [
    "verify",
  ]);
  const text = new TextEncoder().encode(canonicalJson(signed));
  return await crypto.subtle.verify("Ed25519", key, fromBase64(signature), text);
}

const NOT_EXTRACTABLE = false;

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** The one text of a JSON value: keys in the order of their code points, and no spaces. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, item]) => item !== undefined).sort(([a], [b]) =>
    byCodePoint(a, b)
  );
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`;
}

/**
 * JavaScript compares UTF-16 units, which puts the characters beyond U+FFFF in front of some that
 * they follow.
 */
function byCodePoint(a: string, b: string): number {
  const [as, bs] = [[...a], [...b]];
  for (let i = 0; i < Math.min(as.length, bs.length); i++) {
    const difference = (as[i]?.codePointAt(0) ?? 0) - (bs[i]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return as.length - bs.length;
}
