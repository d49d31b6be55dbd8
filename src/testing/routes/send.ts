/**
 * Sending events, state and redactions; joining, inviting, knocking, leaving, kicking, banning, forgetting.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#sending-events-to-a-room | Sending events to a room}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#room-membership | Room membership}
 *
 * @module
 */

import type { EventID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import {
  type AuthedRequest,
  oncePerTransaction,
  parseUserId,
  requireKeys,
  resolveRoom,
  roomToWrite,
  type Route,
  route,
} from "../http/http.ts";
import { type Answer, Failure, invalidParam, notFound, refused } from "../json/json.ts";
import type { Room } from "../rooms/mod.ts";
import {
  actionFor,
  bumpPresence,
  changeMembership,
  type MembershipChange,
  notKnown,
  notReachable,
  sendEvent,
} from "../server/mod.ts";

/** Where events are managed that are sent later. */
const DELAYED = "unstable/org.matrix.msc4140/delayed_events";

/** The routes of this file. */
export const sendRoutes: readonly Route[] = [
  route(
    "PUT",
    "v3/rooms/{roomId}/send/{eventType}/{txnId}",
    (request) => oncePerTransaction(request, () => sendLater(request) ?? send(request), { inRoom: true }),
  ),
  route(
    "PUT",
    "v3/rooms/{roomId}/state/{eventType}",
    (request) => sendLater(request, "") ?? putState(request),
  ),
  route(
    "PUT",
    "v3/rooms/{roomId}/state/{eventType}/{stateKey}",
    (request) => sendLater(request, request.param("stateKey")) ?? putState(request),
  ),
  route("GET", DELAYED, ({ server, user }) => ({ delayed_events: server.delayed.of(user.id) })),
  route(
    "POST",
    `${DELAYED}/{delayId}/cancel`,
    (request) => void request.server.delayed.cancel(request.param("delayId")),
  ),
  route(
    "POST",
    `${DELAYED}/{delayId}/restart`,
    (request) => request.server.delayed.restart(request.param("delayId")),
  ),
  route(
    "POST",
    `${DELAYED}/{delayId}/send`,
    (request) => request.server.delayed.cancel(request.param("delayId")).send(),
  ),
  route(
    "PUT",
    "v3/rooms/{roomId}/redact/{eventId}/{txnId}",
    (request) => oncePerTransaction(request, () => redact(request), { inRoom: true }),
  ),
  route(
    "POST",
    "v3/join/{roomIdOrAlias}",
    // Whatever is in the body becomes part of the member event.
    (request) => enter(request, "join", request.jsonOrEmpty),
  ),
  route("POST", "v3/rooms/{roomId}/join", (request) => enter(request, "join", reasonOf(request.jsonOrEmpty))),
  route("POST", "v3/knock/{roomIdOrAlias}", (request) => enter(request, "knock", reasonOf(request.json))),
  route("POST", "v3/rooms/{roomId}/leave", leave),
  route("POST", "v3/rooms/{roomId}/invite", (request) => moderate(request, "invite")),
  route("POST", "v3/rooms/{roomId}/kick", (request) => moderate(request, "kick")),
  route("POST", "v3/rooms/{roomId}/ban", (request) => moderate(request, "ban")),
  route("POST", "v3/rooms/{roomId}/unban", (request) => moderate(request, "unban")),
  route("POST", "v3/rooms/{roomId}/forget", forget),
  route("GET", "v3/joined_rooms", ({ user }) => ({ joined_rooms: user.roomsWith("join") })),
];

/** Notes an event that is to be sent later; undefined: it is to be sent now. */
function sendLater(request: AuthedRequest, stateKey?: string): Answer | undefined {
  const delay = request.queryInteger("org.matrix.msc4140.delay");
  if (delay === undefined) return undefined;
  const { server, user, json: content } = request;
  server.rateLimiter.take(user.id, "messages");
  const room = roomToWrite(request);
  const type = request.param("eventType");
  const send = () => void sendEvent(server, room, { type, sender: user.id, stateKey, content });
  return {
    delay_id: server.delayed.add({ user: user.id, roomId: room.id, type, stateKey, content, delay, send }),
  };
}

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
  if (request.room === undefined && ["join", "knock", "leave"].includes(action)) {
    throw notReachable();
  }
  const room = roomToWrite(request);
  if (action === "invite") server.rateLimiter.take(user.id, "invites");
  if (action === "join" && room.membership(user.id) !== "join") server.rateLimiter.take(user.id, "joins");
  return { event_id: changeMembership(server, room, { sender: user.id, target, action, content: json }).id };
}

function redact(request: AuthedRequest): Answer {
  const { server, user, json, room } = request;
  server.rateLimiter.take(user.id, "messages");
  if (room === undefined) throw notFound(`Could not find room ${request.roomId}`);
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

function reasonOf({ reason }: JsonObject): JsonObject {
  return reason === undefined ? {} : { reason };
}

function enter(
  request: AuthedRequest,
  action: "join" | "knock",
  content: JsonObject,
): Answer | Promise<Answer> {
  const asking = request.server.appservices.queryAlias(request.param("roomIdOrAlias"));
  if (asking !== undefined) return asking.then(() => enterKnown(request, action, content));
  return enterKnown(request, action, content);
}

function enterKnown(request: AuthedRequest, action: "join" | "knock", content: JsonObject): Answer {
  const { server, user } = request;
  const named = request.param("roomIdOrAlias");
  const room = server.room(named === "" ? request.roomId : resolveRoom(server, named));
  if (room === undefined) throw notReachable();
  if (action === "join" && room.membership(user.id) !== "join") server.rateLimiter.take(user.id, "joins");
  changeMembership(server, room, { sender: user.id, target: user.id, action, content });
  return { room_id: room.id };
}

function leave(request: AuthedRequest): void {
  const { server, user, jsonOrEmpty, room } = request;
  if (room === undefined) throw new Failure(404, "M_UNKNOWN", "Not a known room");
  changeMembership(server, room, {
    sender: user.id,
    target: user.id,
    action: "leave",
    content: reasonOf(jsonOrEmpty),
  });
}

function moderate(request: AuthedRequest, action: MembershipChange["action"]): void {
  const { server, user, jsonOrEmpty: json } = request;
  if (action === "invite" && json.user_id === undefined && json.medium !== undefined) {
    throw new Failure(403, "M_FORBIDDEN", "Third-party identifiers are not supported by this homeserver");
  }
  requireKeys(json, "user_id");
  const target = parseUserId(json.user_id);
  const leaves = action === "kick" || action === "unban";
  if (leaves && request.room === undefined) {
    throw notKnown(server, target);
  }
  const room = roomToWrite(request);
  if (action === "invite") server.rateLimiter.take(user.id, "invites");
  changeMembership(server, room, {
    sender: user.id,
    target,
    action,
    content: reasonOf(json),
  });
}

function forget(request: AuthedRequest): void {
  const { server, user } = request;
  const id = request.roomId;
  const room = server.room(id);
  if (room === undefined) return;
  const membership = room.membership(user.id);
  if (membership !== "leave" && membership !== "ban") {
    throw refused(`User ${user.id} in room ${id}`);
  }
  if (!room.members.has(user.id)) return;
  user.forgotten.add(room.id);
}
