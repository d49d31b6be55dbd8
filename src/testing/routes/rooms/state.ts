/**
 * Reading state, members and single events.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#getting-events-for-a-room | Getting events for a room}
 * @module
 */

import { forbidden, notFound } from "../../http/failure.ts";
import type { AuthedRequest } from "../../http/request.ts";
import type { Answer } from "../../http/reply.ts";
import { type Route, route } from "../../http/route.ts";
import { formatEvent } from "../../model/events/format_event.ts";
import { membershipOf } from "../../model/events/room_event.ts";
import { canSee, eventToShow, isWithheld } from "../../model/rooms/visibility.ts";
import { parseToken } from "../../sync/sync_token.ts";
import { roomToRead, viewerOf } from "../route_tools.ts";

/** The routes of this file. */
export const stateRoutes: readonly Route[] = [
  route("GET", "v3/rooms/{roomId}/state", allState),
  route("GET", "v3/rooms/{roomId}/state/{eventType}", oneState),
  route("GET", "v3/rooms/{roomId}/state/{eventType}/{stateKey}", oneState),
  route("GET", "v3/rooms/{roomId}/members", members),
  route("GET", "v3/rooms/{roomId}/joined_members", joinedMembers),
  route("GET", "v3/rooms/{roomId}/event/{eventId}", event),
];

function allState(request: AuthedRequest): Answer {
  const { room, until } = roomToRead(request);
  const shown = room.fullState(until).filter((state) => !isWithheld(room, state));
  return shown.map((state) => formatEvent(room, state, viewerOf(request), { bare: true }));
}

function oneState(request: AuthedRequest): Answer {
  const format = request.queryOneOf("format", ["content", "event"]);
  const { room, until } = roomToRead(request);
  const state = room.state(request.param("eventType"), request.param("stateKey"), until);
  if (state === undefined) throw notFound("Event not found.");
  return format === "event"
    ? formatEvent(room, state, viewerOf(request), { bare: true, plain: true })
    : state.content;
}

function members(request: AuthedRequest): Answer {
  const at = request.query("at");
  const limit = at === undefined ? Infinity : parseToken(at).position;
  const { room, until } = roomToRead(request);
  const wanted = request.query("membership");
  const unwanted = request.query("not_membership");
  const position = Math.min(until, limit);
  const chunk = room.fullState(position).filter((state) => {
    if (state.type !== "m.room.member") return false;
    const membership = membershipOf(state);
    // The specification says "or"; Synapse takes both, and clients meet Synapse.
    return (wanted === undefined || membership === wanted) &&
      (unwanted === undefined || membership !== unwanted);
  });
  return { chunk: chunk.map((state) => formatEvent(room, state, viewerOf(request), { bare: true })) };
}

function joinedMembers(request: AuthedRequest): Answer {
  const { room, until } = roomToRead(request);
  if (until !== Infinity) throw forbidden("Getting joined members while not being a current member");
  const joined = room.membersWith("join").map((user) => {
    const { displayname, avatar_url } = room.members.get(user)?.content ?? {};
    return [user, { avatar_url: avatar_url ?? null, display_name: displayname ?? null }];
  });
  return { joined: Object.fromEntries(joined) };
}

function event(request: AuthedRequest): Answer {
  const room = request.server.room(request.param("roomId"));
  const found = eventToShow(room, request.param("eventId"));
  const peeking = room?.membership(request.user.id) !== "join";
  if (room === undefined || found === undefined || !canSee(room, request.user, found, { peeking })) {
    throw notFound("Event not found.");
  }
  return formatEvent(room, found, viewerOf(request), { aggregations: true });
}
