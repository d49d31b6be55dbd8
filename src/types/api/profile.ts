/**
 * What users publish about themselves.
 *
 * @module
 */

import type { PresenceState } from "../enums.ts";
import type { ContentURI, UserID } from "../ids.ts";

/** A user's profile. */
export interface Profile {
  /** The user's display name; absent if there is none. */
  displayname?: string;
  /** The user's avatar; absent if there is none. */
  avatar_url?: ContentURI;
  /** The user's time zone, by its IANA name. */
  "m.tz"?: string;
  /** A field of another kind. */
  [field: string]: unknown;
}

/** Whether a user is there, as `getPresence()` answers. */
export interface PresenceInfo {
  /** Whether the user is there. */
  presence: PresenceState;
  /** How long ago the user last did something, in milliseconds. */
  last_active_ago?: number;
  /** What the user says about it. */
  status_msg?: string | null;
  /** Whether the user is active right now. */
  currently_active?: boolean;
}

/** The answer to a search for users. */
export interface UserSearchResponse {
  /** The users found, the best match first. */
  results: UserSearchResult[];
  /** Whether there were more than the limit let through. */
  limited: boolean;
}

/** A user that a search found. */
export interface UserSearchResult {
  /** Who was found. */
  user_id: UserID;
  /** The user's display name. */
  display_name?: string;
  /** The user's avatar. */
  avatar_url?: ContentURI;
}
