/**
 * Contents of account data, and of what is not kept.
 *
 * @module
 */

import type {
  AcceptedTermsContent,
  DirectContent,
  EncryptedSecret,
  EncryptedSecretContent,
  FullyReadContent,
  IdentityServerContent,
  IgnoredUserListContent,
  ImagePackRoomsContent,
  InvitePermissionConfigContent,
  KeyBackupContent,
  MarkedUnreadContent,
  PushCondition,
  PushRule,
  PushRulesContent,
  PushRuleset,
  RecentEmoji,
  RecentEmojiContent,
  RoomTagInfo,
  SecretStorageDefaultKeyContent,
  SecretStorageKeyContent,
  SecretStoragePassphrase,
  SetTweakAction,
  TagContent,
} from "../content/account_data_content.ts";
import type {
  EventReceipts,
  PresenceContent,
  Receipt,
  ReceiptContent,
  TypingContent,
} from "../content/to_device_content.ts";
import {
  anyObject,
  anything,
  boolean,
  contentUri,
  either,
  eventId,
  list,
  map,
  nullable,
  number,
  object,
  oneOf,
  optional,
  orElse,
  roomId,
  type Shape,
  text,
  userId,
} from "./shape.ts";

/** `m.tag`. */
export const tags: Shape<TagContent> = object<TagContent>({
  tags: optional(map<NonNullable<TagContent["tags"]>>(object<RoomTagInfo>({ order: optional(number) }))),
});

/** `m.fully_read`. */
export const fullyRead: Shape<FullyReadContent> = object<FullyReadContent>({ event_id: eventId });

/** `m.marked_unread`. */
export const markedUnread: Shape<MarkedUnreadContent> = object<MarkedUnreadContent>({ unread: boolean });

/** `m.direct`. */
export const direct: Shape<DirectContent> = map<DirectContent>(list(roomId));

/** `m.ignored_user_list`. */
export const ignoredUsers: Shape<IgnoredUserListContent> = object<IgnoredUserListContent>({
  ignored_users: orElse(map<IgnoredUserListContent["ignored_users"]>(anyObject), () => ({})),
});

const pushRules = list(object<PushRule>({
  rule_id: text,
  default: orElse(boolean, () => false),
  enabled: orElse(boolean, () => true),
  actions: list(either(text, object<SetTweakAction>({ set_tweak: text, value: optional(anything) }))),
  conditions: optional(list(object<PushCondition>({
    kind: text,
    key: optional(text),
    pattern: optional(text),
    is: optional(text),
    value: optional(nullable(either(text, either(number, boolean)))),
  }))),
  pattern: optional(text),
}));

/** `m.push_rules`. */
export const pushRulesContent: Shape<PushRulesContent> = object<PushRulesContent>({
  global: optional(object<PushRuleset>({
    override: optional(pushRules),
    content: optional(pushRules),
    room: optional(pushRules),
    sender: optional(pushRules),
    underride: optional(pushRules),
  })),
});

/** `m.identity_server`. */
export const identityServer: Shape<IdentityServerContent> = object<IdentityServerContent>({
  base_url: optional(nullable(text)),
});

/** `m.accepted_terms`. */
export const acceptedTerms: Shape<AcceptedTermsContent> = object<AcceptedTermsContent>({
  accepted: optional(list(text)),
});

/** `m.invite_permission_config`. */
export const invitePermission: Shape<InvitePermissionConfigContent> = object<InvitePermissionConfigContent>({
  default_action: optional(text),
});

/** `m.recent_emoji`. */
export const recentEmoji: Shape<RecentEmojiContent> = object<RecentEmojiContent>({
  recent_emoji: list(object<RecentEmoji>({ emoji: text, total: number })),
});

/** `m.key_backup`. */
export const keyBackup: Shape<KeyBackupContent> = object<KeyBackupContent>({ enabled: boolean });

/** `m.secret_storage.default_key`. */
export const defaultKey: Shape<SecretStorageDefaultKeyContent> = object<SecretStorageDefaultKeyContent>({
  key: text,
});

/** `m.secret_storage.key.<ID>`. */
export const secretStorageKey: Shape<SecretStorageKeyContent> = object<SecretStorageKeyContent>({
  algorithm: text,
  name: optional(text),
  passphrase: optional(object<SecretStoragePassphrase>({
    algorithm: text,
    salt: text,
    iterations: number,
    bits: optional(number),
  })),
  iv: optional(text),
  mac: optional(text),
});

/** Secrets in secret storage. */
export const encryptedSecret: Shape<EncryptedSecretContent> = object<EncryptedSecretContent>({
  encrypted: map<EncryptedSecretContent["encrypted"]>(object<EncryptedSecret>({
    iv: text,
    ciphertext: text,
    mac: text,
  })),
});

/** `m.image_pack.rooms`. */
export const imagePackRooms: Shape<ImagePackRoomsContent> = object<ImagePackRoomsContent>({
  rooms: orElse(
    map<ImagePackRoomsContent["rooms"]>(map<Record<string, Record<string, unknown>>>(anyObject)),
    () => ({}),
  ),
});

/** `m.typing`. */
export const typing: Shape<TypingContent> = object<TypingContent>({ user_ids: list(userId) });

const receipts = map<NonNullable<EventReceipts["m.read"]>>(object<Receipt>({
  ts: optional(number),
  thread_id: optional(either(oneOf("main"), eventId)),
}));

/** `m.receipt`. */
export const receipt: Shape<ReceiptContent> = map<ReceiptContent>(object<EventReceipts>({
  "m.read": optional(receipts),
  "m.read.private": optional(receipts),
}));

/** `m.presence`. */
export const presence: Shape<PresenceContent> = object<PresenceContent>({
  presence: text,
  last_active_ago: optional(number),
  currently_active: optional(boolean),
  status_msg: optional(nullable(text)),
  displayname: optional(nullable(text)),
  avatar_url: optional(nullable(contentUri)),
});
