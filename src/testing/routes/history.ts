/**
 * Reading the history of a room, what relates to an event, and threads.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidmessages | GET /messages}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#aggregating-events | Relations}
 *
 * @module
 */

import type { JsonObject } from "../../types/json.ts";
import {
  type AuthedRequest,
  notMember,
  requireSeen,
  roomToRead,
  type Route,
  route,
  viewerOf,
} from "../http/http.ts";
import { type Answer, Failure, forbidden, missingParam, notFound } from "../json/json.ts";
import {
  canSee,
  EventFilter,
  eventToShow,
  formatEvent,
  isWithheld,
  paginate,
  parseFilterJson,
  type Room,
  type RoomEvent,
  threadOf,
} from "../rooms/mod.ts";
import { pageToken, parseToken } from "../sync/sync.ts";

/** The routes of this file. */
export const historyRoutes: readonly Route[] = [
  route("GET", "v3/rooms/{roomId}/messages", messages),
  route("GET", "v3/rooms/{roomId}/context/{eventId}", context),
  route("GET", "v1/rooms/{roomId}/timestamp_to_event", timestampToEvent),
  route("GET", "v1/rooms/{roomId}/relations/{eventId}", relations),
  route("GET", "v1/rooms/{roomId}/relations/{eventId}/{relType}", relations),
  route("GET", "v1/rooms/{roomId}/relations/{eventId}/{relType}/{eventType}", relations),
  route("GET", "v1/rooms/{roomId}/threads", threads),
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
  const found = paginate(room.events, {
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
 * Returns whether the homeserver is of version 1.3 or later, and needs no token to begin at an end of a
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
  const room = request.room;
  const target = eventToShow(room, request.param("eventId"));
  if (room === undefined || target === undefined) throw notInRoom(request);
  const peeking = room.membership(request.user.id) !== "join";
  const sees = (event: RoomEvent) => canSee(room, request.user, event, { peeking });
  requireSeen(request, room, target);
  const half = Math.floor(limit / 2);
  const allows = (event: RoomEvent) => filter.allows(event) && filter.allowsRelations(room, event);
  const foundBefore = paginate(room.events, {
    forwards: false,
    from: target.position - 1,
    to: 0,
    limit: half,
    allows,
  });
  const foundAfter = paginate(room.events, {
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
  const { room, until } = roomToRead(request);
  if (until !== Infinity) throw notMember(request);
  const ts = request.queryInteger("ts");
  if (ts === undefined) throw missingParam("ts");
  const forwards = (request.queryOneOf("dir", ["f", "b"]) ?? "f") === "f";
  let best: RoomEvent | undefined;
  for (const event of room.events) {
    if (forwards ? event.timestamp < ts : event.timestamp > ts) continue;
    const closer = best === undefined ||
      (forwards ? event.timestamp < best.timestamp : event.timestamp >= best.timestamp);
    if (closer) best = event;
  }
  // As on Synapse: any event is named, but for a redaction of nothing, which it does not look past.
  if (best === undefined || isWithheld(room, best)) {
    throw notFound(`Unable to find event from ${ts} in direction ${forwards ? "f" : "b"}`);
  }
  return { event_id: best.id, origin_server_ts: best.timestamp };
}

/** How many events a page has if the client does not say, and at most. */
const DEFAULT_RELATIONS = 5;
const MAX_RELATIONS = 1000;
/** How far relations of relations are followed. */
const MAX_DEPTH = 3;

function relations(request: AuthedRequest): Answer {
  const forwards = request.queryOneOf("dir", ["f", "b"]) === "f";
  const limit = Math.min(request.queryInteger("limit") ?? DEFAULT_RELATIONS, MAX_RELATIONS);
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
  const limit = Math.min(request.queryInteger("limit") ?? DEFAULT_RELATIONS, MAX_RELATIONS);
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
