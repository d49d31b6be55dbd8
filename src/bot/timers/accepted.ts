/**
 * Invitations that can't be accepted yet, as they are stored.
 *
 * @module
 */

import type { MemberEvent, RoomID } from "../../../types.ts";

/** An invitation that is accepted. */
export interface Accepted {
  readonly event: MemberEvent & { readonly room_id: RoomID };
  /** When it was handled first, in milliseconds since the epoch. */
  readonly at: number;
}
