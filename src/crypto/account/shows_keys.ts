/**
 * Whether a server shows the own keys.
 *
 * @module
 */

import { isJsonObject } from "../../types/json.ts";
import { sameKey } from "../encoding/base64.ts";
import type { OwnDevice } from "../context/context.ts";

/** Whether what a server shows of a device, unchecked, has the keys of the own one. */
export function showsKeys({ deviceId, curve25519, ed25519 }: OwnDevice, shown: { keys?: unknown }): boolean {
  const { keys } = shown;
  return isJsonObject(keys) && sameKey(keys[`ed25519:${deviceId}`], ed25519) &&
    sameKey(keys[`curve25519:${deviceId}`], curve25519);
}
