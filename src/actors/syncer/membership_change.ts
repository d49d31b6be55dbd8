/**
 * What a member event means, seen from what was before.
 *
 * @module
 */

import { Membership } from "../../types/enums.ts";
import type { StateEvent, StrippedStateEvent } from "../../types/events/event.ts";
import type { MemberEvent } from "../../types/events/internal_event.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { InternalEventType } from "../../types/events/internal_event_type.ts";
import { SyncStream } from "../../types/events/sync_stream.ts";
import type { InternalDelivery } from "../dispatcher/dispatcher_protocol.ts";

/**
 * Says what changed of a membership.
 *
 * `INVITE` is told of what the own user is invited to, and of nothing else: who hears it may join. Others are invited to rooms
 * that the own user is in, which `USER_INVITED` tells.
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

/** The membership that an event tells of, if it does. */
export function membershipIn(event: { readonly content: JsonObject } | undefined): Membership | undefined {
  const membership = event?.content.membership;
  return typeof membership === "string" ? membership as Membership : undefined;
}
