/**
 * Contents of state.
 *
 * @module
 */

import type { RoomEncryptionContent } from "../content/encryption_content.ts";
import { GuestAccess, HistoryVisibility, Membership } from "../enums.ts";
import type { ImagePackImage, ImagePackMeta, RoomImagePackContent } from "../content/account_data_content.ts";
import type {
  AllowCondition,
  NotificationPowerLevels,
  PolicyRuleContent,
  PolicyServerKeys,
  PreviousRoom,
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
  SignedThirdPartyInvite,
  SpaceChildContent,
  SpaceParentContent,
  TextualRepresentation,
  ThirdPartyInvite,
  ThirdPartyInviteKey,
  TopicContentBlock,
} from "../content/room_state_content.ts";
import { avatarInfo, imageInfo } from "./message_shapes.ts";
import {
  boolean,
  contentUri,
  eventId,
  having,
  level,
  list,
  map,
  nullable,
  number,
  object,
  oneOf,
  optional,
  orElse,
  roomAlias,
  roomId,
  type Shape,
  text,
  userId,
} from "./shape.ts";

type Signatures = SignedThirdPartyInvite["signatures"];

/** `m.room.member`. */
export const roomMember: Shape<RoomMemberContent> = object<RoomMemberContent>({
  membership: oneOf(...Object.values(Membership)),
  displayname: optional(nullable(text)),
  avatar_url: optional(nullable(contentUri)),
  is_direct: optional(boolean),
  reason: optional(text),
  join_authorised_via_users_server: optional(userId),
  third_party_invite: optional(object<ThirdPartyInvite>({
    display_name: text,
    signed: object<SignedThirdPartyInvite>({
      mxid: userId,
      signatures: map<Signatures>(map<Signatures[string]>(text)),
      token: text,
    }),
  })),
});

/** `m.room.third_party_invite`. */
export const thirdPartyInvite: Shape<RoomThirdPartyInviteContent> = object<RoomThirdPartyInviteContent>({
  display_name: text,
  key_validity_url: optional(text),
  public_key: optional(text),
  public_keys: optional(list(object<ThirdPartyInviteKey>({
    public_key: text,
    key_validity_url: optional(text),
  }))),
});

/** `m.room.create`. */
export const roomCreate: Shape<RoomCreateContent> = object<RoomCreateContent>({
  creator: optional(userId),
  additional_creators: optional(list(userId)),
  "m.federate": optional(boolean),
  room_version: optional(text),
  type: optional(text),
  predecessor: optional(object<PreviousRoom>({ room_id: roomId, event_id: optional(eventId) })),
});

/** `m.room.name`. */
export const roomName: Shape<RoomNameContent> = object<RoomNameContent>({ name: text });

/** `m.room.topic`. */
export const roomTopic: Shape<RoomTopicContent> = object<RoomTopicContent>({
  topic: text,
  "m.topic": optional(object<TopicContentBlock>({
    "m.text": optional(list(object<TextualRepresentation>({ body: text, mimetype: optional(text) }))),
  })),
});

/** `m.room.avatar`. */
export const roomAvatar: Shape<RoomAvatarContent> = object<RoomAvatarContent>({
  url: optional(contentUri),
  info: optional(avatarInfo),
});

/** `m.room.canonical_alias`. */
export const canonicalAlias: Shape<RoomCanonicalAliasContent> = object<RoomCanonicalAliasContent>({
  alias: optional(nullable(roomAlias)),
  alt_aliases: optional(list(roomAlias)),
});

/** `m.room.aliases`. */
export const roomAliases: Shape<RoomAliasesContent> = object<RoomAliasesContent>({
  aliases: list(roomAlias),
});

/** `m.room.join_rules`. */
export const joinRules: Shape<RoomJoinRulesContent> = object<RoomJoinRulesContent>({
  join_rule: text,
  allow: optional(list(object<AllowCondition>({ type: text, room_id: optional(roomId) }))),
});

/** `m.room.history_visibility`. */
export const historyVisibility: Shape<RoomHistoryVisibilityContent> = object<RoomHistoryVisibilityContent>({
  history_visibility: oneOf(...Object.values(HistoryVisibility)),
});

/** `m.room.guest_access`. */
export const guestAccess: Shape<RoomGuestAccessContent> = object<RoomGuestAccessContent>({
  guest_access: oneOf(...Object.values(GuestAccess)),
});

/** `m.room.pinned_events`. */
export const pinnedEvents: Shape<RoomPinnedEventsContent> = object<RoomPinnedEventsContent>({
  pinned: list(eventId),
});

/** `m.room.power_levels`. */
export const powerLevels: Shape<RoomPowerLevelsContent> = object<RoomPowerLevelsContent>({
  users: optional(map<NonNullable<RoomPowerLevelsContent["users"]>>(level)),
  users_default: optional(level),
  events: optional(map<NonNullable<RoomPowerLevelsContent["events"]>>(level)),
  events_default: optional(level),
  state_default: optional(level),
  invite: optional(level),
  kick: optional(level),
  ban: optional(level),
  redact: optional(level),
  notifications: optional(map<NotificationPowerLevels>(level)),
});

/** `m.room.server_acl`. */
export const serverAcl: Shape<RoomServerAclContent> = object<RoomServerAclContent>({
  allow_ip_literals: optional(boolean),
  allow: optional(list(text)),
  deny: optional(list(text)),
});

/** `m.room.tombstone`. */
export const tombstone: Shape<RoomTombstoneContent> = object<RoomTombstoneContent>({
  body: optional(text),
  replacement_room: roomId,
});

/** `m.room.policy`. */
export const roomPolicy: Shape<RoomPolicyContent> = object<RoomPolicyContent>({
  via: text,
  public_keys: having("ed25519", map<PolicyServerKeys>(text)),
});

/** `m.policy.rule.user`, `.room` and `.server`. */
export const policyRule: Shape<PolicyRuleContent> = object<PolicyRuleContent>({
  entity: text,
  recommendation: text,
  reason: optional(text),
});

/** `m.space.child`. */
export const spaceChild: Shape<SpaceChildContent> = object<SpaceChildContent>({
  via: list(text),
  order: optional(text),
  suggested: optional(boolean),
});

/** `m.space.parent`. */
export const spaceParent: Shape<SpaceParentContent> = object<SpaceParentContent>({
  via: list(text),
  canonical: optional(boolean),
});

/** `m.room.encryption`. */
export const roomEncryption: Shape<RoomEncryptionContent> = object<RoomEncryptionContent>({
  algorithm: text,
  rotation_period_ms: optional(number),
  rotation_period_msgs: optional(number),
});

/** `m.room.image_pack`. */
export const imagePack: Shape<RoomImagePackContent> = object<RoomImagePackContent>({
  images: orElse(
    map<RoomImagePackContent["images"]>(object<ImagePackImage>({
      url: contentUri,
      body: optional(text),
      info: optional(imageInfo),
    })),
    () => ({}),
  ),
  pack: optional(object<ImagePackMeta>({
    display_name: optional(text),
    avatar_url: optional(contentUri),
    usage: optional(list(text)),
    attribution: optional(text),
  })),
});
