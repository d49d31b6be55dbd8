/**
 * What contents must be, by class and type: of all types of event that the specification defines.
 *
 * @module
 */

import type {
  BaseCallContent,
  CallAnswerContent,
  CallCandidate,
  CallCandidatesContent,
  CallHangupContent,
  CallInviteContent,
  CallNegotiateContent,
  CallRejectContent,
  CallSelectAnswerContent,
  CallStreamMetadataChangedContent,
  SessionDescription,
  StreamMetadata,
  StreamMetadataById,
} from "../content/message_content.ts";
import type {
  AccountDataContents,
  EphemeralContents,
  MessageContents,
  StateContents,
  ToDeviceContents,
} from "../events/event_map.ts";
import * as account from "./account_data_shapes.ts";
import {
  type AnyShape,
  boolean,
  either,
  list,
  map,
  type Members,
  number,
  object,
  oneOf,
  optional,
  orElse,
  type Shape,
  text,
  userId,
} from "./shape.ts";
import * as message from "./message_shapes.ts";
import * as state from "./state_shapes.ts";
import * as device from "./to_device_shapes.ts";

const base: Members<BaseCallContent> = {
  call_id: text,
  party_id: optional(text),
  version: orElse(either(text, oneOf(0)), () => 0),
};

const streams = map<StreamMetadataById>(object<StreamMetadata>({
  purpose: text,
  audio_muted: optional(boolean),
  video_muted: optional(boolean),
}));

function description<const Type extends "offer" | "answer">(
  ...types: Type[]
): Shape<SessionDescription<Type>> {
  return object<SessionDescription<Type>>(
    { type: oneOf(...types), sdp: text } as Members<SessionDescription<Type>>,
  );
}

/** `m.call.invite`. */
const callInvite: Shape<CallInviteContent> = object<CallInviteContent>({
  ...base,
  offer: description("offer"),
  lifetime: number,
  invitee: optional(userId),
  sdp_stream_metadata: optional(streams),
});

/** `m.call.candidates`. */
const callCandidates: Shape<CallCandidatesContent> = object<CallCandidatesContent>({
  ...base,
  candidates: list(object<CallCandidate>({
    candidate: text,
    sdpMid: optional(text),
    sdpMLineIndex: optional(number),
  })),
});

/** `m.call.answer`. */
const callAnswer: Shape<CallAnswerContent> = object<CallAnswerContent>({
  ...base,
  answer: description("answer"),
  sdp_stream_metadata: optional(streams),
});

/** `m.call.select_answer`. */
const callSelectAnswer: Shape<CallSelectAnswerContent> = object<CallSelectAnswerContent>({
  ...base,
  selected_party_id: text,
});

/** `m.call.negotiate`. */
const callNegotiate: Shape<CallNegotiateContent> = object<CallNegotiateContent>({
  ...base,
  description: description("offer", "answer"),
  lifetime: number,
  sdp_stream_metadata: optional(streams),
});

/** `m.call.sdp_stream_metadata_changed`. */
const callStreams: Shape<CallStreamMetadataChangedContent> = object<CallStreamMetadataChangedContent>({
  ...base,
  sdp_stream_metadata: streams,
});

/** `m.call.reject`. */
const callReject: Shape<CallRejectContent> = object<CallRejectContent>(base);

/** `m.call.hangup`. */
const callHangup: Shape<CallHangupContent> = object<CallHangupContent>({
  ...base,
  reason: optional(text),
});

/**
 * What contents must be, by type. Applications may add types, and check them by `defineEvent()`.
 */
type Shapes<Contents> = { readonly [Type in keyof Contents]?: Shape<Contents[Type]> };

const STATE: Shapes<StateContents> = {
  "m.policy.rule.room": state.policyRule,
  "m.policy.rule.server": state.policyRule,
  "m.policy.rule.user": state.policyRule,
  "m.room.aliases": state.roomAliases,
  "m.room.avatar": state.roomAvatar,
  "m.room.canonical_alias": state.canonicalAlias,
  "m.room.create": state.roomCreate,
  "m.room.encryption": state.roomEncryption,
  "m.room.guest_access": state.guestAccess,
  "m.room.history_visibility": state.historyVisibility,
  "m.room.image_pack": state.imagePack,
  "m.room.join_rules": state.joinRules,
  "m.room.member": state.roomMember,
  "m.room.name": state.roomName,
  "m.room.pinned_events": state.pinnedEvents,
  "m.room.policy": state.roomPolicy,
  "m.room.power_levels": state.powerLevels,
  "m.room.server_acl": state.serverAcl,
  "m.room.third_party_invite": state.thirdPartyInvite,
  "m.room.tombstone": state.tombstone,
  "m.room.topic": state.roomTopic,
  "m.space.child": state.spaceChild,
  "m.space.parent": state.spaceParent,
};

/** Those that a verification sends into a room and to devices alike. */
const VERIFICATION = {
  "m.key.verification.accept": device.verificationAccept,
  "m.key.verification.cancel": device.verificationCancel,
  "m.key.verification.done": device.verificationDone,
  "m.key.verification.key": device.verificationKey,
  "m.key.verification.mac": device.verificationMac,
  "m.key.verification.ready": device.verificationReady,
  "m.key.verification.start": device.verificationStart,
} as const;

const MESSAGE: Shapes<MessageContents> = {
  "m.call.answer": callAnswer,
  "m.call.candidates": callCandidates,
  "m.call.hangup": callHangup,
  "m.call.invite": callInvite,
  "m.call.negotiate": callNegotiate,
  "m.call.reject": callReject,
  "m.call.sdp_stream_metadata_changed": callStreams,
  "m.call.select_answer": callSelectAnswer,
  ...VERIFICATION,
  "m.reaction": message.reaction,
  "m.room.encrypted": message.megolmEncrypted,
  "m.room.message": message.roomMessage,
  "m.room.redaction": message.roomRedaction,
  "m.sticker": message.sticker,
};

const EPHEMERAL: Shapes<EphemeralContents> = {
  "m.presence": account.presence,
  "m.receipt": account.receipt,
  "m.typing": account.typing,
};

const ACCOUNT_DATA: Shapes<AccountDataContents> = {
  "m.accepted_terms": account.acceptedTerms,
  "m.cross_signing.master": account.encryptedSecret,
  "m.cross_signing.self_signing": account.encryptedSecret,
  "m.cross_signing.user_signing": account.encryptedSecret,
  "m.direct": account.direct,
  "m.fully_read": account.fullyRead,
  "m.identity_server": account.identityServer,
  "m.ignored_user_list": account.ignoredUsers,
  "m.image_pack.rooms": account.imagePackRooms,
  "m.invite_permission_config": account.invitePermission,
  "m.key_backup": account.keyBackup,
  "m.marked_unread": account.markedUnread,
  "m.megolm_backup.v1": account.encryptedSecret,
  "m.push_rules": account.pushRulesContent,
  "m.recent_emoji": account.recentEmoji,
  "m.secret_storage.default_key": account.defaultKey,
  "m.tag": account.tags,
};

const TO_DEVICE: Shapes<ToDeviceContents> = {
  "m.dummy": device.dummy,
  "m.forwarded_room_key": device.forwardedRoomKey,
  ...VERIFICATION,
  "m.key.verification.request": device.verificationRequest,
  "m.room.encrypted": device.olmEncrypted,
  "m.room_key": device.roomKey,
  "m.room_key.withheld": device.roomKeyWithheld,
  "m.room_key_bundle": device.roomKeyBundle,
  "m.room_key_request": device.roomKeyRequest,
  "m.secret.request": device.secretRequest,
  "m.secret.send": device.secretSend,
};

/**
 * The classes whose contents are checked, in the order in which the class of a name is looked up.
 */
export const CHECKED_CLASSES = ["state", "message", "ephemeral", "account_data", "to_device"] as const;

/** What contents must be, by class and type. */
const SHAPES: ReadonlyMap<string, ReadonlyMap<string, AnyShape>> = new Map(
  [STATE, MESSAGE, EPHEMERAL, ACCOUNT_DATA, TO_DEVICE].map((shapes, index) => [
    String(CHECKED_CLASSES[index]),
    new Map(Object.entries(shapes as Record<string, AnyShape>)),
  ]),
);

/** The types that the specification defines, of a class, or of all. */
export function knownTypes(eventClass?: typeof CHECKED_CLASSES[number]): string[] {
  return [...SHAPES].flatMap(([name, shapes]) =>
    eventClass === undefined || name === eventClass ? [...shapes.keys()] : []
  );
}

/** The only family of types that has no fixed names: the keys of secret storage, by their ID. */
const SECRET_STORAGE_KEY = "m.secret_storage.key.";

/**
 * Returns the shape of contents of a type in a class; undefined if the specification defines no such type.
 */
export function shapeOf(eventClass: string, type: string): AnyShape | undefined {
  const isSecretStorageKey = eventClass === "account_data" && type.startsWith(SECRET_STORAGE_KEY);
  return isSecretStorageKey
    ? account.secretStorageKey as unknown as AnyShape
    : SHAPES.get(eventClass)?.get(type);
}
