/**
 * Checks events, and adds them to rooms.
 *
 * @module
 */

import type { EventID, UserID } from "../../../types/ids.ts";
import { canonicalJson } from "../signed_json.ts";
import { checkAliases } from "./alias_rules.ts";
import { checkContent, checkSize } from "./content_rules.ts";
import { checkEvent, checkSender } from "./event_rules.ts";
import { checkRedaction } from "./redaction_rules.ts";
import { checkRelation } from "./relation_rules.ts";
import { redactedContent, redactedId } from "./redaction.ts";
import type { Room } from "../rooms/room.ts";
import type { EventDraft, RoomEvent } from "./room_event.ts";
import type { ServerState } from "../server_state.ts";

/**
 * Checks an event against the rules of the room and adds it. A state event that changes nothing is
 * not sent again.
 */
export function sendEvent(server: ServerState, room: Room, draft: EventDraft): RoomEvent {
  checkSender(room, draft);
  checkContent(room, draft);
  checkRelation(server, room, draft);
  const previous = draft.stateKey === undefined ? undefined : room.state(draft.type, draft.stateKey);
  if (
    previous !== undefined && previous.sender === draft.sender &&
    canonicalJson(previous.content) === canonicalJson(draft.content)
  ) {
    return previous;
  }
  checkSize(room, draft);
  checkEvent(room, draft);
  if (draft.type === "m.room.canonical_alias") checkAliases(server, room, draft.content);
  if (draft.type === "m.room.redaction") checkRedaction(server, room, draft);
  const event: RoomEvent = {
    ...draft,
    id: draft.id ?? newEventId(server, room),
    roomId: room.id,
    timestamp: draft.timestamp ?? server.now,
    position: server.stream.advance(),
    index: room.events.length,
    replaces: previous,
  };
  room.append(event);
  if (event.type === "m.room.redaction") applyRedaction(room, event);
  if (event.type === "m.room.member" && event.stateKey !== undefined) {
    applyMembership(server, room, event, event.stateKey);
  }
  server.stream.wake(room.membersWith("join"));
  server.pushers.sent(room, event);
  server.appservices.sent(room, event);
  return event;
}

/** The ID of an event that is about to be sent. */
export function newEventId(server: ServerState, room: Room): EventID {
  // The ID of a room whose version says so is that of its create event.
  if (room.events.length === 0 && room.version.creatorPower) return `$${room.id.slice(1)}`;
  if (room.version.eventIdsWithServer) {
    return `$${server.settings.ids.next("event", 18)}:${server.settings.serverName}`;
  }
  return `$${server.settings.ids.next("event", 43)}`;
}

function applyRedaction(room: Room, redaction: RoomEvent): void {
  const target = room.event(redactedId(room.version, redaction) ?? "");
  if (target === undefined || target.redaction !== undefined) return;
  target.redaction = redaction;
  target.contentBefore = target.content;
  target.content = redactedContent(room.version, target.type, target.content);
  room.redacted(target);
}

function applyMembership(server: ServerState, room: Room, event: RoomEvent, target: string): void {
  const user = server.users.get(target as UserID);
  if (user === undefined) return;
  user.memberships.set(room.id, event);
  user.forgotten.delete(room.id);
  server.stream.wake([user.id]);
}
