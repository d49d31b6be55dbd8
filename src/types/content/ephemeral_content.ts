/**
 * Contents of what passes through a room or past it, and is not kept.
 *
 * Contents are type aliases, and not interfaces, so that each is also a `JsonObject`.
 *
 * @module
 */

import type { Open, PresenceState } from "../enums.ts";
import type { ContentURI, EventID, UserID } from "../ids.ts";

/** Content of `m.typing`. */
export type TypingContent = {
  /** Everyone who is typing in the room now. */
  user_ids: UserID[];
};

/** Content of `m.receipt`: by event, the receipts that changed. */
export type ReceiptContent = {
  [eventId: EventID]: EventReceipts;
};

/** The receipts that point at one event. */
export interface EventReceipts {
  /** Who has read up to the event. */
  "m.read"?: { [userId: UserID]: Receipt };
  /** Whether the user has read up to the event; only of the user who asked. */
  "m.read.private"?: { [userId: UserID]: Receipt };
}

/** One user's receipt. */
export interface Receipt {
  /** When it was sent, in milliseconds since the epoch. */
  ts?: number;
  /**
   * The root of the thread it is about, or `main` for what is in no thread; about all of them if
   * absent.
   */
  thread_id?: EventID | "main";
}

/** Content of `m.presence`. */
export type PresenceContent = {
  /** Whether the user is there. */
  presence: Open<PresenceState>;
  /** How long ago the user last did something, in milliseconds. */
  last_active_ago?: number;
  /** Whether the user is active right now. */
  currently_active?: boolean;
  /** What the user says about it. */
  status_msg?: string | null;
  /** The user's display name. */
  displayname?: string | null;
  /** The user's avatar. */
  avatar_url?: ContentURI | null;
};
