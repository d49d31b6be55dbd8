/**
 * What the server lets the user do.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#capabilities-negotiation | Capabilities}
 * @module
 */

/** What the server lets the user do. */
export interface Capabilities {
  /** Change the password. Allowed if absent. */
  "m.change_password"?: BooleanCapability;
  /** Change the display name. Allowed if absent; superseded by `m.profile_fields`. */
  "m.set_displayname"?: BooleanCapability;
  /** Change the avatar. Allowed if absent; superseded by `m.profile_fields`. */
  "m.set_avatar_url"?: BooleanCapability;
  /** Change email addresses and phone numbers. Allowed if absent. */
  "m.3pid_changes"?: BooleanCapability;
  /** Get a token for another device to log in with. Not allowed if absent. */
  "m.get_login_token"?: BooleanCapability;
  /** Whether leaving a room forgets it, too. Not so if absent. */
  "m.forget_forced_upon_leave"?: BooleanCapability;
  /** The versions of rooms; only version 1 if absent. */
  "m.room_versions"?: RoomVersionsCapability;
  /** Change fields of the profile. */
  "m.profile_fields"?: ProfileFieldsCapability;
  /** Lock and suspend other users. */
  "m.account_moderation"?: AccountModerationCapability;
  /** Anything else. */
  [capability: string]: unknown;
}

/** Whether the user can do something. */
export interface BooleanCapability {
  /** Whether the user can. */
  enabled: boolean;
}

/** The versions of rooms that the server knows. */
export interface RoomVersionsCapability {
  /** The version of new rooms. */
  default: string;
  /** The versions, and whether each is fit for use. */
  available: { [version: string]: "stable" | "unstable" };
}

/** Which fields of the profile the user can change. */
export interface ProfileFieldsCapability {
  /** Whether the user can change any. */
  enabled: boolean;
  /** The fields that the user can change; all but `disallowed` if absent. */
  allowed?: string[];
  /** The fields that the user cannot change; means nothing if there is `allowed`. */
  disallowed?: string[];
}

/** What the user can do about other users. */
export interface AccountModerationCapability {
  /** Suspend them. Default: `false`. */
  suspend?: boolean;
  /** Lock them out. Default: `false`. */
  lock?: boolean;
}
