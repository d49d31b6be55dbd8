/**
 * The comparison of secrets.
 *
 * @module
 */

import { platform } from "./platform/mod.ts";

/** Whether a text is a secret. How long that takes does not depend on what the text says. */
export async function isSameSecret(text: string, secret: string): Promise<boolean> {
  const { createHash, timingSafeEqual } = await platform.crypto();
  const hashed = (each: string) => createHash("sha256").update(each).digest();
  return timingSafeEqual(hashed(text), hashed(secret));
}
