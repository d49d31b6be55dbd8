/**
 * The encrypted form of a room's event.
 *
 * @module
 */

import { EncryptionError, EventTooLargeError } from "../../errors/encryption_error.ts";
import type { RoomEncryptedContent } from "../../types/content/encryption_content.ts";
import type { RelatesTo } from "../../types/content/relation.ts";
import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { OwnDevice } from "../context/context.ts";
import type { EncryptInput } from "./sharing_protocol.ts";

/** A draft, checked and ready to encrypt. */
export interface RoomEventDraft {
  /** What to encrypt. */
  readonly plaintext: string;
  /** What stays readable for the server. */
  readonly relatesTo: RelatesTo | undefined;
}

/** How large an event may be, in bytes, as servers send it to each other. */
const MAX_EVENT = 65_536;

/** What servers add at least: sender, room, time, hashes, signatures and previous events. */
const ENVELOPE = 1_024;

/** What Megolm adds at most: version, index, lengths, padding, MAC and signature. */
const MEGOLM_OVERHEAD = 1 + 6 + 6 + 16 + 8 + 64;

const encoder = new TextEncoder();

/**
 * Drafts the payload of an event.
 *
 * @throws {EncryptionError} If the event has no JSON form, or would be encrypted twice.
 * @throws {EventTooLargeError} If no server would take it.
 */
export function draftRoomEvent({ roomId, eventType, content }: EncryptInput, own: OwnDevice): RoomEventDraft {
  if (eventType === "" || eventType === "m.room.encrypted") {
    throw new EncryptionError(
      `Cannot encrypt event of type "${eventType}" for room ${roomId}: it is not one that is said in a room; ` +
        "use the type that the event has in plain text",
    );
  }
  const plaintext = toJson({ roomId, eventType, content });
  const relation = content["m.relates_to"];
  // A copy: later changes of the caller's object must not show.
  const relatesTo = relation === undefined ? undefined : JSON.parse(JSON.stringify(relation)) as RelatesTo;
  if (mayBeTooLarge(plaintext, own)) {
    const size = sizeOf(plaintext, { own, relatesTo });
    if (size > MAX_EVENT) {
      throw new EventTooLargeError(
        `Cannot encrypt event of type "${eventType}" for room ${roomId}: it would be ${size} bytes long, ` +
          `more than the ${MAX_EVENT} that servers take; send less, or send it as a file`,
      );
    }
  }
  return { plaintext, relatesTo };
}

/**
 * Whether the size has to be checked, which texts need not. A UTF-16 unit is at most three bytes,
 * which are four in Base64, and three more in a relation; one of the device ID may be six, as JSON
 * escapes it.
 */
function mayBeTooLarge(plaintext: string, { deviceId }: OwnDevice): boolean {
  return 7 * (plaintext.length + deviceId.length) + 2 * ENVELOPE > MAX_EVENT;
}

/** How large the event will be at least, in bytes, as servers send it to each other. */
function sizeOf(
  plaintext: string,
  around: { readonly own: OwnDevice; readonly relatesTo: RelatesTo | undefined },
): number {
  const ciphertext = Math.ceil((encoder.encode(plaintext).length + MEGOLM_OVERHEAD) * 4 / 3);
  const rest = JSON.stringify(encodedRoomEvent({ sessionId: "", ciphertext: "" }, around));
  return ciphertext + ENVELOPE + 43 + encoder.encode(rest).length; // 43: the session's ID
}

/** The content of the encrypted event. */
export function encodedRoomEvent(
  { sessionId, ciphertext }: { readonly sessionId: string; readonly ciphertext: string },
  { own, relatesTo }: { readonly own: OwnDevice; readonly relatesTo: RelatesTo | undefined },
): RoomEncryptedContent {
  return {
    algorithm: EncryptionAlgorithm.MEGOLM_V1,
    ciphertext,
    session_id: sessionId,
    sender_key: own.curve25519,
    device_id: own.deviceId,
    ...(relatesTo === undefined ? {} : { "m.relates_to": relatesTo }),
  };
}

function toJson({ roomId, eventType, content }: EncryptInput): string {
  try {
    return JSON.stringify({ type: eventType, content, room_id: roomId });
  } catch (cause) {
    throw new EncryptionError(
      `Cannot encrypt event of type "${eventType}" for room ${roomId}: its content has no JSON form; ` +
        "leave out cycles and big integers",
      { cause },
    );
  }
}
