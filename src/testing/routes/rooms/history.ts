/**
 * Reading the history of a room.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv3roomsroomidmessages | GET /messages}
 * @module
 */

import type { JsonObject } from "../../../types/json.ts";
import { Failure, forbidden, missingParam, notFound } from "../../http/failure.ts";
import type { AuthedRequest } from "../../http/request.ts";
import type { Answer } from "../../http/reply.ts";
import { type Route, route } from "../../http/route.ts";
import { EventFilter, parseFilterJson } from "../../model/events/event_filter.ts";
import { formatEvent } from "../../model/events/format_event.ts";
import { paginate } from "../../model/events/paginate.ts";
import type { Room } from "../../model/rooms/room.ts";
import type { RoomEvent } from "../../model/events/room_event.ts";
import { canSee, eventToShow, isWithheld } from "../../model/rooms/visibility.ts";
import { pageToken, parseToken } from "../../sync/sync_token.ts";
import { roomToRead, viewerOf } from "../route_tools.ts";

/** The routes of this file. */
export const historyRoutes: readonly Route[] = [
  route("GET", "v3/rooms/{roomId}/messages", messages),
  route("GET", "v3/rooms/{roomId}/context/{eventId}", context),
  route("GET", "v1/rooms/{roomId}/timestamp_to_event", timestampToEvent),
];

/** How many events a page has if the client does not say, and at most. */
const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 1000;

function messages(request: AuthedRequest): Answer {
  const forwards = request.queryOneOf("dir", ["f", "b"]) !== "b";
  const { ignoreTo = false, pageSize = MAX_LIMIT } = request.server.settings.quirks;
  const from = request.query("from") || undefined;
  if (from === undefined && !startsByItself(request)) throw missingParam("from");
  const to = ignoreTo ? undefined : request.query("to") || undefined;
  for (const token of [from, to]) if (token !== undefined) parseToken(token);
  const limit = Math.min(request.queryInteger("limit") ?? DEFAULT_LIMIT, pageSize);
  const filter = readFilter(request);
  const { room, until, peeking } = roomToRead(request);
  const end = Math.min(until, room.latest);
  const start = from === undefined
    ? (forwards ? 0 : end)
    : Math.min(parseToken(from).position, forwards ? Infinity : end);
  const stop = to === undefined ? (forwards ? Infinity : 0) : parseToken(to).position;
  const found = paginate(room, {
    forwards,
    from: start,
    to: stop,
    limit,
    // A list of nothing is only looked at in the end.
    allows: (event) =>
      filter.blocksAll || (filter.allows({ ...event, id: undefined }) && filter.allowsRelations(room, event)),
  });
  const seen = found.filter((event) =>
    filter.allows(event) && canSee(room, request.user, event, { peeking })
  );
  const last = found.at(-1);
  const isPast = to !== undefined && (forwards ? stop <= start : start <= stop);
  const state = filter.lazyLoadMembers ? membersOf(room, seen) : [];
  return {
    chunk: seen.map((event) => formatEvent(room, event, viewerOf(request), { aggregations: true })),
    start: from ?? pageToken(start),
    // A page without anything to look for means that the history ends here.
    ...(last === undefined && (limit > 0 || isPast)
      ? {}
      : { end: pageToken(last === undefined ? start : forwards ? last.position : last.position - 1) }),
    ...(state.length === 0
      ? {}
      : { state: state.map((event) => formatEvent(room, event, viewerOf(request), { bare: true })) }),
  };
}

/**
 * Whether the homeserver is of version 1.3 or later, and needs no token to begin at an end of a
 * history.
 */
function startsByItself({ server: { settings } }: AuthedRequest): boolean {
  return settings.versions.some((version) => /^v1\.([3-9]|\d\d+)$/.test(version));
}

function readFilter(request: AuthedRequest): EventFilter {
  const filter = request.query("filter");
  return new EventFilter(filter === undefined ? undefined : parseFilterJson(filter));
}

function membersOf(room: Room, events: readonly RoomEvent[]): RoomEvent[] {
  const senders = new Set(events.map(({ sender }) => sender));
  const at = events[0]?.position;
  return [...senders].map((user) => room.state("m.room.member", user, at)).filter((event) =>
    event !== undefined
  );
}

function context(request: AuthedRequest): Answer {
  const limit = Math.min(request.queryInteger("limit") ?? DEFAULT_LIMIT, MAX_LIMIT);
  const filter = readFilter(request);
  const room = request.server.room(request.param("roomId"));
  const target = eventToShow(room, request.param("eventId"));
  if (room === undefined || target === undefined) throw notInRoom(request);
  const peeking = room.membership(request.user.id) !== "join";
  const sees = (event: RoomEvent) => canSee(room, request.user, event, { peeking });
  if (!sees(target)) throw forbidden("You don't have permission to access that event.");
  const half = Math.floor(limit / 2);
  const allows = (event: RoomEvent) => filter.allows(event) && filter.allowsRelations(room, event);
  const foundBefore = paginate(room, {
    forwards: false,
    from: target.position - 1,
    to: 0,
    limit: half,
    allows,
  });
  const foundAfter = paginate(room, {
    forwards: true,
    from: target.position,
    to: Infinity,
    limit: limit - half,
    allows,
  });
  const [before, after] = [foundBefore.filter(sees), foundAfter.filter(sees)];
  const last = after.at(-1) ?? target;
  const format = (event: RoomEvent): JsonObject =>
    formatEvent(room, event, viewerOf(request), { aggregations: true });
  const senders = new Set([...before, target, ...after].map(({ sender }) => sender));
  const state = room.fullState(last.position).filter((event) =>
    !isWithheld(room, event) && filter.allows(event) && filter.allowsRelations(room, event) &&
    (!filter.lazyLoadMembers || event.type !== "m.room.member" ||
      senders.has(event.stateKey as typeof event.sender))
  );
  return {
    event: format(target),
    events_before: before.map(format),
    events_after: after.map(format),
    state: state.map((event) => formatEvent(room, event, viewerOf(request), { bare: true })),
    start: pageToken((before.at(-1) ?? target).position - 1),
    end: pageToken(last.position),
  };
}

/** The answer to who asks for an event that the room does not have, but perhaps another. */
function notInRoom(request: AuthedRequest): Failure {
  const { server, user } = request;
  const event = server.event(request.param("eventId"));
  const room = server.room(event?.roomId ?? "");
  if (event === undefined || room === undefined || isWithheld(room, event)) {
    return notFound("Event not found.");
  }
  if (!canSee(room, user, event, { peeking: true })) {
    return forbidden("You don't have permission to access that event.");
  }
  return new Failure(404, "M_UNKNOWN", "Event not found.");
}

function timestampToEvent(request: AuthedRequest): Answer {
  const { room, until, peeking } = roomToRead(request);
  if (until !== Infinity) throw forbidden(`User ${request.user.id} not in room ${room.id}`);
  const ts = request.queryInteger("ts");
  if (ts === undefined) throw missingParam("ts");
  const forwards = (request.queryOneOf("dir", ["f", "b"]) ?? "f") === "f";
  let best: RoomEvent | undefined;
  for (const event of room.events) {
    if (forwards ? event.timestamp < ts : event.timestamp > ts) continue;
    const closer = best === undefined ||
      (forwards ? event.timestamp < best.timestamp : event.timestamp >= best.timestamp);
    if (closer && canSee(room, request.user, event, { peeking })) best = event;
  }
  if (best === undefined) {
    throw notFound(`Unable to find event from ${ts} in direction ${forwards ? "f" : "b"}`);
  }
  return { event_id: best.id, origin_server_ts: best.timestamp };
}
