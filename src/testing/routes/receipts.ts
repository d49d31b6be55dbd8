/**
 * Receipts, read markers and typing.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#receipts | Receipts}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#threaded-read-receipts | Threaded read receipts}
 *
 * @module
 */

import type { JsonObject } from "../../types/json.ts";
import {
  type AuthedRequest,
  parseUserId,
  requireJoined,
  requireSeen,
  type Route,
  route,
} from "../http/http.ts";
import { badJson, badRequest, Failure, invalidParam, isRoomId, isTruthy, refused } from "../json/json.ts";
import { eventToShow, type Relation, type Room, type RoomEvent } from "../rooms/mod.ts";
import { bumpPresence } from "../server/mod.ts";

/** The routes of this file. */
export const receiptRoutes: readonly Route[] = [
  route("POST", "v3/rooms/{roomId}/receipt/{receiptType}/{eventId}", receipt),
  route("POST", "v3/rooms/{roomId}/read_markers", readMarkers),
  route("PUT", "v3/rooms/{roomId}/typing/{userId}", typing),
];

const RECEIPT_TYPES = ["m.read", "m.read.private", "m.fully_read"];
/** How long a typing notification lasts by default, in milliseconds. */
const TYPING_TIMEOUT = 30_000;
/** How long it lasts at most, in milliseconds. */
const LONGEST_TYPING = 120_000;

function receipt(request: AuthedRequest): void {
  const type = request.param("receiptType");
  const id = request.param("eventId");
  if (!isRoomId(request.roomId) || !id.startsWith("$")) {
    throw refused("A valid room ID and event ID must be specified");
  }
  if (!RECEIPT_TYPES.includes(type)) {
    throw refused(`Receipt type must be 'm.read', 'm.read.private', 'm.fully_read'`);
  }
  const thread = readThread(request, type, id);
  bumpPresence(request.server, request.user);
  if (type === "m.fully_read") markFullyRead(request, id);
  else markRead(request, type, id, thread);
}

function readThread(request: AuthedRequest, type: string, id: string): string | undefined {
  const thread = request.json.thread_id;
  if (thread === undefined) return undefined;
  if (typeof thread !== "string" || thread === "") {
    throw invalidParam("thread_id field must be a non-empty string");
  }
  if (type === "m.fully_read") throw invalidParam(`thread_id is not compatible with ${type} receipts.`);
  const event = request.server.event(id);
  const room = event === undefined ? undefined : request.server.room(event.roomId);
  const belongs = event === undefined || room === undefined
    ? thread === "main"
    : isInThread(room, event, thread);
  if (!belongs) throw invalidParam(`event_id ${id} is not related to thread ${thread}`);
  return thread;
}

/** Markers of one request are set one after the other: those before one that is refused stay. */
function readMarkers(request: AuthedRequest): void {
  bumpPresence(request.server, request.user);
  for (const type of RECEIPT_TYPES) {
    const id = request.json[type];
    if (!isTruthy(id)) continue;
    if (typeof id !== "string") throw badJson(`'${type}' must be an event ID`);
    if (type === "m.fully_read") markFullyRead(request, id);
    else markRead(request, type, id, undefined);
  }
}

/** Moves the marker forward, also in a room that the user is not in. */
function markFullyRead(request: AuthedRequest, id: string): void {
  const { server, user, room } = request;
  const event = room?.event(id);
  if (room === undefined || event === undefined) {
    throw new Failure(404, "M_UNKNOWN", `Could not find event ${id} in room ${request.roomId}`);
  }
  const data = user.accountDataOf(room.id);
  const old = room.event(String(data.get("m.fully_read")?.event_id));
  if (old !== undefined && old.index >= event.index) return;
  data.set("m.fully_read", { event_id: id }, server.stream.advance());
  server.stream.wake([user.id]);
}

/** Stores a receipt, if the event exists and the user may see it; one for an unknown event is no error. */
function markRead(request: AuthedRequest, type: string, id: string, thread: string | undefined): void {
  const { server, user, room } = request;
  const event = eventToShow(room, id);
  if (room === undefined || event === undefined) return;
  requireSeen(request, room, event);
  const stored = room.receipts.set({
    user: user.id,
    type,
    event: event.id,
    index: event.index,
    thread,
    timestamp: server.now,
    position: server.stream.advance(),
  });
  if (stored) {
    server.stream.wake(room.membersWith("join"));
    server.pushers.read(user);
    if (!type.endsWith(".private")) {
      const content = { [event.id]: { [type]: { [user.id]: { ts: server.now } } } };
      server.appservices.ephemeral(room, { type: "m.receipt", content });
    }
  }
}

function typing(request: AuthedRequest): void {
  const { server, user } = request;
  const target = parseUserId(request.param("userId"));
  const { typing }: JsonObject = request.json;
  const timeout = request.json.timeout ?? TYPING_TIMEOUT;
  bumpPresence(server, user);
  if (typeof timeout !== "number" && typeof timeout !== "boolean") throw badJson("Invalid timeout");
  if (typing === undefined) throw badJson("'typing' must be there");
  if (!server.reaches(target)) {
    throw refused("User is not hosted on this homeserver");
  }
  if (target !== user.id) throw badRequest("M_FORBIDDEN", "Cannot set another user's typing state");
  const room = requireJoined(request, request.room);
  const was = room.typing.has(user.id);
  if (isTruthy(typing)) {
    const duration = Math.min(Number(timeout), LONGEST_TYPING);
    const until = server.now + duration;
    room.typing.set(user.id, until);
    server.later(duration, () => {
      if (room.typing.get(user.id) === until) stopTyping(request, room);
    });
    if (!was) announce(request, room);
    if (duration <= 0) stopTyping(request, room);
  } else if (was) {
    stopTyping(request, room);
  }
}

function stopTyping(request: AuthedRequest, room: Room): void {
  room.typing.delete(request.user.id);
  announce(request, room);
}

function announce({ server }: AuthedRequest, room: Room): void {
  room.typingPosition = server.stream.advance();
  server.appservices.ephemeral(room, { type: "m.typing", content: { user_ids: [...room.typing.keys()] } });
  server.stream.wake(room.membersWith("join"));
}

/** How far relations are followed up to the event that a thread begins in. */
const MAX_DEPTH = 4;

/**
 * Returns whether an event belongs to a thread: to that of its root, or to what is about the root. In
 * `main` is what leads up to no thread.
 */
function isInThread(room: Room, event: RoomEvent, thread: string): boolean {
  let root: RoomEvent | undefined = event;
  let found: string | undefined;
  for (let depth = 0; root !== undefined && depth <= MAX_DEPTH; depth++) {
    const relation: Relation | undefined = room.relations.of(root);
    if (relation === undefined) break;
    if (relation.type === "m.thread") found = relation.parent;
    root = room.event(relation.parent);
  }
  if (thread === "main") return found === undefined;
  const isRoot = root !== undefined && room.relations.childrenOf(root.id, "m.thread").length > 0;
  return root?.id === thread && isRoot;
}
