/**
 * Bits made from passphrases, by PBKDF2 with HMAC-SHA-512.
 *
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";

/** More would keep the processor busy for longer than about ten seconds. */
export const MAX_ITERATIONS = 10_000_000;

const EXTRACTABLE = false;

/** How a passphrase is hashed. */
export interface Pbkdf2Options {
  /** Has the same passphrase give others each time. */
  readonly salt: Uint8Array<ArrayBuffer>;
  /** How often it is hashed. */
  readonly iterations: number;
  /** How many bits are wanted. */
  readonly bits: number;
}

/**
 * Checks that text can be a passphrase.
 *
 * @throws {ValueError} If it is empty or no well-formed text.
 */
export function assertPassphrase(passphrase: string): void {
  if (typeof passphrase === "string" && passphrase !== "" && passphrase.isWellFormed()) return;
  throw new ValueError("Cannot use the passphrase: it must be text, and not empty");
}

/**
 * Makes bits from a passphrase.
 *
 * @returns The bits, which are the caller's to wipe.
 * @throws {ValueError} If it can't be a passphrase.
 */
export async function hashPassphrase(
  passphrase: string,
  { salt, iterations, bits }: Pbkdf2Options,
): Promise<Uint8Array<ArrayBuffer>> {
  assertPassphrase(passphrase);
  const bytes = new TextEncoder().encode(passphrase);
  const material = await crypto.subtle.importKey("raw", bytes, "PBKDF2", EXTRACTABLE, ["deriveBits"]);
  bytes.fill(0);
  const algorithm = { name: "PBKDF2", hash: "SHA-512", salt, iterations };
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, material, bits));
}
