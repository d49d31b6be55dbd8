/**
 * What the engine does with a message to this device.
 *
 * @module
 */

import type { ToDeviceEvent } from "../../types/events/event.ts";
import type { ToDeviceMessage } from "../megolm/decrypted.ts";
import type { EngineParts } from "./engine_parts.ts";
import type { SessionRef } from "../megolm/inbound_sessions.ts";
import { classifyToDevice, isEncryptedOnly } from "./to_device_class.ts";
import type { OlmDecryption } from "../olm/olm_decryption.ts";
import { accepts, senderTrustOf } from "../megolm/sender_trust.ts";
import type { Transaction } from "../records/transaction.ts";

/** What is left of a message, and what it brought. */
export interface TakenMessage {
  /** What handlers get; undefined: nothing, it was for the engine alone. */
  readonly message?: ToDeviceMessage;
  /** The group session of which there is a key now, or a better one. */
  readonly newKey?: SessionRef;
}

/** Takes in a message. What is not as it must be is dropped, and logged. */
export async function receiveToDevice(
  tx: Transaction,
  parts: EngineParts,
  event: ToDeviceEvent,
): Promise<TakenMessage> {
  const { olm, inbound, keyRequests, context: { log } } = parts;
  switch (classifyToDevice(event)) {
    case "encrypted": {
      const decryption = await olm.decrypt(tx, event);
      if (decryption.kind === "decrypted") return await receiveDecrypted(tx, parts, { event, decryption });
      const { kind, reason } = decryption;
      log[kind === "failed" ? "warn" : "debug"]("A message to this device was not read", {
        sender: event.sender,
        reason,
      });
      return {};
    }
    case "refused":
      log.warn("Dropped a message that must not come as it came", { sender: event.sender, type: event.type });
      return {};
    case "clear":
      if (event.type === "m.room_key_request") await keyRequests.receive(tx, event);
      if (event.type === "m.room_key.withheld" || event.type === "org.matrix.room_key.withheld") {
        await inbound.receiveWithheld(tx, event);
      }
      return { message: { event } };
  }
}

/** A message that was decrypted. */
interface Decrypted {
  readonly event: ToDeviceEvent;
  readonly decryption: Extract<OlmDecryption, { kind: "decrypted" }>;
}

async function receiveDecrypted(
  tx: Transaction,
  { inbound, keyRequests, context: { log, policy } }: EngineParts,
  { event, decryption }: Decrypted,
): Promise<TakenMessage> {
  const { payload: { type, content }, senderKey, senderEd25519, device } = decryption;
  const { sender, source } = event;
  switch (type) {
    case "m.room_key": {
      const added = await inbound.addRoomKey(tx, { sender, senderKey, senderEd25519, device, content });
      if (added.kind === "refused") {
        log.warn("Refused a room key", { sender, reason: added.reason });
        return {};
      }
      await keyRequests.received(tx, added.session);
      return { newKey: added.session };
    }
    case "m.forwarded_room_key":
      return { newKey: await keyRequests.receiveForward(tx, { sender, device, content }) };
    default: {
      // Secrets that nobody asked for, bundles of keys: nobody else is to get to see them.
      if (isEncryptedOnly(type)) return {};
      const senderTrust = senderTrustOf(device);
      if (!accepts(policy.accept, senderTrust, "direct")) {
        log.warn("Dropped a message of a device that is not trusted enough", {
          sender,
          type,
          device: device?.deviceId,
          trust: senderTrust,
        });
        return {};
      }
      const encryption = { senderKey, senderDevice: device?.deviceId, senderTrust };
      return { message: { event: { type, content, sender, source }, encryption } };
    }
  }
}
