/**
 * Sending events, state and redactions.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#sending-events-to-a-room | Sending events to a room}
 * @module
 */

import type { EventID } from "../../../types/ids.ts";
import type { JsonObject } from "../../../types/json.ts";
import { Failure, invalidParam, notFound } from "../../http/failure.ts";
import type { AuthedRequest } from "../../http/request.ts";
import type { Answer } from "../../http/reply.ts";
import { type Route, route } from "../../http/route.ts";
import { actionFor, changeMembership, notReachable } from "../../model/rooms/change_membership.ts";
import type { Room } from "../../model/rooms/room.ts";
import { sendEvent } from "../../model/events/send_event.ts";
import { bumpPresence } from "../../model/users/presence.ts";
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
  server.rateLimiter.take(user.id, "messages");
  const room = roomToWrite(request);
  const type = request.param("eventType");
  const redacts = type === "m.room.redaction" ? redactedBy(room, json) : undefined;
  const event = sendEvent(server, room, {
    type,
    sender: user.id,
    content: json,
    redacts,
    transaction: { device: request.device, id: request.param("txnId") },
  });
  if (type === "m.room.message") bumpPresence(server, user);
  return { event_id: event.id };
}

/**
 * What a redaction redacts that is sent as an event: rooms before version 11 would have it outside
 * of the content, and there Synapse fails.
 */
function redactedBy(room: Room, { redacts }: JsonObject): EventID {
  if (room.version.modernRedaction && typeof redacts === "string") return redacts as EventID;
  throw new Failure(500, "M_UNKNOWN", "Internal server error");
}

function putState(request: AuthedRequest): Answer {
  const { server, user, json } = request;
  const type = request.param("eventType");
  const stateKey = request.param("stateKey");
  if (type === "m.room.member") return putMember(request);
  server.rateLimiter.take(user.id, "messages");
  const room = roomToWrite(request);
  const redacts = type === "m.room.redaction" ? redactedBy(room, json) : undefined;
  const event = sendEvent(server, room, { type, sender: user.id, stateKey, content: json, redacts });
  if (type === "m.room.message") bumpPresence(server, user);
  return { event_id: event.id };
}

function putMember(request: AuthedRequest): Answer {
  const { server, user, json } = request;
  const target = parseUserId(request.param("stateKey"));
  const action = actionFor(json.membership);
  if (server.room(request.param("roomId")) === undefined && ["join", "knock", "leave"].includes(action)) {
    throw notReachable();
  }
  const room = roomToWrite(request);
  if (action === "invite") server.rateLimiter.take(user.id, "invites");
  if (action === "join" && room.membership(user.id) !== "join") server.rateLimiter.take(user.id, "joins");
  return { event_id: changeMembership(server, room, { sender: user.id, target, action, content: json }).id };
}

function redact(request: AuthedRequest): Answer {
  const { server, user, json } = request;
  server.rateLimiter.take(user.id, "messages");
  const room = server.room(request.param("roomId"));
  if (room === undefined) throw notFound(`Could not find room ${request.param("roomId")}`);
  const target = request.param("eventId") as EventID;
  const { redacts } = json;
  if (room.version.modernRedaction && redacts !== undefined && redacts !== target) {
    throw invalidParam("Cannot redact another event than that of the path");
  }
  const event = sendEvent(server, room, {
    type: "m.room.redaction",
    sender: user.id,
    content: room.version.modernRedaction ? { ...json, redacts: target } : { ...json },
    redacts: target,
    transaction: { device: request.device, id: request.param("txnId") },
  });
  return { event_id: event.id };
}
