/**
 * Room keys as devices send them.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { Device } from "../devices/device.ts";
import { isKey, sameKey, unpadded } from "../encoding/base64.ts";
import type { OwnerClaim } from "./inbound_record.ts";
import { type MegolmSessionRef, readSessionRef } from "./session_ref.ts";

/** An `m.room_key` that came encrypted with Olm. */
export interface ReceivedRoomKey {
  /** Who sent it. */
  readonly sender: UserID;
  /** The Curve25519 key of the device that sent it. */
  readonly senderKey: string;
  /** The Ed25519 key that the device named as its own. */
  readonly senderEd25519: string;
  /** The device, if it is known. */
  readonly device: Device | undefined;
  /** The content. */
  readonly content: JsonObject;
}

/** What a room key says, as far as it can be checked without its key. */
export interface RoomKey {
  /** The session that it is said to be for. */
  readonly ref: MegolmSessionRef;
  /** The key. */
  readonly sessionKey: string;
  /** Whose it is said to be. */
  readonly claim: OwnerClaim;
}

const ALGORITHM = "m.megolm.v1.aes-sha2";

/** Reads a room key; says what is wrong with it if it is not what it must be. */
export function readRoomKey(key: ReceivedRoomKey): RoomKey | string {
  const { sender, senderKey, senderEd25519, device, content } = key;
  const { algorithm, room_id, session_id, session_key, shared_history } = content;
  if (algorithm !== ALGORITHM) return "it is for an algorithm that is not known here";
  if (typeof session_key !== "string") return "there is no key in it";
  if (!isKey(senderKey) || !isKey(senderEd25519)) return "its device has no keys as devices have them";
  if (device !== undefined && !isSender(device, key)) return "it came from another device than it says";
  // Such a device holds what others send to it, and sends nothing.
  if (device?.dehydrated === true) return "it came from a dehydrated device";
  const ref = readSessionRef(room_id, session_id);
  if (ref === undefined) return "it names no room or no session";
  const claim: OwnerClaim = {
    userId: sender,
    senderKey: unpadded(senderKey),
    senderEd25519: unpadded(senderEd25519),
    sharedHistory: shared_history === true,
  };
  return { ref, sessionKey: session_key, claim };
}

function isSender(device: Device, { sender, senderKey, senderEd25519 }: ReceivedRoomKey): boolean {
  return device.userId === sender && sameKey(device.curve25519, senderKey) &&
    sameKey(device.ed25519, senderEd25519);
}
