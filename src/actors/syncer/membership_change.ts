/**
 * What a member event changes, compared with the membership before it.
 *
 * @module
 */

import { Membership } from "../../types/enums.ts";
import type { MatrixEvent, StateEvent, StrippedStateEvent } from "../../types/events/event.ts";
import type { MemberEvent } from "../../types/events/internal_event.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { InternalEventType } from "../../types/events/internal_event_type.ts";
import { SyncStream } from "../../types/events/sync_stream.ts";
import type { InternalDelivery } from "../store/mod.ts";
import { isMember, type MemberStateEvent } from "./sync_parts.ts";

/**
 * The event that stands for a change of membership.
 *
 * `INVITE` stands for an invitation of the own user, and for nothing else: its handlers may join.
 * `USER_INVITED` stands for an invitation of another user to a room that the own user is in.
 *
 * @param event A state event.
 * @param former What the user was to the room before.
 * @returns Undefined if nothing changed, or it is no member event.
 */
export function membershipChange(
  event: StateEvent | StrippedStateEvent,
  former: Membership = Membership.LEAVE,
): InternalDelivery | undefined {
  const type = changeType(event, former);
  return type && { type, data: event as MemberEvent };
}

type MembershipEventType = Extract<InternalDelivery, { data: MemberEvent }>["type"];

function changeType(
  { content, sender, state_key, source }: StateEvent | StrippedStateEvent,
  former: Membership,
): MembershipEventType | undefined {
  const bySelf = sender === state_key;
  switch (content.membership) {
    case Membership.JOIN:
      return former === Membership.JOIN ? InternalEventType.PROFILE_CHANGE : InternalEventType.JOIN;
    case Membership.INVITE:
      if ((source & SyncStream.INVITED_ROOM) !== 0) return InternalEventType.INVITE;
      return former === Membership.INVITE ? undefined : InternalEventType.USER_INVITED;
    case Membership.KNOCK:
      return former === Membership.KNOCK ? undefined : InternalEventType.KNOCK;
    case Membership.BAN:
      return former === Membership.BAN ? undefined : InternalEventType.BAN;
    case Membership.LEAVE:
      if (former === Membership.LEAVE) return undefined;
      if (former === Membership.BAN) return InternalEventType.UNBAN;
      if (former === Membership.INVITE) {
        return bySelf ? InternalEventType.REJECT_INVITE : InternalEventType.DISINVITE;
      }
      return bySelf ? InternalEventType.LEAVE : InternalEventType.KICK;
    default:
      return undefined;
  }
}

/** What a member event says its user was to the room before, if it says so. */
export function prevMembership({ unsigned }: StateEvent | StrippedStateEvent): Membership | undefined {
  return isJsonObject(unsigned?.prev_content) ? membershipIn({ content: unsigned.prev_content }) : undefined;
}

/** The membership in an event, if it has one. */
export function membershipIn(event: { readonly content: JsonObject } | undefined): Membership | undefined {
  const membership = event?.content.membership;
  return typeof membership === "string" ? membership as Membership : undefined;
}

/** Finds the last member event of a user in front of an event of the room. */
export class FormerMembers {
  readonly #events: readonly MatrixEvent[];
  readonly #shown: ReadonlySet<MatrixEvent>;
  readonly #stored: ReadonlyMap<string, MemberStateEvent> | undefined;
  /** Those of the first events, by user. */
  #earlier: Map<string, MemberStateEvent> | undefined;
  #count = 0;

  /**
   * @param events The room's events, in order.
   * @param shown Those of them that were shown before: what they say is out of date.
   * @param stored What was known before, by user.
   */
  constructor(
    events: readonly MatrixEvent[],
    shown: ReadonlySet<MatrixEvent>,
    stored: ReadonlyMap<string, MemberStateEvent> | undefined,
  ) {
    this.#events = events;
    this.#shown = shown;
    this.#stored = stored;
  }

  /**
   * The member event of a user before the event at an index, which may not be less than that of the
   * call before.
   */
  before(index: number, userId: string): MemberStateEvent | undefined {
    const earlier = this.#earlier ??= new Map();
    for (; this.#count < index; this.#count++) {
      const event = this.#events[this.#count];
      if (event !== undefined && isMember(event) && !this.#shown.has(event)) {
        earlier.set(event.state_key, event);
      }
    }
    return earlier.get(userId) ?? this.#stored?.get(userId);
  }
}
