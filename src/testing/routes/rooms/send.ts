/**
 * Sending events, state and redactions.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#sending-events-to-a-room | Sending events to a room}
 * @module
 */

import type { EventID, RoomAlias } from "../../../types/ids.ts";
import type { JsonObject } from "../../../types/json.ts";
import { badRequest, invalidParam } from "../../http/failure.ts";
import { optionalString } from "../../http/read.ts";
import type { AuthedRequest } from "../../http/request.ts";
import type { Answer } from "../../http/reply.ts";
import { type Route, route } from "../../http/route.ts";
import { actionFor, changeMembership } from "../../model/rooms/change_membership.ts";
import type { Room } from "../../model/rooms/room.ts";
import { relationOf } from "../../model/events/relations.ts";
import { sendEvent } from "../../model/events/send_event.ts";
import type { ServerState } from "../../model/server_state.ts";
import { oncePerTransaction, parseUserId, roomToWrite } from "../route_tools.ts";

/** The routes of this file. */
export const sendRoutes: readonly Route[] = [
  route(
    "PUT",
    "v3/rooms/{roomId}/send/{eventType}/{txnId}",
    (request) => oncePerTransaction(request, () => send(request), { inRoom: true }),
  ),
  route("PUT", "v3/rooms/{roomId}/state/{eventType}", putState),
  route("PUT", "v3/rooms/{roomId}/state/{eventType}/{stateKey}", putState),
  route(
    "PUT",
    "v3/rooms/{roomId}/redact/{eventId}/{txnId}",
    (request) => oncePerTransaction(request, () => redact(request), { inRoom: true }),
  ),
];

function send(request: AuthedRequest): Answer {
  const { server, user, json } = request;
  server.rateLimiter.take(user.id);
  const room = roomToWrite(request);
  const type = request.param("eventType");
  checkRelation(room, type, user.id, json);
  const event = sendEvent(server, room, {
    type,
    sender: user.id,
    content: json,
    redacts: type === "m.room.redaction" ? optionalString(json, "redacts") as EventID | undefined : undefined,
    transaction: { device: request.device, id: request.param("txnId") },
  });
  return { event_id: event.id };
}

function putState(request: AuthedRequest): Answer {
  const { server, user, json } = request;
  server.rateLimiter.take(user.id);
  const room = roomToWrite(request);
  const type = request.param("eventType");
  const stateKey = request.param("stateKey");
  if (type === "m.room.member") {
    const event = changeMembership(server, room, {
      sender: user.id,
      target: parseUserId(stateKey),
      action: actionFor(json.membership),
      content: json,
    });
    return { event_id: event.id };
  }
  if (type === "m.room.canonical_alias") checkCanonicalAlias(server, room, json);
  return { event_id: sendEvent(server, room, { type, sender: user.id, stateKey, content: json }).id };
}

function redact(request: AuthedRequest): Answer {
  const { server, user, jsonOrEmpty } = request;
  server.rateLimiter.take(user.id);
  const room = roomToWrite(request);
  const target = request.param("eventId") as EventID;
  const event = sendEvent(server, room, {
    type: "m.room.redaction",
    sender: user.id,
    content: room.version.modernRedaction ? { ...jsonOrEmpty, redacts: target } : { ...jsonOrEmpty },
    redacts: target,
    transaction: { device: request.device, id: request.param("txnId") },
  });
  return { event_id: event.id };
}

/** What a new canonical alias event names must lead to this room. */
function checkCanonicalAlias(server: ServerState, room: Room, content: JsonObject): void {
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
 * A reaction counts once per user and key, and a thread can't begin in an event that belongs to
 * another.
 */
function checkRelation(room: Room, type: string, sender: string, content: JsonObject): void {
  const relation = relationOf({ content });
  if (relation === undefined) return;
  const parent = room.event(relation.parent);
  if (relation.type === "m.annotation" && type === "m.reaction") {
    if (parent === undefined) throw badRequest("M_UNKNOWN", "Can't send relation to unknown event");
    const twice = room.relations.childrenOf(relation.parent, "m.annotation").some((child) =>
      child.sender === sender && child.type === type && room.relations.of(child)?.key === relation.key
    );
    if (twice) throw badRequest("M_DUPLICATE_ANNOTATION", "Can't send same reaction twice");
  }
  if (relation.type === "m.thread" && parent !== undefined && room.relations.of(parent) !== undefined) {
    throw badRequest("M_UNKNOWN", "Cannot start threads from an event with a relation");
  }
}
