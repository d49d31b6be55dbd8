/**
 * Where responses come from that no homeserver was asked for: an application service is sent what
 * happens to all of its users, and one client delivers it.
 *
 * @module
 */

import { Membership } from "../../types/enums.ts";
import type { UserID } from "../../types/ids.ts";
import { SyncStream } from "../../types/events/sync_stream.ts";
import type { SyncAPI } from "../../api/server/server.ts";
import { isMember, type SyncParts } from "./sync_parts.ts";

/** Responses from elsewhere. They follow one another without gaps. */
export interface SyncFeed extends Pick<SyncAPI, "sync"> {
  /** Whether a user is one of those on whose behalf the client is sent events. */
  isOwn(userId: string): boolean;
  /** Whether the responses show what happens in rooms: otherwise that is asked when it matters. */
  readonly showsRooms: boolean;
  /**
   * Ends the client that delivers the responses, since the store has failed for who acts in its handlers, or the
   * token is dead: what they were called with comes again. That client sets it.
   */
  fails?: (cause: unknown) => void;
}

/**
 * Who acts in the responses of a feed: nobody comes and goes, since a room is there as long as any
 * of the users is.
 */
export const NOBODY = "@:" as UserID;

/**
 * Marks what the own users have sent, and invitations of them, in place: such an invitation is an
 * `INVITE`, as it is for a client whose user is invited.
 */
export function markOwn({ rooms }: SyncParts, { isOwn }: Pick<SyncFeed, "isOwn">): void {
  for (const { timeline } of rooms) {
    for (const event of timeline) {
      if (isOwn(event.sender)) event.source |= SyncStream.OWN;
      const isInvited = isMember(event) && event.content.membership === Membership.INVITE;
      if (isInvited && isOwn(event.state_key)) event.source |= SyncStream.INVITED_ROOM;
    }
  }
}
