/**
 * Checks events, and adds them to rooms.
 *
 * @module
 */

import type { EventID, UserID } from "../../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../../types/json.ts";
import { badJson, badRequest, Failure } from "../../http/failure.ts";
import { canonicalJson } from "../signed_json.ts";
import { checkEvent, checkSender } from "./event_rules.ts";
import { redactedContent, redactedId } from "./redaction.ts";
import type { Room } from "../rooms/room.ts";
import type { EventDraft, RoomEvent } from "./room_event.ts";
import type { ServerState } from "../server_state.ts";

/** The largest event, in bytes, with some room for what the server adds. */
const MAX_EVENT_SIZE = 65_000;

/** The fields that well-known events must have. */
const REQUIRED: ReadonlyMap<string, readonly string[]> = new Map([
  ["m.room.message", ["body", "msgtype"]],
  ["m.room.topic", ["topic"]],
  ["m.room.name", ["name"]],
  ["m.room.tombstone", ["replacement_room"]],
]);

/** The one event whose fields need not be strings: Synapse takes `"replacement_room": 7`. */
const ANY_FIELDS = "m.room.tombstone";

const STATE_ONLY = ["m.room.member", "m.room.topic", "m.room.name", "m.room.tombstone", "m.room.create"];

/**
 * Checks an event against the rules of the room and adds it. A state event that changes nothing is
 * not sent again.
 */
export function sendEvent(server: ServerState, room: Room, draft: EventDraft): RoomEvent {
  checkSender(room, draft);
  checkShape(draft);
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

/** Refuses content that is invalid in every room. */
function checkShape({ type, stateKey, content }: EventDraft): void {
  if (stateKey === undefined && STATE_ONLY.includes(type)) {
    throw badRequest("M_UNKNOWN", `'${type}' must be state events`);
  }
  for (const key of REQUIRED.get(type) ?? []) {
    if (content[key] === undefined) throw badRequest("M_UNKNOWN", `'${key}' not in content`);
    if (typeof content[key] !== "string" && type !== ANY_FIELDS) {
      throw badRequest("M_UNKNOWN", `'${key}' not a string type`);
    }
  }
  checkNumbers(content);
  checkMentions(content["m.mentions"]);
  if (new TextEncoder().encode(JSON.stringify(content)).byteLength > MAX_EVENT_SIZE) {
    throw new Failure(413, "M_TOO_LARGE", "event too large");
  }
}

/** Canonical JSON has no fractions and no integers beyond 2⁵³. */
function checkNumbers(value: unknown): void {
  if (typeof value === "number" && !Number.isInteger(value)) throw badJson("Bad JSON value: float");
  if (typeof value === "number" && !Number.isSafeInteger(value)) throw badJson("JSON integer out of range");
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) checkNumbers(item);
  }
}

function checkMentions(mentions: unknown): void {
  if (mentions === undefined) return;
  if (!isJsonObject(mentions)) throw badJson("'m.mentions' must be an object");
  const { user_ids: users, room }: JsonObject = mentions;
  if (users !== undefined && !(Array.isArray(users) && users.every((user) => typeof user === "string"))) {
    throw badJson("'user_ids' must be an array of strings");
  }
  if (room !== undefined && typeof room !== "boolean") throw badJson("'room' must be a boolean");
}
