/**
 * How the engine receives a message to this device.
 *
 * @module
 */

import { VERIFICATION_PREFIX } from "../../types/content/encryption_content.ts";
import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { ToDeviceEvent } from "../../types/events/event.ts";
import { isJsonObject } from "../../types/json.ts";
import { accepts, senderTrustOf, type ToDeviceMessage } from "../megolm/mod.ts";
import { BUNDLE_TYPES, type OlmDecryption } from "../olm/olm.ts";
import type { MegolmSessionRef } from "../../types/checks/room_keys.ts";
import type { Transaction } from "../records/mod.ts";
import type { EngineParts } from "./engine_parts.ts";

/** Types that count only if they came encrypted: otherwise they could be forged. */
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

/**
 * Says how a message to this device is received.
 *
 * @returns `encrypted`: it is decrypted; `clear`: it may come in clear; `refused`: it must not come
 *   like this, as an event that is encrypted for a room.
 */
export function classifyToDevice({ type, content }: ToDeviceEvent): "encrypted" | "clear" | "refused" {
  if (type === "m.room.encrypted") {
    return isJsonObject(content) && content.algorithm === EncryptionAlgorithm.OLM_V1
      ? "encrypted"
      : "refused";
  }
  return ENCRYPTED_ONLY.has(type) ? "refused" : "clear";
}

/** The outcome of a message. */
export interface TakenMessage {
  /** What handlers get; undefined: nothing, it was for the engine alone. */
  readonly message?: ToDeviceMessage;
  /** The group session of which there is a key now, or a better one. */
  readonly newKey?: MegolmSessionRef;
}

/** Receives a message. Invalid ones are dropped and logged. */
export async function receiveToDevice(
  tx: Transaction,
  parts: EngineParts,
  event: ToDeviceEvent,
): Promise<TakenMessage> {
  const { olm, inbound, keyRequests, secretAnswers, context: { log } } = parts;
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
      if (event.type === "m.secret.request") await secretAnswers.receive(tx, event);
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
  { inbound, devices, keyRequests, secretRequests, history, context: { log, policy } }: EngineParts,
  { event, decryption }: Decrypted,
): Promise<TakenMessage> {
  const { payload: { type, content }, senderKey, senderEd25519, device, deviceKeys } = decryption;
  const { sender, source } = event;
  switch (type) {
    case "m.room_key": {
      const added = await inbound.addRoomKey(tx, {
        sender,
        senderKey,
        senderEd25519,
        device,
        deviceKeys,
        content,
      });
      if (added.kind === "refused") {
        log.warn("Refused a room key", { sender, reason: added.reason });
        return {};
      }
      keyRequests.received(tx, added);
      return { newKey: added.session };
    }
    case "m.forwarded_room_key":
      return { newKey: await keyRequests.receiveForward(tx, { sender, device, content }) };
    case BUNDLE_TYPES[0]:
    case BUNDLE_TYPES[1]:
      history.announced(tx, { sender, device, deviceKeys, senderKey, senderEd25519, content });
      return {};
    case "m.secret.send":
      await secretRequests.receive(tx, { sender, device, content });
      return {};
    default: {
      // Secrets that were not requested must not reach handlers.
      if (ENCRYPTED_ONLY.has(type)) return {};
      const senderTrust = senderTrustOf(device);
      const isSpared = device !== undefined && await devices.isSpared(tx, device);
      // It need not be encrypted at all: with it a device comes to be trusted.
      const isVerifying = type.startsWith(VERIFICATION_PREFIX);
      if (!isVerifying && !accepts(policy.accept, { trust: senderTrust, source: "direct", isSpared })) {
        log.warn("Dropped a message of a device that is not trusted enough: see encryption.accept", {
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
