/**
 * Contents of the state of rooms, but for encryption.
 *
 * Contents are type aliases, and not interfaces, so that each is also a `JsonObject`. Where nothing
 * is said of the state key, it is empty.
 *
 * @module
 */

import type { GuestAccess, HistoryVisibility, JoinRule, Membership, Open, RoomType } from "../enums.ts";
import type { ContentURI, EventID, RoomAlias, RoomID, UserID } from "../ids.ts";
import type { AvatarInfo } from "./file_info.ts";

/** Content of `m.room.create`, the first event of a room. */
export type RoomCreateContent = {
  /** Who created the room, up to room version 10; since then it is the event's sender. */
  creator?: UserID;
  /** Users who are creators beside the sender, since room version 12. */
  additional_creators?: UserID[];
  /** Whether users of other servers may join. Default: `true`. */
  "m.federate"?: boolean;
  /** The room's version. Default: `"1"`. */
  room_version?: string;
  /** What the room is for, if not for conversation. */
  type?: Open<RoomType>;
  /** The room that this one replaces. */
  predecessor?: PreviousRoom;
};

/** The room that another one replaces. */
export interface PreviousRoom {
  /** The old room. */
  room_id: RoomID;
  /** The last known event of the old room; deprecated. */
  event_id?: EventID;
}

/** Content of `m.room.name`. */
export type RoomNameContent = {
  /** The room's name; none if empty. At most 255 bytes. */
  name: string;
};

/** Content of `m.room.topic`. */
export type RoomTopicContent = {
  /** The topic, as plain text. */
  topic: string;
  /** The topic in several representations. */
  "m.topic"?: TopicContentBlock;
};

/** A topic in several representations. */
export interface TopicContentBlock {
  /** The representations, the best one first. */
  "m.text"?: TextualRepresentation[];
}

/** A text of one media type. */
export interface TextualRepresentation {
  /** The text. */
  body: string;
  /** The media type. Default: `text/plain`. */
  mimetype?: string;
}

/** Content of `m.room.avatar`. */
export type RoomAvatarContent = {
  /** Where the avatar is; the room has none if absent. */
  url?: ContentURI;
  /** What is known of the image. */
  info?: AvatarInfo;
};

/** Content of `m.room.canonical_alias`. */
export type RoomCanonicalAliasContent = {
  /** The alias to show; none if absent. */
  alias?: RoomAlias | null;
  /** Other aliases of the room. */
  alt_aliases?: RoomAlias[];
};

/**
 * Content of `m.room.aliases`, which is no longer sent; the state key is the server that has the
 * aliases.
 */
export type RoomAliasesContent = {
  aliases: RoomAlias[];
};

/** Content of `m.room.join_rules`. */
export type RoomJoinRulesContent = {
  /** Who may join. */
  join_rule: Open<JoinRule>;
  /** Of `restricted` and `knock_restricted`: the conditions of which one must hold. */
  allow?: AllowCondition[];
};

/** A condition under which a user may join a restricted room. */
export interface AllowCondition {
  /** What the condition is about: being in another room. */
  type: Open<"m.room_membership">;
  /** The room to be in. */
  room_id?: RoomID;
}

/** Content of `m.room.history_visibility`. */
export type RoomHistoryVisibilityContent = {
  /** Who may read the history. */
  history_visibility: HistoryVisibility;
};

/** Content of `m.room.guest_access`. */
export type RoomGuestAccessContent = {
  /** Whether guests may join. */
  guest_access: GuestAccess;
};

/** Content of `m.room.pinned_events`. */
export type RoomPinnedEventsContent = {
  /** The pinned events, in the order in which to show them. */
  pinned: EventID[];
};

/**
 * Content of `m.room.server_acl`: which servers may take part. Globs match names without port, in
 * any case.
 */
export type RoomServerAclContent = {
  /** Whether a server may go by an IP address. Default: `true`. */
  allow_ip_literals?: boolean;
  /** Globs of servers that may; none may if absent. */
  allow?: string[];
  /** Globs of servers that may not, whatever `allow` says. */
  deny?: string[];
};

/** Content of `m.room.tombstone`: the room is replaced. */
export type RoomTombstoneContent = {
  /** What members are shown. */
  body?: string;
  /** The room to go to. */
  replacement_room: RoomID;
};

/** Content of `m.room.policy`: a server that vets the room's events. */
export type RoomPolicyContent = {
  /** The server, one that has a member in the room. */
  via: string;
  /** The server's public keys by algorithm, in unpadded base64. */
  public_keys: PolicyServerKeys;
};

/** Public keys by algorithm. */
export interface PolicyServerKeys {
  /** The Ed25519 key, in unpadded base64. */
  ed25519: string;
  /** The key of another algorithm, in unpadded base64. */
  [algorithm: string]: string;
}

/**
 * Content of `m.policy.rule.user`, `.room` and `.server`; the state key is of the sender's choice.
 */
export type PolicyRuleContent = {
  /** A glob of the users, rooms or servers that the rule is for. */
  entity: string;
  /** What to do about them. */
  recommendation: Open<"m.ban">;
  /** Why, in words. The specification wants it; not everybody says it. */
  reason?: string;
};

/**
 * Content of `m.space.child`; the state key is the child room. The room is no child if `via` is
 * missing.
 */
export type SpaceChildContent = {
  /** Servers to join the child through. */
  via: string[];
  /** What to sort the children by: at most 50 printable ASCII characters. */
  order?: string;
  /** Whether to recommend the child. Default: `false`. */
  suggested?: boolean;
};

/**
 * Content of `m.space.parent`; the state key is the parent. The room is no parent if `via` is
 * missing.
 */
export type SpaceParentContent = {
  /** Servers to join the parent through. */
  via: string[];
  /** Whether it is the main one of several parents. Default: `false`. */
  canonical?: boolean;
};

/** Content of `m.room.member`; the state key is the user it is about. */
export type RoomMemberContent = {
  /** What the user is to the room now. */
  membership: Membership;
  /** The user's display name in this room. */
  displayname?: string | null;
  /** The user's avatar in this room. */
  avatar_url?: ContentURI | null;
  /** Whether the invitation is to a direct chat. */
  is_direct?: boolean;
  /** Why the membership changed, in the sender's words. */
  reason?: string;
  /** Of a restricted join: the user whose server vouched for it. */
  join_authorised_via_users_server?: UserID;
  /** The invitation by email address or phone number that this one follows. */
  third_party_invite?: ThirdPartyInvite;
};

/** How an invitation by email address or phone number became one of a user. */
export interface ThirdPartyInvite {
  /** What to show in place of the address. */
  display_name: string;
  /** The identity server's proof, for homeservers to check. */
  signed: SignedThirdPartyInvite;
}

/** An identity server's word that a user owns the invited address. */
export interface SignedThirdPartyInvite {
  /** The invited user. */
  mxid: UserID;
  /** Signatures by identity server and key ID, in unpadded base64. */
  signatures: { [server: string]: { [keyId: string]: string } };
  /** The state key of the `m.room.third_party_invite` event. */
  token: string;
}

/** Content of `m.room.third_party_invite`; the state key is the token that is to be signed. */
export type RoomThirdPartyInviteContent = {
  /** What to show in place of the address, and not the address. */
  display_name: string;
  /** Where to ask whether the key still holds: `?public_key=` is added to it. */
  key_validity_url?: string;
  /** The Ed25519 key whose signature of the token is accepted. */
  public_key?: string;
  /** Further keys whose signature is accepted. */
  public_keys?: ThirdPartyInviteKey[];
};

/** A key that may sign a third-party invitation. */
export interface ThirdPartyInviteKey {
  /** The Ed25519 key. */
  public_key: string;
  /** Where to ask whether the key still holds; without it, it does. */
  key_validity_url?: string;
}

/**
 * Content of `m.room.power_levels`: who may do what. The defaults hold for a room that has the
 * event; in one that does not, everyone may send state, and all other defaults are the same.
 *
 * The creators of a room of version 12 and later stand above all levels, and are not listed.
 */
export type RoomPowerLevelsContent = {
  /** The levels of users. */
  users?: { [userId: UserID]: number };
  /** The level of a user not listed. Default: 0. */
  users_default?: number;
  /** The levels it takes to send events, by type. */
  events?: { [type: string]: number };
  /** The level it takes to send a message whose type is not listed. Default: 0. */
  events_default?: number;
  /** The level it takes to send state whose type is not listed. Default: 50. */
  state_default?: number;
  /** The level it takes to invite. Default: 0. */
  invite?: number;
  /** The level it takes to remove members, and to lift bans together with `ban`. Default: 50. */
  kick?: number;
  /** The level it takes to ban. Default: 50. */
  ban?: number;
  /** The level it takes to redact events of others. Default: 50. */
  redact?: number;
  /** The levels it takes to notify. */
  notifications?: NotificationPowerLevels;
};

/** The levels it takes to notify, by key; 50 where a key is not listed. */
export interface NotificationPowerLevels {
  /** The level it takes to notify everyone in the room. Default: 50. */
  room?: number;
  /** The level it takes for another kind of notification. Default: 50. */
  [key: string]: number | undefined;
}
