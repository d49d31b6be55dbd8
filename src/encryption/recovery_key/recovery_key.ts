/**
 * Recovery keys that are derived from another. A folder of its own because application services load it at
 * once, and secrets are loaded late.
 *
 * @module
 */

import { platform } from "../../base/platform/mod.ts";
import { decodeRecoveryKey, encodeRecoveryKey, KEY_BYTES } from "../../crypto/secrets/secrets.ts";

/**
 * A recovery key for something else, which is the same each time and tells nothing of the given one.
 *
 * @param about What for.
 */
export function derivedRecoveryKey(recoveryKey: string, about: string): string {
  const { hkdfSync } = platform.cryptoNow();
  const info = `greenroom ${about}`;
  return encodeRecoveryKey(
    new Uint8Array(hkdfSync("sha256", decodeRecoveryKey(recoveryKey), "", info, KEY_BYTES)),
  );
}
