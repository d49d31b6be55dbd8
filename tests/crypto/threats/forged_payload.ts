/** Messages over a valid channel, with a tampered payload. */

import { assert } from "@std/assert";
import { OlmSessions } from "../../../src/crypto/olm/olm_sessions.ts";
import { writeOlmMessage, writeOlmPayload } from "../../../src/crypto/olm/olm_message.ts";
import type { JsonObject, ToDeviceEvent } from "@greenroom/matrix/types";
import type { Peer } from "../olm/peers.ts";

/** The payload that a device would write, changed, and encrypted over its channel. */
export async function forge(
  from: Peer,
  to: Peer,
  change: (payload: JsonObject) => JsonObject | string | Uint8Array,
): Promise<ToDeviceEvent> {
  const honest = JSON.parse(writeOlmPayload(
    { type: "m.room_key", content: { n: 1 } },
    { own: from.context.own, device: to.device, deviceKeys: from.keys.deviceKeys() },
  ));
  const changed = change(honest);
  const plaintext = typeof changed === "string" || changed instanceof Uint8Array
    ? changed
    : JSON.stringify(changed);
  from.olm.sessions.clear(); // the sessions below are made of the same records
  const message = await from.step(async (tx) => {
    const sessions = new OlmSessions(from.context);
    await sessions.load(tx);
    // Bytes that are no text: who follows the rules never writes them.
    const made = await sessions.encrypt(tx, to.device, plaintext as string);
    sessions.clear();
    return made;
  });
  assert(message !== undefined, "there is no session");
  const { own } = from.context;
  return from.event(writeOlmMessage({ own, curve25519: to.device.curve25519, message, id: "forged" }));
}
