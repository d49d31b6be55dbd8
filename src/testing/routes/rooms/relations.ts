/**
 * What relates to an event, and threads.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#aggregating-events | Relations}
 * @module
 */

import { Failure, forbidden } from "../../http/failure.ts";
import type { AuthedRequest } from "../../http/request.ts";
import type { Answer } from "../../http/reply.ts";
import { type Route, route } from "../../http/route.ts";
import { threadOf } from "../../model/events/aggregations.ts";
import { formatEvent } from "../../model/events/format_event.ts";
import type { Room } from "../../model/rooms/room.ts";
import type { RoomEvent } from "../../model/events/room_event.ts";
import { canSee, eventToShow } from "../../model/rooms/visibility.ts";
import { pageToken, parseToken } from "../../sync/sync_token.ts";
import { roomToRead, viewerOf } from "../route_tools.ts";

/** The routes of this file. */
export const relationRoutes: readonly Route[] = [
  route("GET", "v1/rooms/{roomId}/relations/{eventId}", relations),
  route("GET", "v1/rooms/{roomId}/relations/{eventId}/{relType}", relations),
  route("GET", "v1/rooms/{roomId}/relations/{eventId}/{relType}/{eventType}", relations),
  route("GET", "v1/rooms/{roomId}/threads", threads),
];

/** How many events a page has if the client does not say, and at most. */
const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 1000;
/** How far relations of relations are followed. */
const MAX_DEPTH = 3;

function relations(request: AuthedRequest): Answer {
  const forwards = request.queryOneOf("dir", ["f", "b"]) === "f";
  const limit = Math.min(request.queryInteger("limit") ?? DEFAULT_LIMIT, MAX_LIMIT);
  const recurse = request.queryFlag("recurse");
  const from = tokenOf(request, "from");
  const to = tokenOf(request, "to");
  const { room, peeking } = roomToRead(request);
  const parent = eventToShow(room, request.param("eventId"));
  if (parent === undefined) throw new Failure(404, "M_UNKNOWN", "Unknown parent event.");
  if (!canSee(room, request.user, parent, { peeking })) {
    throw forbidden("You don't have permission to access that event.");
  }
  const related = descendants(room, parent.id, recurse ? MAX_DEPTH : 1);
  const relType = request.param("relType");
  const eventType = request.param("eventType");
  const matching = related.filter((event) =>
    (relType === "" || room.relations.of(event)?.type === relType) &&
    (eventType === "" || event.type === eventType) &&
    canSee(room, request.user, event, { peeking })
  ).sort((a, b) => forwards ? a.position - b.position : b.position - a.position);
  const within = matching.filter(({ position }) => {
    const afterStart = from === undefined ||
      (forwards ? position > from : position <= from);
    const beforeEnd = to === undefined ||
      (forwards ? position <= to : position > to);
    return afterStart && beforeEnd;
  });
  const page = within.slice(0, limit);
  const last = page.at(-1);
  return {
    chunk: page.map((event) => formatEvent(room, event, viewerOf(request), { aggregations: true })),
    ...(last !== undefined && within.length > page.length
      ? { next_batch: pageToken(forwards ? last.position : last.position - 1) }
      : {}),
    ...(from === undefined ? {} : { prev_batch: request.query("from") }),
    ...(recurse ? { recursion_depth: MAX_DEPTH } : {}),
  };
}

function tokenOf(request: AuthedRequest, name: string): number | undefined {
  const token = request.query(name);
  return token === undefined || token === "" ? undefined : parseToken(token).position;
}

function descendants(room: Room, id: string, depth: number): RoomEvent[] {
  if (depth === 0) return [];
  return room.relations.childrenOf(id).flatMap((child) => [child, ...descendants(room, child.id, depth - 1)]);
}

function threads(request: AuthedRequest): Answer {
  const limit = Math.min(request.queryInteger("limit") ?? DEFAULT_LIMIT, MAX_LIMIT);
  const participated = request.queryOneOf("include", ["all", "participated"]) === "participated";
  const from = tokenOf(request, "from");
  const { room, peeking } = roomToRead(request);
  const { user } = request;
  const roots: { root: RoomEvent; latest: number }[] = [];
  for (const id of room.relations.parents()) {
    const root = room.event(id);
    if (root === undefined || !canSee(room, user, root, { peeking })) continue;
    const thread = threadOf(room, root);
    const latest = thread.at(-1);
    if (latest === undefined) continue;
    if (participated && root.sender !== user.id && !thread.some(({ sender }) => sender === user.id)) continue;
    roots.push({ root, latest: latest.position });
  }
  roots.sort((a, b) => b.latest - a.latest);
  const rest = from === undefined ? roots : roots.filter(({ latest }) => latest <= from);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const viewer = { ...viewerOf(request), device: undefined };
  return {
    chunk: page.map(({ root }) => formatEvent(room, root, viewer, { aggregations: true })),
    ...(last !== undefined && rest.length > page.length ? { next_batch: pageToken(last.latest - 1) } : {}),
  };
}
