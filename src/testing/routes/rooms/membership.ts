/**
 * Joining, inviting, knocking, leaving, kicking, banning, forgetting.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#room-membership | Room membership}
 * @module
 */

import { badRequest, Failure } from "../../http/failure.ts";
import { type AuthedRequest, requireKeys } from "../../http/request.ts";
import type { Answer } from "../../http/reply.ts";
import { type Route, route } from "../../http/route.ts";
import {
  changeMembership,
  type MembershipChange,
  notKnown,
  notReachable,
} from "../../model/rooms/change_membership.ts";
import type { JsonObject } from "../../../types/json.ts";
import { parseUserId, resolveRoom, roomToWrite } from "../route_tools.ts";

/** The routes of this file. */
export const membershipRoutes: readonly Route[] = [
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
  const room = server.room(named === "" ? request.param("roomId") : resolveRoom(server, named));
  if (room === undefined) throw notReachable();
  if (action === "join" && room.membership(user.id) !== "join") server.rateLimiter.take(user.id, "joins");
  changeMembership(server, room, { sender: user.id, target: user.id, action, content });
  return { room_id: room.id };
}

function leave(request: AuthedRequest): Answer {
  const { server, user, jsonOrEmpty } = request;
  const room = server.room(request.param("roomId"));
  if (room === undefined) throw new Failure(404, "M_UNKNOWN", "Not a known room");
  changeMembership(server, room, {
    sender: user.id,
    target: user.id,
    action: "leave",
    content: reasonOf(jsonOrEmpty),
  });
  return {};
}

function moderate(request: AuthedRequest, action: MembershipChange["action"]): Answer {
  const { server, user, jsonOrEmpty: json } = request;
  if (action === "invite" && json.user_id === undefined && json.medium !== undefined) {
    throw new Failure(403, "M_FORBIDDEN", "Third-party identifiers are not supported by this homeserver");
  }
  requireKeys(json, "user_id");
  const target = parseUserId(json.user_id);
  const leaves = action === "kick" || action === "unban";
  if (leaves && server.room(request.param("roomId")) === undefined) {
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
  return {};
}

function forget(request: AuthedRequest): Answer {
  const { server, user } = request;
  const id = request.param("roomId");
  const room = server.room(id);
  if (room === undefined) return {};
  const membership = room.membership(user.id);
  if (membership !== "leave" && membership !== "ban") {
    throw badRequest("M_UNKNOWN", `User ${user.id} in room ${id}`);
  }
  if (!room.members.has(user.id)) return {};
  user.forgotten.add(room.id);
  return {};
}
