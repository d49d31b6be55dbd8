/**
 * The named values of Matrix: what the wire calls `public_chat` is `RoomCreatePreset.PUBLIC` here.
 *
 * Each is a frozen-by-type object and the union of its values, so that `"public_chat"` is accepted
 * wherever the constant is. Where the specification leaves a list open, the records that use it
 * take any other string as well.
 *
 * @module
 */

/** One of the known values, which editors offer, or any other string. */
export type Open<Known extends string> = Known | (string & Record<never, never>);

/** Whether the server's room directory lists a room. */
export const RoomDirectoryVisibility = {
  /** Not listed; the default of a new room. */
  PRIVATE: "private",
  /** Listed. */
  PUBLIC: "public",
} as const;
/** A value of {@linkcode RoomDirectoryVisibility}. */
export type RoomDirectoryVisibility = typeof RoomDirectoryVisibility[keyof typeof RoomDirectoryVisibility];

/** The set of initial state that a new room starts from. */
export const RoomCreatePreset = {
  /** Join by invitation; history shared with members; guests may join. */
  PRIVATE: "private_chat",
  /** As `PRIVATE`, and every invitee gets the creator's power level. */
  TRUSTED_PRIVATE: "trusted_private_chat",
  /** Anyone may join; history shared with members; no guests. */
  PUBLIC: "public_chat",
} as const;
/** A value of {@linkcode RoomCreatePreset}. */
export type RoomCreatePreset = typeof RoomCreatePreset[keyof typeof RoomCreatePreset];

/** How a client proves who it is at login. */
export const LoginType = {
  PASSWORD: "m.login.password",
  /** With a short-lived token, as single sign-on and `/login/get_token` return. */
  TOKEN: "m.login.token",
  /** By single sign-on in a browser; ends in a `TOKEN` login. */
  SSO: "m.login.sso",
  /** As a user of the application service whose token is sent. */
  APPLICATION_SERVICE: "m.login.application_service",
  /** With a JSON Web Token; not in the specification, but some servers offer it. */
  JWT: "org.matrix.login.jwt",
} as const;
/** A value of {@linkcode LoginType}. */
export type LoginType = typeof LoginType[keyof typeof LoginType];

/** The `msgtype` of an `m.room.message` event. */
export const MessageType = {
  /** Plain or formatted text. */
  TEXT: "m.text",
  /** An action of the sender, as `/me` writes it. */
  EMOTE: "m.emote",
  /** Text of a bot, which other bots do not answer. */
  NOTICE: "m.notice",
  IMAGE: "m.image",
  /** A sticker; an event type of its own, and no `msgtype`, to the specification. */
  STICKER: "m.sticker",
  /** A video clip. */
  VIDEO: "m.video",
  /** An audio clip. */
  AUDIO: "m.audio",
  /** Any file. */
  FILE: "m.file",
  /** A place on earth. */
  LOCATION: "m.location",
  /** A notice of the homeserver's administration. */
  SERVER_NOTICE: "m.server_notice",
  /** The start of a device verification inside a room. */
  KEY_VERIFICATION_REQUEST: "m.key.verification.request",
} as const;
/** A value of {@linkcode MessageType}. */
export type MessageType = typeof MessageType[keyof typeof MessageType];

/** Whether a user is online, away or offline. */
export const PresenceState = {
  /** Connected, and active or recently so. */
  ONLINE: "online",
  /** Not connected. */
  OFFLINE: "offline",
  /** Connected, but idle. */
  UNAVAILABLE: "unavailable",
} as const;
/** A value of {@linkcode PresenceState}. */
export type PresenceState = typeof PresenceState[keyof typeof PresenceState];

/** Which way to go through a room's history. */
export const PaginationDirection = {
  /** From old to new. */
  FORWARD: "f",
  /** From new to old. */
  BACKWARD: "b",
} as const;
/** A value of {@linkcode PaginationDirection}. */
export type PaginationDirection = typeof PaginationDirection[keyof typeof PaginationDirection];

/** The kinds of push rule, in the order in which the server evaluates them. */
export const PushRuleKind = {
  /** Rules of the highest priority, with conditions. */
  OVERRIDE: "override",
  /** Rules for messages whose text matches a pattern. */
  CONTENT: "content",
  /** Rules for one room; the rule ID is the room ID. */
  ROOM: "room",
  /** Rules for one sender; the rule ID is the user ID. */
  SENDER: "sender",
  /** Rules of the lowest priority, with conditions. */
  UNDERRIDE: "underride",
} as const;
/** A value of {@linkcode PushRuleKind}. */
export type PushRuleKind = typeof PushRuleKind[keyof typeof PushRuleKind];

/** Where a push rule applies. */
export const PushRuleScope = {
  /** On all devices of the user; the only scope there is. */
  GLOBAL: "global",
} as const;
/** A value of {@linkcode PushRuleScope}. */
export type PushRuleScope = typeof PushRuleScope[keyof typeof PushRuleScope];

/** What a user is to a room. */
export const Membership = {
  /** Invited, and not yet joined. */
  INVITE: "invite",
  /** In the room. */
  JOIN: "join",
  /** Asking to be invited. */
  KNOCK: "knock",
  /** Not in the room: left, kicked, uninvited, unbanned or never there. */
  LEAVE: "leave",
  /** Banned: can neither join nor be invited. */
  BAN: "ban",
} as const;
/** A value of {@linkcode Membership}. */
export type Membership = typeof Membership[keyof typeof Membership];

/** What a receipt says about an event. */
export const ReceiptType = {
  /** The user has read up to it, and everyone may know. */
  READ: "m.read",
  /** The user has read up to it, and only the own devices may know. */
  READ_PRIVATE: "m.read.private",
  /** The user's read marker stands here; kept as account data. */
  FULLY_READ: "m.fully_read",
} as const;
/** A value of {@linkcode ReceiptType}. */
export type ReceiptType = typeof ReceiptType[keyof typeof ReceiptType];

/** How a thumbnail is fitted into the size that was asked for. */
export const ResizeMethod = {
  /** Cut to the aspect ratio that was asked for. */
  CROP: "crop",
  /** Scaled to fit inside, with its own aspect ratio; the default. */
  SCALE: "scale",
} as const;
/** A value of {@linkcode ResizeMethod}. */
export type ResizeMethod = typeof ResizeMethod[keyof typeof ResizeMethod];

/** How an event relates to another. */
export const RelationType = {
  /** Annotates it, as a reaction does. */
  ANNOTATION: "m.annotation",
  /** Refers to it, as the steps of a verification do. */
  REFERENCE: "m.reference",
  /** Replaces its content: an edit. */
  REPLACE: "m.replace",
  /** Belongs to the thread that it is the root of. */
  THREAD: "m.thread",
} as const;
/** A value of {@linkcode RelationType}. */
export type RelationType = typeof RelationType[keyof typeof RelationType];

/** Who may join a room. */
export const JoinRule = {
  /** Anyone. */
  PUBLIC: "public",
  /** The invited; others may knock. */
  KNOCK: "knock",
  /** The invited. */
  INVITE: "invite",
  /** Reserved; treat it as `INVITE`. */
  PRIVATE: "private",
  /** The invited, and who satisfies one of the `allow` conditions. */
  RESTRICTED: "restricted",
  /** As `RESTRICTED`, and others may knock. */
  KNOCK_RESTRICTED: "knock_restricted",
} as const;
/** A value of {@linkcode JoinRule}. */
export type JoinRule = typeof JoinRule[keyof typeof JoinRule];

/** Who may read a room's history. */
export const HistoryVisibility = {
  /** Members, from the point at which they were invited. */
  INVITED: "invited",
  /** Members, from the point at which they joined. */
  JOINED: "joined",
  /** Members, all of it; what a room has that says nothing. */
  SHARED: "shared",
  /** Anyone. */
  WORLD_READABLE: "world_readable",
} as const;
/** A value of {@linkcode HistoryVisibility}. */
export type HistoryVisibility = typeof HistoryVisibility[keyof typeof HistoryVisibility];

/** Whether guests may join a room. */
export const GuestAccess = {
  /** They may, if the join rules let them. */
  CAN_JOIN: "can_join",
  /** They may not; what a room has that says nothing. */
  FORBIDDEN: "forbidden",
} as const;
/** A value of {@linkcode GuestAccess}. */
export type GuestAccess = typeof GuestAccess[keyof typeof GuestAccess];

/** What a room is for, if not for conversation. */
export const RoomType = {
  /** A space: a room that lists rooms. */
  SPACE: "m.space",
} as const;
/** A value of {@linkcode RoomType}. */
export type RoomType = typeof RoomType[keyof typeof RoomType];

/** What `getStateEvent()` answers with. */
export const StateEventFormat = {
  /** The content alone; the default. */
  CONTENT: "content",
  /** The whole event. */
  EVENT: "event",
} as const;
/** A value of {@linkcode StateEventFormat}. */
export type StateEventFormat = typeof StateEventFormat[keyof typeof StateEventFormat];

/** What an encrypted event is encrypted with. */
export const EncryptionAlgorithm = {
  /** Olm: between two devices. */
  OLM_V1: "m.olm.v1.curve25519-aes-sha2",
  /** Megolm: from one device to all of a room. */
  MEGOLM_V1: "m.megolm.v1.aes-sha2",
} as const;
/** A value of {@linkcode EncryptionAlgorithm}. */
export type EncryptionAlgorithm = typeof EncryptionAlgorithm[keyof typeof EncryptionAlgorithm];

/** What an address outside Matrix is of. */
export const ThirdPartyMedium = {
  /** An email address. */
  EMAIL: "email",
  /** A phone number: the digits of its international form. */
  MSISDN: "msisdn",
} as const;
/** A value of {@linkcode ThirdPartyMedium}. */
export type ThirdPartyMedium = typeof ThirdPartyMedium[keyof typeof ThirdPartyMedium];
