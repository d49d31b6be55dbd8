/**
 * Which content goes with which type of event, by class, and what follows from it.
 *
 * The five interfaces can be extended: an application that declares its own types by declaration
 * merging gets them typed wherever Greenroom types an event, unchecked. `defineEvent()` does the
 * same for one type, and checks contents at run time too, as those of the types below are.
 *
 * @example Declare a type of state
 * ```ts ignore
 * declare module "@greenroom/matrix" {
 *   interface StateContents {
 *     "com.example.poll": { question: string; options: string[] };
 *   }
 * }
 * ```
 *
 * @module
 */

import type {
  AcceptedTermsContent,
  DirectContent,
  EncryptedSecretContent,
  FullyReadContent,
  IdentityServerContent,
  IgnoredUserListContent,
  ImagePackRoomsContent,
  InvitePermissionConfigContent,
  KeyBackupContent,
  MarkedUnreadContent,
  PushRulesContent,
  RecentEmojiContent,
  RoomImagePackContent,
  SecretStorageDefaultKeyContent,
  SecretStorageKeyContent,
  TagContent,
} from "../content/account_data_content.ts";
import type {
  CallAnswerContent,
  CallCandidatesContent,
  CallHangupContent,
  CallInviteContent,
  CallNegotiateContent,
  CallRejectContent,
  CallSelectAnswerContent,
  CallStreamMetadataChangedContent,
  ReactionContent,
  RoomMessageContent,
  RoomRedactionContent,
  StickerContent,
} from "../content/message_content.ts";
import type {
  OlmEncryptedContent,
  RoomEncryptedContent,
  RoomEncryptionContent,
  VerificationAcceptContent,
  VerificationCancelContent,
  VerificationDoneContent,
  VerificationKeyContent,
  VerificationMacContent,
  VerificationReadyContent,
  VerificationRequestContent,
  VerificationStartContent,
} from "../content/encryption_content.ts";
import type {
  DummyContent,
  ForwardedRoomKeyContent,
  PresenceContent,
  ReceiptContent,
  RoomKeyBundleContent,
  RoomKeyContent,
  RoomKeyRequestContent,
  RoomKeyWithheldContent,
  SecretRequestContent,
  SecretSendContent,
  TypingContent,
} from "../content/to_device_content.ts";
import type {
  PolicyRuleContent,
  RoomAliasesContent,
  RoomAvatarContent,
  RoomCanonicalAliasContent,
  RoomCreateContent,
  RoomGuestAccessContent,
  RoomHistoryVisibilityContent,
  RoomJoinRulesContent,
  RoomMemberContent,
  RoomNameContent,
  RoomPinnedEventsContent,
  RoomPolicyContent,
  RoomPowerLevelsContent,
  RoomServerAclContent,
  RoomThirdPartyInviteContent,
  RoomTombstoneContent,
  RoomTopicContent,
  SpaceChildContent,
  SpaceParentContent,
} from "../content/room_state_content.ts";

/** Contents of state events, by type. */
export interface StateContents {
  /** A room that is not wanted. */
  "m.policy.rule.room": PolicyRuleContent;
  /** A server that is not wanted. */
  "m.policy.rule.server": PolicyRuleContent;
  /** A user who is not wanted. */
  "m.policy.rule.user": PolicyRuleContent;
  /** A server's aliases of the room; no longer sent. */
  "m.room.aliases": RoomAliasesContent;
  /** The room's picture. */
  "m.room.avatar": RoomAvatarContent;
  /** The alias to show, and others. */
  "m.room.canonical_alias": RoomCanonicalAliasContent;
  /** The creation of the room: version, type and predecessor. */
  "m.room.create": RoomCreateContent;
  /** That the room is encrypted, and how. */
  "m.room.encryption": RoomEncryptionContent;
  /** Whether guests may join. */
  "m.room.guest_access": RoomGuestAccessContent;
  /** Who may read the history. */
  "m.room.history_visibility": RoomHistoryVisibilityContent;
  /** Custom emoji and stickers. */
  "m.room.image_pack": RoomImagePackContent;
  /** Who may join. */
  "m.room.join_rules": RoomJoinRulesContent;
  /** What a user is to the room. */
  "m.room.member": RoomMemberContent;
  /** How users see the room called. */
  "m.room.name": RoomNameContent;
  /** The events to keep at hand. */
  "m.room.pinned_events": RoomPinnedEventsContent;
  /** The server that vets the room's events. */
  "m.room.policy": RoomPolicyContent;
  /** The power levels of users and of actions. */
  "m.room.power_levels": RoomPowerLevelsContent;
  /** Which servers may take part. */
  "m.room.server_acl": RoomServerAclContent;
  /** An invitation by email address or phone number. */
  "m.room.third_party_invite": RoomThirdPartyInviteContent;
  /** The room's end, and where to go on. */
  "m.room.tombstone": RoomTombstoneContent;
  /** What the room is about, in a line or two. */
  "m.room.topic": RoomTopicContent;
  /** A room that belongs to the space. */
  "m.space.child": SpaceChildContent;
  /** A space that the room belongs to. */
  "m.space.parent": SpaceParentContent;
}

/** Contents of messages, by type. */
export interface MessageContents {
  /** The called side answers. */
  "m.call.answer": CallAnswerContent;
  /** Ways to reach one end of a call. */
  "m.call.candidates": CallCandidatesContent;
  /** A call ends. */
  "m.call.hangup": CallHangupContent;
  /** A call begins. */
  "m.call.invite": CallInviteContent;
  /** A call's session changes. */
  "m.call.negotiate": CallNegotiateContent;
  /** A call is declined. */
  "m.call.reject": CallRejectContent;
  /** What a call's streams carry changes. */
  "m.call.sdp_stream_metadata_changed": CallStreamMetadataChangedContent;
  /** The caller takes one of the answers. */
  "m.call.select_answer": CallSelectAnswerContent;
  /** Verification in a room: what both will use. */
  "m.key.verification.accept": VerificationAcceptContent;
  /** Verification in a room: called off. */
  "m.key.verification.cancel": VerificationCancelContent;
  /** Verification in a room: one side is done. */
  "m.key.verification.done": VerificationDoneContent;
  /** Verification in a room: an ephemeral key. */
  "m.key.verification.key": VerificationKeyContent;
  /** Verification in a room: the verified keys. */
  "m.key.verification.mac": VerificationMacContent;
  /** Verification in a room: the request is accepted. */
  "m.key.verification.ready": VerificationReadyContent;
  /** Verification in a room: a method begins. */
  "m.key.verification.start": VerificationStartContent;
  /** A reaction to an event. */
  "m.reaction": ReactionContent;
  /** An encrypted event. */
  "m.room.encrypted": RoomEncryptedContent;
  /** What someone said, wrote or attached. */
  "m.room.message": RoomMessageContent;
  /** The removal of what an event says. */
  "m.room.redaction": RoomRedactionContent;
  /** A picture that stands for itself. */
  "m.sticker": StickerContent;
}

/** Contents of what is not kept, by type. */
export interface EphemeralContents {
  /** A presence update of a user. */
  "m.presence": PresenceContent;
  /** Who has read up to where. */
  "m.receipt": ReceiptContent;
  /** The users who are typing. */
  "m.typing": TypingContent;
}

/** Contents of account data, by type. */
export interface AccountDataContents {
  /** Terms that the user agreed to. */
  "m.accepted_terms": AcceptedTermsContent;
  /** The private master key, in secret storage. */
  "m.cross_signing.master": EncryptedSecretContent;
  /** The private self-signing key, in secret storage. */
  "m.cross_signing.self_signing": EncryptedSecretContent;
  /** The private user-signing key, in secret storage. */
  "m.cross_signing.user_signing": EncryptedSecretContent;
  /** Which rooms are direct chats. */
  "m.direct": DirectContent;
  /** Of a room: the read marker. */
  "m.fully_read": FullyReadContent;
  /** The identity server to use. */
  "m.identity_server": IdentityServerContent;
  /** Users of whom nothing is to be seen. */
  "m.ignored_user_list": IgnoredUserListContent;
  /** Image packs to have in all rooms. */
  "m.image_pack.rooms": ImagePackRoomsContent;
  /** Which invitations are let through. */
  "m.invite_permission_config": InvitePermissionConfigContent;
  /** Whether keys are to be backed up. */
  "m.key_backup": KeyBackupContent;
  /** Of a room: whether it is marked as unread. */
  "m.marked_unread": MarkedUnreadContent;
  /** The key of the key backup, in secret storage. */
  "m.megolm_backup.v1": EncryptedSecretContent;
  /** The push rules of the user. */
  "m.push_rules": PushRulesContent;
  /** The emoji used last. */
  "m.recent_emoji": RecentEmojiContent;
  /** The key that secrets are encrypted with by default. */
  "m.secret_storage.default_key": SecretStorageDefaultKeyContent;
  /** The tags of a room. */
  "m.tag": TagContent;
  /** A key of secret storage, by its ID. */
  [key: `m.secret_storage.key.${string}`]: SecretStorageKeyContent;
}

/** Contents of messages to a device, by type. */
export interface ToDeviceContents {
  /** Nothing; sets up an Olm session. */
  "m.dummy": DummyContent;
  /** A room key that another device has forwarded. */
  "m.forwarded_room_key": ForwardedRoomKeyContent;
  /** Verification: what both will use. */
  "m.key.verification.accept": VerificationAcceptContent;
  /** Verification: called off. */
  "m.key.verification.cancel": VerificationCancelContent;
  /** Verification: one side is done. */
  "m.key.verification.done": VerificationDoneContent;
  /** Verification: an ephemeral key. */
  "m.key.verification.key": VerificationKeyContent;
  /** Verification: the verified keys. */
  "m.key.verification.mac": VerificationMacContent;
  /** Verification: the request is accepted. */
  "m.key.verification.ready": VerificationReadyContent;
  /** Asks to verify each other. */
  "m.key.verification.request": VerificationRequestContent;
  /** Verification: a method begins. */
  "m.key.verification.start": VerificationStartContent;
  /** An event, encrypted for the device. */
  "m.room.encrypted": OlmEncryptedContent;
  /** Opens the messages of a Megolm session. */
  "m.room_key": RoomKeyContent;
  /** That there will be no key. */
  "m.room_key.withheld": RoomKeyWithheldContent;
  /** Keys to a room's history. */
  "m.room_key_bundle": RoomKeyBundleContent;
  /** A device asks another for a room key. */
  "m.room_key_request": RoomKeyRequestContent;
  /** A device asks another for a secret, like the key of the backup. */
  "m.secret.request": SecretRequestContent;
  /** Answers a request for a secret. */
  "m.secret.send": SecretSendContent;
}

/** Types of state. */
export type StateEventType = keyof StateContents;
/** Types of message. */
export type MessageEventType = keyof MessageContents;
/** Types of what is not kept. */
export type EphemeralEventType = keyof EphemeralContents;
/** Types of account data. */
export type AccountDataEventType = keyof AccountDataContents;
/** Types of message to a device. */
export type ToDeviceEventType = keyof ToDeviceContents;
