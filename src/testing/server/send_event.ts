/**
 * Checks events, and adds them to rooms.
 *
 * @module
 */

import type { EventID, RoomAlias, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { badRequest, canonicalJson, forbidden, invalidParam, notFound, refused } from "../json/json.ts";
import {
  checkContent,
  checkEvent,
  checkSender,
  checkSize,
  type EventDraft,
  eventToShow,
  redactedContent,
  redactedId,
  relationOf,
  type Room,
  type RoomEvent,
} from "../rooms/mod.ts";
import type { ServerState } from "./server_state.ts";

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

/** Refuses a canonical alias event that names what does not lead to the room. */
function checkAliases(server: ServerState, room: Room, content: JsonObject): void {
  const old = room.state("m.room.canonical_alias")?.content ?? {};
  const { alias, alt_aliases: others = [] }: JsonObject = content;
  if (!Array.isArray(others)) throw invalidParam("The alt_aliases property must be a list.");
  const known: unknown[] = [old.alias, ...(Array.isArray(old.alt_aliases) ? old.alt_aliases : [])];
  const named: unknown[] = alias === undefined || alias === null || alias === ""
    ? others
    : [alias, ...others];
  for (const name of named) {
    if (typeof name !== "string") throw invalidParam("Each alias must be of type string.");
    if (known.includes(name)) continue;
    if (!/^#[^:]*:.+$/.test(name)) throw invalidParam(`Room alias ${name} must be of the form #name:server`);
    if (server.aliases.get(name as RoomAlias)?.room !== room.id) {
      throw badRequest("M_BAD_ALIAS", `Room alias ${name} does not point to the room`);
    }
  }
}

/**
 * Refuses a redaction of what must stay, and by those who may only redact their own events one of
 * another's.
 */
function checkRedaction(server: ServerState, room: Room, draft: EventDraft): void {
  const id = redactedId(room.version, draft) ?? "";
  const target = room.event(id) ?? server.event(id);
  if (target?.type === "m.room.create") throw forbidden("Redacting create events is not permitted");
  if (target !== undefined && target.roomId !== room.id) {
    throw refused("Cannot redact event from a different room");
  }
  if (target?.type === "m.room.server_acl") throw forbidden("Redacting server ACL events is not permitted");
  if (room.powerLevels.of(draft.sender) >= room.powerLevels.named("redact")) return;
  if (room.version.eventIdsWithServer && !id.includes(":")) {
    throw refused(`Invalid ID: '${id}'`);
  }
  if (target === undefined) throw notFound("Could not find event");
  if (target.sender !== draft.sender) throw forbidden("You don't have permission to redact events");
}

/** The longest key of an annotation. */
const MAX_KEY = 500;

/**
 * Refuses a relation to an event that is not in the room, a reaction without a key, too long or
 * sent before, and a thread that begins in an event that belongs to another.
 */
function checkRelation(server: ServerState, room: Room, draft: EventDraft): void {
  const relation = relationOf(draft);
  if (relation === undefined) return;
  const parent = eventToShow(room, relation.parent);
  if (parent === undefined) {
    throw refused(
      server.event(relation.parent) === undefined
        ? "Can't send relation to unknown event"
        : "Relations must be in the same room",
    );
  }
  if (relation.type === "m.annotation") {
    if (relation.key === undefined) throw refused("Missing aggregation key");
    if (relation.key.length > MAX_KEY) throw refused("Aggregation key is too long");
    const twice = room.relations.childrenOf(parent.id, "m.annotation").some((child) =>
      child.sender === draft.sender && child.type === draft.type &&
      room.relations.of(child)?.key === relation.key
    );
    if (twice) throw badRequest("M_DUPLICATE_ANNOTATION", "Can't send same reaction twice");
  }
  if (relation.type === "m.thread" && room.relations.of(parent) !== undefined) {
    throw refused("Cannot start threads from an event with a relation");
  }
}
