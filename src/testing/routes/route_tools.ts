/**
 * What several routes need.
 *
 * @module
 */

import type { RoomAlias, UserID } from "../../types/ids.ts";
import { badRequest, forbidden, notFound } from "../http/failure.ts";
import { isRoomId } from "../http/read.ts";
import type { AuthedRequest } from "../http/request.ts";
import type { Answer } from "../http/reply.ts";
import type { Viewer } from "../model/events/format_event.ts";
import { membershipOf } from "../model/events/room_event.ts";
import type { Room } from "../model/rooms/room.ts";
import type { ServerState } from "../model/server_state.ts";

/** Who asks, for formatting events. */
export function viewerOf(request: AuthedRequest): Viewer {
  return { user: request.user.id, device: request.device, now: request.server.now };
}

/** The room of the path parameter `roomId`, for a request that changes it. */
export function roomToWrite(request: AuthedRequest): Room {
  const room = request.server.room(request.param("roomId"));
  // Synapse answers a user who is not in a room as one who asks for a room that does not
  // exist.
  if (room === undefined) throw forbidden(`User ${request.user.id} not in room ${request.param("roomId")}`);
  return room;
}

/** What a caller may read of a room, and up to where. */
interface Reading {
  /** The room. */
  readonly room: Room;
  /** The last stream position that the caller may see state of: their leaving, or no end. */
  readonly until: number;
  /** Whether the caller is no member, and never was. */
  readonly peeking: boolean;
}

/**
 * The room of the path parameter `roomId`, for a request that reads it, by a member, a former
 * member up to when they left, or anyone if it is world readable.
 */
export function roomToRead(request: AuthedRequest): Reading {
  const { server, user } = request;
  const room = server.room(request.param("roomId"));
  if (room !== undefined) {
    const member = user.forgotten.has(room.id) ? undefined : room.members.get(user.id);
    const membership = member === undefined ? undefined : membershipOf(member);
    if (membership === "join") return { room, until: Infinity, peeking: false };
    if (member !== undefined && membership === "leave") {
      return { room, until: member.position, peeking: false };
    }
    const isOpen = room.historyVisibility() === "world_readable" && room.membersWith("join").length > 0;
    if (isOpen) return { room, until: Infinity, peeking: true };
  }
  throw forbidden(`User ${user.id} not in room ${request.param("roomId")}, and room previews are disabled`);
}

/** Refuses unless the caller is joined. */
export function requireJoined(request: AuthedRequest, room: Room | undefined): Room {
  if (room?.membership(request.user.id) !== "join") {
    throw forbidden(`User ${request.user.id} not in room ${request.param("roomId")}`);
  }
  return room;
}

/**
 * Runs a request with a transaction ID once per device: a repeated one gets the answer of the
 * first. In a room, as in Synapse, that is so whatever the two requests send.
 */
export function oncePerTransaction(
  request: AuthedRequest,
  action: () => Answer | Promise<Answer>,
  { inRoom = false } = {},
): Promise<Answer> {
  void request.json; // it must be there, also where it is not looked at again
  const scope = inRoom
    ? JSON.stringify([request.param("roomId"), request.param("txnId")])
    : request.raw.url.pathname;
  return request.device.once(scope, async () => await action());
}

/** The room of an ID or an alias. */
export function resolveRoom(server: ServerState, idOrAlias: string): string {
  if (isRoomId(idOrAlias)) return idOrAlias;
  if (!/^#[^:]*:/.test(idOrAlias)) {
    throw badRequest("M_UNKNOWN", `${idOrAlias} was not legal room ID or room alias`);
  }
  const alias = server.aliases.get(idOrAlias as RoomAlias);
  if (alias === undefined) throw notFound(`Room alias ${idOrAlias} not found`);
  return alias.room;
}

/** A user ID that a client has sent. */
export function parseUserId(value: unknown): UserID {
  if (typeof value !== "string" || !/^@[^:]*:.+$/s.test(value)) {
    throw badRequest("M_INVALID_PARAM", "Expected UserID string to start with '@'");
  }
  return value as UserID;
}
