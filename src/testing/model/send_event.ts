/**
 * The way of an event into a room.
 *
 * @module
 */

import type { EventID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { badRequest } from "../http/failure.ts";
import { canonicalJson } from "./canonical_json.ts";
import { checkEvent } from "./event_rules.ts";
import { redactedContent, redactedId } from "./redaction.ts";
import type { Room } from "./room.ts";
import type { EventDraft, RoomEvent } from "./room_event.ts";
import type { ServerState } from "./server_state.ts";

/** The largest event, in bytes. */
const MAX_EVENT_SIZE = 65_536;

/** Checks an event against the rules of the room and adds it. A state event that changes nothing is not sent again. */
export function sendEvent(server: ServerState, room: Room, draft: EventDraft): RoomEvent {
  checkContent(draft.content);
  checkEvent(room, draft);
  const previous = draft.stateKey === undefined ? undefined : room.state(draft.type, draft.stateKey);
  if (
    previous !== undefined && previous.sender === draft.sender &&
    canonicalJson(previous.content) === canonicalJson(draft.content)
  ) {
    return previous;
  }
  const event: RoomEvent = {
    ...draft,
    id: newEventId(server, room),
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
  return event;
}

function newEventId(server: ServerState, room: Room): EventID {
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

/** Canonical JSON has no fractions and no integers beyond 2⁵³. */
function checkContent(content: JsonObject): void {
  if (JSON.stringify(content).length > MAX_EVENT_SIZE) {
    throw badRequest("M_UNKNOWN", "event too large");
  }
  checkNumbers(content);
}

function checkNumbers(value: unknown): void {
  if (typeof value === "number" && !Number.isInteger(value)) {
    throw badRequest("M_UNKNOWN", "Bad JSON value: float");
  }
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw badRequest("M_UNKNOWN", "JSON integer out of range");
  }
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) checkNumbers(item);
  }
}
