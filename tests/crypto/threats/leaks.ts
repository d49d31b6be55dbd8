/** Looks for secrets in what a user can see. */

import type { KvStore } from "../../../src/store/kv_store.ts";

/** So many bytes of a secret in a row are a leak. */
const BASE64_BYTES = 24;
const HEX_BYTES = 16;

/** All bytes that are anywhere in the records of encryption in a store. */
export async function secretBytes(store: KvStore): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  for await (const { key, value } of store.list([])) if (key.includes("crypto")) collect(value, found);
  return found.filter((bytes) => bytes.length >= BASE64_BYTES);
}

/**
 * What of secrets is in a text, as base64 or as hexadecimal numbers.
 *
 * @param publicKeys Base64 of bytes that everybody may know; they are among the records as well.
 */
export function leaksIn(
  text: string,
  secrets: readonly Uint8Array[],
  publicKeys: readonly string[] = [],
): string[] {
  const base64 = windowsOf(text.replaceAll("-", "+").replaceAll("_", "/"), /[\w+/]{32,}/g, 32);
  const hex = windowsOf(text.toLowerCase(), /[\da-f]{32,}/g, 32);
  const known = publicKeys.map((key) => Uint8Array.fromBase64(key));
  const allowed = new Set(known.flatMap((bytes) => [...encodings(bytes)]));
  return secrets.flatMap((bytes) =>
    [...encodings(bytes)].filter((found) => (base64.has(found) || hex.has(found)) && !allowed.has(found))
  );
}

/** Bytes from each place on, as they would show. */
function* encodings(bytes: Uint8Array): Generator<string> {
  for (let place = 0; place < bytes.length; place++) {
    const base64 = bytes.subarray(place, place + BASE64_BYTES);
    const hex = bytes.subarray(place, place + HEX_BYTES);
    if (base64.length === BASE64_BYTES && isRandom(base64)) yield base64.toBase64();
    if (hex.length === HEX_BYTES && isRandom(hex)) yield hex.toHex();
  }
}

/** Whether bytes can't be there by chance: many are zero in every record. */
function isRandom(bytes: Uint8Array): boolean {
  return new Set(bytes).size > bytes.length / 2;
}

function windowsOf(text: string, runs: RegExp, length: number): Set<string> {
  const windows = new Set<string>();
  for (const [run] of text.matchAll(runs)) {
    for (let place = 0; place + length <= run.length; place++) windows.add(run.slice(place, place + length));
  }
  return windows;
}

function collect(value: unknown, found: Uint8Array[]): void {
  if (value instanceof Uint8Array) found.push(value);
  else if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) collect(member, found);
  }
}
