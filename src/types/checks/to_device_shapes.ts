/**
 * Contents of what devices send one another to share keys and secrets.
 * A file of its own because its shapes are taken as one group, as those of other classes are.
 *
 * @module
 */

import type { OlmCiphertext, OlmEncryptedContent } from "../content/encryption_content.ts";
import { EncryptionAlgorithm } from "../enums.ts";
import type {
  DummyContent,
  ForwardedKeyWithheld,
  ForwardedRoomKeyContent,
  RequestedKeyInfo,
  RoomKeyBundleContent,
  RoomKeyContent,
  RoomKeyRequestContent,
  RoomKeyWithheldContent,
  SecretRequestContent,
  SecretSendContent,
} from "../content/to_device_content.ts";
import { encryptedFile } from "./file_shapes.ts";
import { list, map, object } from "./composite_shapes.ts";
import { anyObject, boolean, oneOf, optional, orElse, roomId, type Shape, text } from "./shape.ts";

const megolm = oneOf(EncryptionAlgorithm.MEGOLM_V1);
const action = oneOf("request", "request_cancellation");

/** `m.dummy`: nothing is read of it. */
export const dummy: Shape<DummyContent> = anyObject;

/** `m.room.encrypted`, to a device. */
export const olmEncrypted: Shape<OlmEncryptedContent> = object<OlmEncryptedContent>({
  algorithm: oneOf(EncryptionAlgorithm.OLM_V1),
  sender_key: text,
  ciphertext: map<OlmEncryptedContent["ciphertext"]>(
    object<OlmCiphertext>({ type: oneOf(0, 1), body: text }),
  ),
});

/** `m.room_key`. */
export const roomKey: Shape<RoomKeyContent> = object<RoomKeyContent>({
  algorithm: megolm,
  room_id: roomId,
  session_id: text,
  session_key: text,
  shared_history: optional(boolean),
});

/** `m.forwarded_room_key`. */
export const forwardedRoomKey: Shape<ForwardedRoomKeyContent> = object<ForwardedRoomKeyContent>({
  algorithm: megolm,
  room_id: roomId,
  session_id: text,
  session_key: text,
  sender_key: text,
  sender_claimed_ed25519_key: text,
  forwarding_curve25519_key_chain: orElse(list(text), () => []),
  withheld: optional(object<ForwardedKeyWithheld>({ code: optional(text), reason: optional(text) })),
});

/** `m.room_key.withheld`. */
export const roomKeyWithheld: Shape<RoomKeyWithheldContent> = object<RoomKeyWithheldContent>({
  algorithm: megolm,
  room_id: optional(roomId),
  session_id: optional(text),
  sender_key: text,
  code: text,
  reason: optional(text),
  from_device: optional(text),
});

/** `m.room_key_request`. */
export const roomKeyRequest: Shape<RoomKeyRequestContent> = object<RoomKeyRequestContent>({
  action,
  requesting_device_id: text,
  request_id: text,
  body: optional(object<RequestedKeyInfo>({
    algorithm: text,
    room_id: roomId,
    session_id: text,
    sender_key: optional(text),
  })),
});

/** `m.room_key_bundle`. */
export const roomKeyBundle: Shape<RoomKeyBundleContent> = object<RoomKeyBundleContent>({
  room_id: roomId,
  file: encryptedFile,
});

/** `m.secret.request`. */
export const secretRequest: Shape<SecretRequestContent> = object<SecretRequestContent>({
  action,
  requesting_device_id: text,
  request_id: text,
  name: optional(text),
});

/** `m.secret.send`. */
export const secretSend: Shape<SecretSendContent> = object<SecretSendContent>({
  request_id: text,
  secret: text,
});
