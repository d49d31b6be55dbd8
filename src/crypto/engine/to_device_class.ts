/**
 * Which messages to devices may come in clear.
 *
 * @module
 */

import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { ToDeviceEvent } from "../../types/events/event.ts";
import { isJsonObject } from "../../types/json.ts";

/** What is worth something only if it came over an encrypted channel, since anybody could have written it otherwise. */
const ENCRYPTED_ONLY: ReadonlySet<string> = new Set([
  "m.room_key",
  "m.forwarded_room_key",
  "m.room_key_bundle",
  "m.secret.send",
  "m.secret.push",
  "io.element.msc4268.room_key_bundle",
  "io.element.msc4385.secret.push",
  "m.dummy",
]);

/** Whether messages of a type are worth something only if they came encrypted: keys and secrets, which are for the engine alone. */
export function isEncryptedOnly(type: string): boolean {
  return ENCRYPTED_ONLY.has(type);
}

/**
 * What is to be done with a message to this device.
 *
 * @returns `encrypted`: it is to be decrypted; `clear`: it may come as it is; `refused`: it must not come so. Room events come to
 *   rooms: one that is encrypted for a room is refused here.
 */
export function classifyToDevice({ type, content }: ToDeviceEvent): "encrypted" | "clear" | "refused" {
  if (type === "m.room.encrypted") {
    return isJsonObject(content) && content.algorithm === EncryptionAlgorithm.OLM_V1
      ? "encrypted"
      : "refused";
  }
  return isEncryptedOnly(type) ? "refused" : "clear";
}
