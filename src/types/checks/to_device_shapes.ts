/**
 * Contents of the events that are sent to devices, and of those by which two devices,
 * or two users, verify each other.
 *
 * @module
 */

import type {
  BaseVerificationContent,
  OlmCiphertext,
  OlmEncryptedContent,
  ReciprocateStartContent,
  SasStartContent,
  VerificationAcceptContent,
  VerificationCancelContent,
  VerificationDoneContent,
  VerificationKeyContent,
  VerificationMacContent,
  VerificationReadyContent,
  VerificationRequestContent,
  VerificationStartContent,
} from "../content/encryption_content.ts";
import type { VerificationRelatesTo } from "../content/message_content.ts";
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
import { EncryptionAlgorithm, RelationType } from "../enums.ts";
import {
  anyObject,
  boolean,
  eventId,
  list,
  map,
  type Members,
  number,
  object,
  oneOf,
  optional,
  orElse,
  roomId,
  type Shape,
  tag,
  text,
  variants,
} from "./shape.ts";
import { encryptedFile } from "./message_shapes.ts";

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

const base: Members<BaseVerificationContent> = {
  transaction_id: optional(text),
  "m.relates_to": optional(object<VerificationRelatesTo>({
    rel_type: oneOf(RelationType.REFERENCE),
    event_id: eventId,
  })),
};

/** `m.key.verification.request`. */
export const verificationRequest: Shape<VerificationRequestContent> = object<VerificationRequestContent>({
  from_device: text,
  methods: list(text),
  transaction_id: optional(text),
  timestamp: optional(number),
});

/** `m.key.verification.ready`. */
export const verificationReady: Shape<VerificationReadyContent> = object<VerificationReadyContent>({
  ...base,
  from_device: text,
  methods: list(text),
});

/** `m.key.verification.start`. */
export const verificationStart: Shape<VerificationStartContent> = variants<{
  "m.sas.v1": SasStartContent;
  "m.reciprocate.v1": ReciprocateStartContent;
}>("method", {
  "m.sas.v1": object<SasStartContent>({
    ...base,
    method: tag(),
    from_device: text,
    key_agreement_protocols: list(text),
    hashes: list(text),
    message_authentication_codes: list(text),
    short_authentication_string: list(text),
  }),
  "m.reciprocate.v1": object<ReciprocateStartContent>({
    ...base,
    method: tag(),
    from_device: text,
    secret: text,
  }),
});

/** `m.key.verification.accept`. */
export const verificationAccept: Shape<VerificationAcceptContent> = object<VerificationAcceptContent>({
  ...base,
  method: optional(oneOf("m.sas.v1")),
  key_agreement_protocol: text,
  hash: text,
  message_authentication_code: text,
  short_authentication_string: list(text),
  commitment: text,
});

/** `m.key.verification.key`. */
export const verificationKey: Shape<VerificationKeyContent> = object<VerificationKeyContent>({
  ...base,
  key: text,
});

/** `m.key.verification.mac`. */
export const verificationMac: Shape<VerificationMacContent> = object<VerificationMacContent>({
  ...base,
  mac: map<VerificationMacContent["mac"]>(text),
  keys: text,
});

/** `m.key.verification.done`. */
export const verificationDone: Shape<VerificationDoneContent> = object<VerificationDoneContent>(base);

/** `m.key.verification.cancel`. */
export const verificationCancel: Shape<VerificationCancelContent> = object<VerificationCancelContent>({
  ...base,
  code: text,
  reason: orElse(text, () => ""),
});
