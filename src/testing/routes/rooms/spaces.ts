/**
 * Space hierarchies, room summaries and upgrades.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#spaces | Spaces}
 * @module
 */

import type { UserID } from "../../../types/ids.ts";
import type { JsonObject } from "../../../types/json.ts";
import { badRequest, forbidden, invalidParam, notFound } from "../../http/failure.ts";
import { type AuthedRequest, type MatrixRequest, requireKeys } from "../../http/request.ts";
import type { Answer } from "../../http/reply.ts";
import { openRoute, type Route, route } from "../../http/route.ts";
import { summariseRoom } from "../../model/rooms/describe_room.ts";
import { strippedEvent } from "../../model/events/format_event.ts";
import { allowedRooms, isKnockable, isRestricted } from "../../model/rooms/membership_rules.ts";
import type { Room } from "../../model/rooms/room.ts";
import type { RoomEvent } from "../../model/events/room_event.ts";
import type { ServerState } from "../../model/server_state.ts";
import { upgradeRoom } from "../../model/rooms/upgrade_room.ts";
import { roomVersion } from "./create_room.ts";
import { resolveRoom } from "../route_tools.ts";

/** The routes of this file. */
export const spaceRoutes: readonly Route[] = [
  route("GET", "v1/rooms/{roomId}/hierarchy", hierarchy),
  openRoute("GET", "v1/room_summary/{roomIdOrAlias}", summary),
  route("POST", "v3/rooms/{roomId}/upgrade", upgrade),
];

/** How many rooms a page has if the client does not say, and at most. */
const MAX_ROOMS = 50;

/** Whether a user, or one without a token, may learn of a room: they are in it, or could come in. */
function mayKnow(server: ServerState, room: Room, user: UserID | undefined): boolean {
  if (room.membersWith("join").length === 0) return false;
  if (room.joinRule === "public" || isKnockable(room)) return true;
  if (room.historyVisibility() === "world_readable") return true;
  if (user === undefined) return false;
  if (["join", "invite"].includes(room.membership(user))) return true;
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
  const root = server.room(request.param("roomId"));
  if (root === undefined || !mayKnow(server, root, user.id)) {
    throw forbidden(`User ${user.id} not in room ${request.param("roomId")}, and room previews are disabled`);
  }
  if (Number.isNaN(start)) throw invalidParam("Unknown pagination token");
  const rooms: JsonObject[] = [];
  const seen = new Set<Room>();
  const stack: { id: string; depth: number }[] = [{ id: root.id, depth: 0 }];
  while (stack.length > 0 && rooms.length < start + limit) {
    const { id = "", depth = 0 } = stack.pop() ?? {};
    const room = server.room(id);
    if (room === undefined || seen.has(room) || !mayKnow(server, room, user.id)) continue;
    seen.add(room);
    const children = childrenOf(room).filter(({ content }) => !suggestedOnly || content.suggested === true);
    const children_state = children.map((event) => ({
      ...strippedEvent(event),
      origin_server_ts: event.timestamp,
    }));
    rooms.push({ ...summariseRoom(room), children_state });
    if (depth >= maxDepth) continue;
    // Depth first: the first child is the next to be taken from the stack.
    for (const { stateKey = "" } of children.toReversed()) stack.push({ id: stateKey, depth: depth + 1 });
  }
  return { rooms: rooms.slice(start), ...(stack.length > 0 ? { next_batch: `h${start + limit}` } : {}) };
}

/** The children of a space in their order; a room that is no space has none. */
function childrenOf(room: Room): RoomEvent[] {
  if (room.state("m.room.create")?.content.type !== "m.space") return [];
  const children = room.fullState().filter(({ type, content: { via } }) =>
    type === "m.space.child" && Array.isArray(via) && via.length > 0 &&
    via.every((server) => typeof server === "string")
  );
  return children.sort((a, b) =>
    orderOf(a) < orderOf(b) ? -1 : orderOf(a) > orderOf(b) ? 1 : a.timestamp - b.timestamp
  );
}

/** What a child is sorted by; those without a valid order come last. */
function orderOf({ content: { order } }: RoomEvent): string {
  return typeof order === "string" && /^[\x20-\x7e]{0,50}$/.test(order) ? order : "\uffff";
}

function summary(request: MatrixRequest): Answer {
  const { server, token } = request;
  const user = token ? server.sessions.find(token).user : undefined;
  const room = server.room(resolveRoom(server, request.param("roomIdOrAlias")));
  if (room === undefined || room.membersWith("join").length === 0) {
    throw badRequest("M_UNKNOWN", "Room not found");
  }
  if (!mayKnow(server, room, user?.id)) throw notFound("Room not found or is not accessible");
  return { ...summariseRoom(room), ...(user && { membership: room.membership(user.id) }) };
}

function upgrade(request: AuthedRequest): Answer {
  const { server, user, json } = request;
  server.rateLimiter.take(user.id, "rooms");
  requireKeys(json, "new_version");
  const version = roomVersion(server, json, "new_version");
  const additionalCreators = version.creatorPower ? creators(json.additional_creators) : [];
  const old = server.room(request.param("roomId"));
  const isDead = old?.membersWith("join").length === 0 && version.creatorPower;
  if (old === undefined || isDead) throw notFound("Unknown room");
  return { replacement_room: upgradeRoom(server, old, user, { version, additionalCreators }).id };
}

function creators(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((id) => typeof id === "string" && /^@[^:]*:.+$/.test(id))) {
    return value;
  }
  throw badRequest("M_FORBIDDEN", "additional_creators must be an array of user IDs");
}
