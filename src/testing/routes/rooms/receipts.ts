/**
 * Receipts, read markers and typing.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#receipts | Receipts}
 * @module
 */

import type { EventID } from "../../../types/ids.ts";
import { badJson, badRequest, Failure, invalidParam } from "../../http/failure.ts";
import { optionalString } from "../../http/read.ts";
import type { AuthedRequest } from "../../http/request.ts";
import type { Answer } from "../../http/reply.ts";
import { type Route, route } from "../../http/route.ts";
import type { Room } from "../../model/rooms/room.ts";
import { requireJoined } from "../route_tools.ts";

/** The routes of this file. */
export const receiptRoutes: readonly Route[] = [
  route("POST", "v3/rooms/{roomId}/receipt/{receiptType}/{eventId}", receipt),
  route("POST", "v3/rooms/{roomId}/read_markers", readMarkers),
  route("PUT", "v3/rooms/{roomId}/typing/{userId}", typing),
];

const RECEIPT_TYPES = ["m.read", "m.read.private", "m.fully_read"];
/** How long a typing notification lasts by default, in milliseconds. */
const TYPING_TIMEOUT = 30_000;

function receipt(request: AuthedRequest): Answer {
  const type = request.param("receiptType");
  if (!RECEIPT_TYPES.includes(type)) {
    throw badRequest("M_UNKNOWN", `Receipt type must be 'm.read', 'm.read.private', 'm.fully_read'`);
  }
  const thread = optionalString(request.json, "thread_id");
  if (thread === "") throw invalidParam("thread_id field must be a non-empty string");
  if (thread !== undefined && type === "m.fully_read") {
    throw invalidParam(`thread_id is not compatible with ${type} receipts.`);
  }
  const room = requireJoined(request, request.server.room(request.param("roomId")));
  mark(request, room, type, request.param("eventId"), thread);
  return {};
}

function readMarkers(request: AuthedRequest): Answer {
  const room = requireJoined(request, request.server.room(request.param("roomId")));
  for (const type of RECEIPT_TYPES) {
    const event = optionalString(request.json, type);
    if (event !== undefined) mark(request, room, type, event, undefined);
  }
  return {};
}

function mark(
  request: AuthedRequest,
  room: Room,
  type: string,
  id: string,
  thread: string | undefined,
): void {
  const { server, user } = request;
  const event = room.event(id);
  if (type === "m.fully_read") {
    user.accountDataOf(room.id).set("m.fully_read", { event_id: id }, server.stream.advance());
    return server.stream.wake([user.id]);
  }
  // Synapse takes receipts for events that it does not know without a word.
  if (event === undefined) return;
  if (thread !== undefined && thread !== "main" && room.event(thread) === undefined) {
    throw invalidParam("event_id is not related to the given thread_id");
  }
  const stored = room.receipts.set({
    user: user.id,
    type,
    event: event.id as EventID,
    index: event.index,
    thread,
    timestamp: server.now,
    position: server.stream.advance(),
  });
  if (stored) server.stream.wake(room.membersWith("join"));
}

function typing(request: AuthedRequest): Answer {
  const { server, user, json } = request;
  if (request.param("userId") !== request.user.id) {
    throw new Failure(400, "M_FORBIDDEN", "Cannot set another user's typing state");
  }
  const room = requireJoined(request, server.room(request.param("roomId")));
  if (typeof json.typing !== "boolean") throw badJson("'typing' must be a boolean");
  const timeout = typeof json.timeout === "number" ? json.timeout : TYPING_TIMEOUT;
  const was = room.typing.has(user.id);
  if (json.typing) {
    const until = server.now + timeout;
    room.typing.set(user.id, until);
    server.later(timeout, () => {
      if (room.typing.get(user.id) === until) stopTyping(request, room);
    });
    if (!was) announce(request, room);
  } else if (was) {
    stopTyping(request, room);
  }
  return {};
}

function stopTyping(request: AuthedRequest, room: Room): void {
  room.typing.delete(request.user.id);
  announce(request, room);
}

function announce({ server }: AuthedRequest, room: Room): void {
  room.typingPosition = server.stream.advance();
  server.stream.wake(room.membersWith("join"));
}
