/**
 * Who came into the rooms of a user, and who left them: in a sync response their presence follows,
 * and their devices are to be looked at.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { membershipOf, type RoomEvent } from "../model/events/room_event.ts";

/** The memberships of those who are, or will be, in a room. */
export const PRESENT: readonly string[] = ["join", "invite", "knock"];

/** What an incremental sync tells of members; an initial one tells nothing. */
export class Arrivals {
  /** Users whose member event in a room of the user's says that they are, or will be, there. */
  readonly come: Set<UserID> = new Set();
  /** Users who were in a room of the user's. */
  readonly gone: Set<UserID> = new Set();

  /** Looks at the events that a response shows of a room that the user is in: state, then timeline. */
  note(events: Iterable<RoomEvent>): void {
    for (const event of events) {
      if (event.type !== "m.room.member" || event.stateKey === undefined) continue;
      const member = event.stateKey as UserID;
      if (PRESENT.includes(membershipOf(event))) {
        this.come.add(member);
        this.gone.delete(member);
      } else {
        if (membershipOf(event.replaces) === "join") this.gone.add(member);
        this.come.delete(member);
      }
    }
  }
}
