/**
 * Base64 as Matrix has it: the standard alphabet, written without padding, read with or without.
 *
 * @module
 */

/** 32 bytes: the last character holds four bits, and the two that are left over are zero. */
const KEY = /^[0-9A-Za-z+/]{42}[048AEIMQUYcgkosw]=?$/;

/** How many characters of a key's text count. */
const KEY_CHARACTERS = 43;

/**
 * Reads base64 strictly: padded or not, without white space, without stray bits in the last
 * character.
 *
 * @returns The bytes; undefined if the text is no such base64.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const content = text.replace(/={1,2}$/, "");
  const padding = "==".slice(0, (4 - content.length % 4) % 4);
  if (content.length !== text.length && content.length + padding.length !== text.length) return undefined;
  try {
    const bytes = Uint8Array.fromBase64(content + padding, { lastChunkHandling: "strict" });
    // The decoder skips white space, which shows in the length: cheaper than to check each
    // character.
    return bytes.length === Math.floor(content.length * 3 / 4) ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Writes base64 without padding. */
export function encodeBase64(bytes: Uint8Array): string {
  return bytes.toBase64({ omitPadding: true });
}

/** Returns whether something is the base64 of 32 bytes, as public keys are. */
export function isKey(text: unknown): text is string {
  return typeof text === "string" && KEY.test(text);
}

/** A key without padding: the form in which keys are kept, compared and sent. */
export function unpadded(key: string): string {
  return key.slice(0, KEY_CHARACTERS);
}

/**
 * Returns whether two texts are the base64 of the same 32 bytes. Not for secrets: it does not take constant
 * time.
 */
export function sameKey(one: unknown, other: unknown): boolean {
  return isKey(one) && isKey(other) && unpadded(one) === unpadded(other);
}
