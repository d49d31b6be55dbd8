/**
 * Contents of account data: the user's private data, global or of a room.
 *
 * Contents are type aliases, and not interfaces, so that each is also a `JsonObject`.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#client-config | Client config}
 * @module
 */

import type { EventID, RoomID, UserID } from "../ids.ts";
import type { Open } from "../enums.ts";
import type { PushRuleset } from "../api/push_rule.ts";

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
