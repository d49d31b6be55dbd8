/**
 * Space hierarchies, room summaries and upgrades.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#spaces | Spaces}
 * @module
 */

import type { RoomID, UserID } from "../../../types/ids.ts";
import type { JsonObject } from "../../../types/json.ts";
import { badRequest, forbidden, invalidParam, notFound } from "../../http/failure.ts";
import { optionalStrings } from "../../http/read.ts";
import { type AuthedRequest, requireKeys } from "../../http/request.ts";
import type { Answer } from "../../http/reply.ts";
import { type Route, route } from "../../http/route.ts";
import { summariseRoom } from "../../model/rooms/describe_room.ts";
import { strippedEvent } from "../../model/events/format_event.ts";
import { allowedRooms, isRestricted } from "../../model/rooms/membership_rules.ts";
import type { Room } from "../../model/rooms/room.ts";
import type { RoomEvent } from "../../model/events/room_event.ts";
import type { ServerState } from "../../model/server_state.ts";
import { upgradeRoom } from "../../model/rooms/upgrade_room.ts";
import { roomVersion } from "./create_room.ts";
import { resolveRoom, roomToWrite } from "../route_tools.ts";

/** The routes of this file. */
export const spaceRoutes: readonly Route[] = [
  route("GET", "v1/rooms/{roomId}/hierarchy", hierarchy),
  route("GET", "v1/room_summary/{roomIdOrAlias}", summary),
  route("POST", "v3/rooms/{roomId}/upgrade", upgrade),
];

/** How many rooms a page has if the client does not say, and at most. */
const MAX_ROOMS = 50;

/** Whether a user may learn of a room: they are in it, or could come in. */
function mayKnow(server: ServerState, room: Room, user: UserID): boolean {
  const membership = room.membership(user);
  if (membership === "join" || membership === "invite") return true;
  if (["public", "knock", "knock_restricted"].includes(room.joinRule)) return true;
  if (room.historyVisibility() === "world_readable") return true;
  return isRestricted(room) &&
    allowedRooms(room).some((id) => server.rooms.get(id)?.membership(user) === "join");
}

function hierarchy(request: AuthedRequest): Answer {
  const { server, user } = request;
  const limit = Math.min(request.queryInteger("limit") ?? MAX_ROOMS, MAX_ROOMS);
  const maxDepth = request.queryInteger("max_depth") ?? Infinity;
  const suggestedOnly = request.queryFlag("suggested_only");
  const from = request.query("from");
  const start = from === undefined ? 0 : Number(/^h(\d+)$/.exec(from)?.[1] ?? NaN);
  if (Number.isNaN(start)) throw invalidParam("Unknown pagination token");
  const root = server.room(request.param("roomId"));
  if (root === undefined || !mayKnow(server, root, user.id)) {
    throw forbidden(`User ${user.id} not in room ${request.param("roomId")}, and room previews are disabled`);
  }
  const rooms: JsonObject[] = [];
  const seen = new Set<RoomID>([root.id]);
  const stack: { room: Room; depth: number }[] = [{ room: root, depth: 0 }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const children = childrenOf(next.room).filter(({ content }) =>
      !suggestedOnly || content.suggested === true
    );
    const visited = next.depth < maxDepth ? children : [];
    rooms.push({
      ...summariseRoom(next.room),
      children_state: children.map((event) => ({
        ...strippedEvent(event),
        origin_server_ts: event.timestamp,
      })),
    });
    // Depth first: the first child is the next to be taken from the stack.
    for (const child of visited.toReversed()) {
      const room = server.room(child.stateKey ?? "");
      if (room === undefined || seen.has(room.id) || !mayKnow(server, room, user.id)) continue;
      seen.add(room.id);
      stack.push({ room, depth: next.depth + 1 });
    }
  }
  const end = start + limit;
  return { rooms: rooms.slice(start, end), ...(end < rooms.length ? { next_batch: `h${end}` } : {}) };
}

/** The children of a space in their order; a room that is no space has none. */
function childrenOf(room: Room): RoomEvent[] {
  if (room.state("m.room.create")?.content.type !== "m.space") return [];
  const children = room.fullState().filter(({ type, content }) =>
    type === "m.space.child" && Array.isArray(content.via)
  );
  const order = ({ content }: RoomEvent) => typeof content.order === "string" ? content.order : "\uffff";
  return children.sort((a, b) =>
    order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : a.timestamp - b.timestamp
  );
}

function summary(request: AuthedRequest): Answer {
  const { server, user } = request;
  const room = server.room(resolveRoom(server, request.param("roomIdOrAlias")));
  if (room === undefined || room.membersWith("join").length === 0) {
    throw badRequest("M_UNKNOWN", "Room not found");
  }
  if (!mayKnow(server, room, user.id)) throw notFound("Room not found or is not accessible");
  return { ...summariseRoom(room), membership: room.membership(user.id) };
}

function upgrade(request: AuthedRequest): Answer {
  const { server, user, json } = request;
  requireKeys(json, "new_version");
  const version = roomVersion(server, json, "new_version");
  const additionalCreators = optionalStrings(json, "additional_creators") ?? [];
  if (server.room(request.param("roomId")) === undefined) throw notFound("Unknown room");
  return {
    replacement_room: upgradeRoom(server, roomToWrite(request), user, { version, additionalCreators }).id,
  };
}
