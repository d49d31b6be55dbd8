/**
 * Contents of private data that the server keeps for its user, as push rules and image packs are.
 *
 * Contents are type aliases, and not interfaces, so that each is also a `JsonObject`.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#push-rules | Push rules}
 *
 * @module
 */

import type { Open } from "../enums.ts";
import type { ContentURI, EventID, RoomID, UserID } from "../ids.ts";
import type { ImageInfo } from "./file_info.ts";

/** Content of `m.tag`, of a room: its tags. */
export type TagContent = {
  /**
   * The tags by name: `m.favourite`, `m.lowpriority`, `m.server_notice`, or the user's own behind
   * `u.`.
   */
  tags?: { [tag: string]: RoomTagInfo };
};

/** What is known of a room under a tag. */
export interface RoomTagInfo {
  /**
   * Where the room stands among those of the tag, from 0 to 1; after all that have one if absent.
   */
  order?: number;
}

/** Content of `m.fully_read`, of a room: the read marker. */
export type FullyReadContent = {
  /** The event at which the marker stands. */
  event_id: EventID;
};

/** Content of `m.marked_unread`, of a room. */
export type MarkedUnreadContent = {
  /** Whether the user marked the room as unread. */
  unread: boolean;
};

/** Content of `m.direct`: the direct chats by the user they are with. */
export type DirectContent = { [userId: UserID]: RoomID[] };

/** Content of `m.ignored_user_list`. */
export type IgnoredUserListContent = {
  /** By ignored user, an empty object. */
  ignored_users: { [userId: UserID]: Record<string, unknown> };
};

/** Content of `m.push_rules`. */
export type PushRulesContent = {
  /** The rules that apply to all devices. */
  global?: PushRuleset;
};

/** Content of `m.identity_server`. */
export type IdentityServerContent = {
  /** The identity server to use; `null` for none, the homeserver's choice if absent. */
  base_url?: string | null;
};

/** Content of `m.accepted_terms`. */
export type AcceptedTermsContent = {
  /** URLs of the terms that the user agreed to. */
  accepted?: string[];
};

/** Content of `m.invite_permission_config`. */
export type InvitePermissionConfigContent = {
  /**
   * What the server does with invitations: it refuses them all if `block`, and lets them through if
   * absent.
   */
  default_action?: Open<"block">;
};

/** Content of `m.recent_emoji`. */
export type RecentEmojiContent = {
  /** The emoji that the user used, the last one first. */
  recent_emoji: RecentEmoji[];
};

/** An emoji that the user used. */
export interface RecentEmoji {
  /** The character itself, or a sequence of several. */
  emoji: string;
  /** How often it was used. */
  total: number;
}

/** Content of `m.key_backup`: what the user decided about the backup of keys. */
export type KeyBackupContent = {
  /** Whether keys are to be backed up. */
  enabled: boolean;
};

/** Content of `m.secret_storage.default_key`. */
export type SecretStorageDefaultKeyContent = {
  /** The ID of the key that secrets are encrypted with by default. */
  key: string;
};

/** Content of `m.secret_storage.key.<ID>`: a key of secret storage, but not the key itself. */
export type SecretStorageKeyContent = {
  /** What secrets are encrypted with. */
  algorithm: Open<"m.secret_storage.v1.aes-hmac-sha2">;
  /** The key's name. */
  name?: string;
  /** How to make the key from a passphrase, if it was made from one. */
  passphrase?: SecretStoragePassphrase;
  /** The initialization vector of the check value: 16 bytes in base64. */
  iv?: string;
  /** The check value, in base64: the MAC of 32 zero bytes encrypted with the key. */
  mac?: string;
};

/** How a key of secret storage is made from a passphrase. */
export interface SecretStoragePassphrase {
  /** The algorithm: PBKDF2 with SHA-512. */
  algorithm: Open<"m.pbkdf2">;
  /** Makes keys of equal passphrases differ. */
  salt: string;
  /** How often PBKDF2 hashes; more makes guessing slower. */
  iterations: number;
  /** The length of the key, in bits. Default: 256. */
  bits?: number;
}

/**
 * Content of the secrets in secret storage: the private cross-signing keys and the key of the key
 * backup.
 */
export type EncryptedSecretContent = {
  /** The encrypted secret, by the ID of the key that decrypts it. */
  encrypted: { [keyId: string]: EncryptedSecret };
};

/** A secret, encrypted with `m.secret_storage.v1.aes-hmac-sha2`. */
export interface EncryptedSecret {
  /** The initialization vector: 16 bytes in base64. */
  iv: string;
  /** The encrypted secret, in base64. */
  ciphertext: string;
  /** The MAC of the encrypted secret, in base64. */
  mac: string;
}

/** Decides whether an event notifies. */
export interface PushRule {
  /** The rule's ID, unique within its kind; the server's own start with a dot. */
  rule_id: string;
  /** Whether the rule is one of the server's own. */
  default: boolean;
  /** Whether the rule is in force. */
  enabled: boolean;
  /** What to do when the rule matches; nothing if empty. */
  actions: PushAction[];
  /** Of `override` and `underride`: what must hold, all of it; the rule always matches if empty. */
  conditions?: PushCondition[];
  /** Of `content`: a glob that a word of the message matches. */
  pattern?: string;
}

/** The push rules of an account, by kind, each in order of priority. */
export interface PushRuleset {
  /** Rules of the highest priority, with conditions. */
  override?: PushRule[];
  /** Rules for messages whose text matches a pattern. */
  content?: PushRule[];
  /** Rules for one room each. */
  room?: PushRule[];
  /** Rules for one sender each. */
  sender?: PushRule[];
  /** Rules of the lowest priority, with conditions. */
  underride?: PushRule[];
}

/**
 * What to do with an event: notify, or say how. `dont_notify` and `coalesce` are obsolete and do
 * nothing.
 */
export type PushAction = Open<"notify"> | SetTweakAction;

/** A push action that says how to notify. */
export interface SetTweakAction {
  /** The tweak, such as `sound`. */
  set_tweak: Open<"sound" | "highlight">;
  /** The name of the sound (`default`), or whether to highlight (`true` if absent). */
  value?: unknown;
}

/** What must hold of an event. */
export interface PushCondition {
  /** What is looked at. A condition of unknown kind never holds. */
  kind: Open<PushConditionKind>;
  /**
   * Of the conditions on a property: its path in the event, dots between the parts
   * (`content.body`).
   */
  key?: string;
  /** Of `event_match`: a glob for the property. */
  pattern?: string;
  /** Of `room_member_count`: a number, which may follow `==`, `<`, `>`, `<=` or `>=`. */
  is?: string;
  /** Of `event_property_is` and `event_property_contains`: the value to look for. */
  value?: string | number | boolean | null;
}

/** What a condition can compare. */
export type PushConditionKind =
  /** A property matches a glob. */
  | "event_match"
  /** A property is a value. */
  | "event_property_is"
  /** A property is an array that has a value. */
  | "event_property_contains"
  /** The text has the user's display name; deprecated. */
  | "contains_display_name"
  /** The room has so many members. */
  | "room_member_count"
  /** The sender's power level suffices for the notification named by `key`. */
  | "sender_notification_permission";

/** The body of `setPushRule()`. */
export interface PushRuleUpdate {
  /** What to do when the rule matches. */
  actions: PushAction[];
  /** Of `override` and `underride`: what must hold. */
  conditions?: PushCondition[];
  /** Of `content`: a glob that a word of the message matches. */
  pattern?: string;
}

/** Content of `m.room.image_pack`; the state key names the pack. */
export type RoomImagePackContent = {
  /** The images by shortcode, without colons. */
  images: { [shortcode: string]: ImagePackImage };
  /** What is known of the pack as a whole. */
  pack?: ImagePackMeta;
};

/** A picture that is used as emoji or sticker. */
export interface ImagePackImage {
  /** Where the image is. */
  url: ContentURI;
  /** What the image shows or means, in words. */
  body?: string;
  /** What is known of the image. */
  info?: ImageInfo;
}

/** What is known of a pack as a whole. */
export interface ImagePackMeta {
  /** The pack's name. Default: the room's name. */
  display_name?: string;
  /** The pack's picture. Default: the room's avatar. */
  avatar_url?: ContentURI;
  /** What the images are for; both if absent or empty. */
  usage?: Open<"emoticon" | "sticker">[];
  /** Whom to thank for the images. */
  attribution?: string;
}

/** Content of `m.image_pack.rooms`: the packs that the user wants to have in all rooms. */
export type ImagePackRoomsContent = {
  /** By room and by the pack's state key, an empty object. */
  rooms: { [roomId: RoomID]: { [stateKey: string]: Record<string, unknown> } };
};
