/**
 * `node:crypto`, which is loaded when it is first needed: that takes as long as a third of all of
 * Greenroom; and the comparison of secrets by it.
 *
 * @module
 */

let loaded: Promise<typeof import("node:crypto")> | undefined;

/**
 * What WebCrypto lacks: hashes of streams, and hashes that are there immediately, for which to wait
 * would cost more than they do.
 */
export function nodeCrypto(): Promise<typeof import("node:crypto")> {
  return loaded ??= import("node:crypto");
}

/** The same, for the few who can't wait: loaded with the first call. */
export function nodeCryptoNow(): typeof import("node:crypto") {
  // deno-lint-ignore no-process-global -- it is there; to import it would have every program load it
  return process.getBuiltinModule("node:crypto");
}

/** Whether a text is a secret. How long that takes does not depend on what the text says. */
export async function isSameSecret(text: string, secret: string): Promise<boolean> {
  const { createHash, timingSafeEqual } = await nodeCrypto();
  const hashed = (each: string) => createHash("sha256").update(each).digest();
  return timingSafeEqual(hashed(text), hashed(secret));
}
