/**
 * Searching users and messages, and reporting.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#server-side-search | Server side search}
 * @module
 */

import { type JsonObject, objectOf } from "../../types/json.ts";
import { type AuthedRequest, parseUserId, type Route, route, viewerOf } from "../http/http.ts";
import {
  type Answer,
  badJson,
  flag,
  invalidParam,
  missingParam,
  notFound,
  optionalArray,
  optionalInteger,
  optionalObject,
  optionalString,
  optionalStrings,
  refused,
  stringAt,
} from "../json/json.ts";
import {
  canSee,
  EventFilter,
  eventToShow,
  formatEvent,
  paginate,
  type Room,
  type RoomEvent,
} from "../rooms/mod.ts";
import { pageToken } from "../sync/sync.ts";
import type { User } from "../users/mod.ts";

/** The routes of this file. */
export const searchRoutes: readonly Route[] = [
  route("POST", "v3/user_directory/search", searchUsers),
  route("GET", "v1/mutual_rooms", mutualRooms),
  route("POST", "v3/search", searchEvents),
  route("POST", "v3/rooms/{roomId}/report/{eventId}", reportEvent),
  route("POST", "v3/rooms/{roomId}/report", reportRoom),
  route("POST", "v3/users/{userId}/report", reportUser),
];

const DEFAULT_LIMIT = 10;
const MAX_USERS = 50;
/** What is searched: a key of one type of event each, all of them if the client does not say. */
const SEARCHED: ReadonlyMap<string, string> = new Map([
  ["m.room.message", "content.body"],
  ["m.room.name", "content.name"],
  ["m.room.topic", "content.topic"],
]);

/** Answers all rooms at once: a test has few. */
function mutualRooms(request: AuthedRequest): Answer {
  const { server, user } = request;
  const other = parseUserId(request.requiredQuery("user_id"));
  if (other === user.id) throw invalidParam("You cannot request a list of shared rooms with yourself");
  const joined = user.roomsWith("join").filter((room) => server.room(room)?.membership(other) === "join")
    .sort();
  return { joined, count: joined.length };
}

function searchUsers(request: AuthedRequest): Answer {
  const { server, json } = request;
  const term = optionalString(json, "search_term");
  if (term === undefined) throw refused("`search_term` is required field");
  const limit = Math.max(0, Math.min(optionalInteger(json, "limit", DEFAULT_LIMIT), MAX_USERS));
  const found = [...server.users.values()].filter((other) =>
    !other.deactivated && isNamed(other, term) && isKnown(request, other)
  );
  const results = found.slice(0, limit).map((other) => ({
    user_id: other.id,
    display_name: other.displayName ?? null,
    avatar_url: other.profile.get("avatar_url") ?? null,
  }));
  return { limited: found.length > limit, results };
}

/**
 * Returns whether the ID or the name of a user has all words of a term; the last of what has no gap may go
 * on.
 */
function isNamed(user: User, term: string): boolean {
  const names = wordsOf(`${user.id} ${user.displayName ?? ""}`);
  return term.split(/\s+/).every((part) => {
    const words = wordsOf(part);
    const start = words.pop() ?? "";
    return words.every((word) => names.includes(word)) && names.some((name) => name.startsWith(start));
  });
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/**
 * Users are found who share a room with the asker, or are in a public one, unless everyone is to be
 * found.
 */
function isKnown({ server, user }: AuthedRequest, other: User): boolean {
  if (server.settings.searchAllUsers) return other !== user;
  return other.roomsWith("join").some((id) => {
    const room = server.rooms.get(id);
    return room !== undefined &&
      (room.joinRule === "public" || room.historyVisibility() === "world_readable" ||
        (other !== user && room.membership(user.id) === "join"));
  });
}

function searchEvents(request: AuthedRequest): Answer {
  const events = optionalObject(optionalObject(request.json, "search_categories") ?? {}, "room_events") ?? {};
  const term = optionalString(events, "search_term");
  if (term === undefined) throw refused("Invalid search query");
  const order = events.order_by ?? "rank";
  if (order !== "rank" && order !== "recent") throw refused(`Invalid order by: ${order}`);
  const groupings = groupingsOf(events);
  const context = wantedContext(optionalObject(events, "event_context"));
  const filterJson = optionalObject(events, "filter") ?? {};
  const filter = new EventFilter(filterJson);
  const keys = Array.isArray(events.keys) ? events.keys : [...SEARCHED.values()];
  const highlights = term.match(/[\p{L}\p{N}_]+/gu) ?? [];
  const words = highlights.map((word) => word.toLowerCase());
  const unknown = optionalStrings(filterJson, "rooms")?.find((id) => request.server.room(id) === undefined);
  if (unknown !== undefined) throw notFound(`Current state for room ${unknown} is empty`);
  const rooms = roomsOf(request).filter((room) => filter.allowsRoom(room.id));
  if (rooms.length === 0) {
    return { search_categories: { room_events: { results: [], count: 0, highlights: [] } } };
  }
  if ((order === "recent" && filter.limit === 0) || !keys.every((key) => typeof key === "string")) {
    throw refused("Invalid search");
  }
  const found = rooms.flatMap((room) =>
    room.events.filter((event) => event.redaction === undefined && matches(event, keys, words))
      .map((event) => ({ room, event }))
  );
  const hits = found.filter(({ room, event }) =>
    filter.allows(event) && filter.allowsRelations(room, event) && canSee(room, request.user, event)
  );
  hits.sort((a, b) => b.event.position - a.event.position);
  const start = Number(/^e(\d+)$/.exec(request.query("next_batch") ?? "")?.[1] ?? 0);
  const end = start + (filter.limit ?? DEFAULT_LIMIT);
  const page = hits.slice(start, end);
  return {
    search_categories: {
      room_events: {
        results: page.map(({ room, event }, index) => ({
          rank: 1 / (start + index + 1),
          result: formatEvent(room, event, viewerOf(request), { aggregations: true }),
          context: contextOf(request, room, event, context),
        })),
        count: found.length,
        highlights,
        ...(order === "recent" && page.length === end - start ? { next_batch: `e${end}` } : {}),
        ...(flag(events, "include_state") && page.length > 0 ? { state: statesOf(request, page) } : {}),
        ...groupsOf(page, groupings.filter((key) => key === "room_id" || order === "rank")),
      },
    },
  };
}

function roomsOf({ server, user }: AuthedRequest): Room[] {
  return user.roomsWith("join").map((id) => server.rooms.get(id)).filter((room) => room !== undefined);
}

function matches(event: RoomEvent, keys: readonly string[], words: readonly string[]): boolean {
  const key = SEARCHED.get(event.type) ?? "";
  if (!keys.includes(key)) return false;
  const text = (stringAt(event.content, key.replace(/^content\./, "")) ?? "").toLowerCase();
  const present = new Set(text.match(/[\p{L}\p{N}_]+/gu) ?? []);
  return words.length > 0 && words.every((word) => present.has(word));
}

/** What is to be shown around each result. */
interface WantedContext {
  readonly before: number;
  readonly after: number;
  readonly profiles: boolean;
}

function wantedContext(json: JsonObject | undefined): WantedContext | undefined {
  return json === undefined ? undefined : {
    before: optionalInteger(json, "before_limit", 5),
    after: optionalInteger(json, "after_limit", 5),
    profiles: flag(json, "include_profile"),
  };
}

function contextOf(
  request: AuthedRequest,
  room: Room,
  event: RoomEvent,
  wanted: WantedContext | undefined,
): JsonObject {
  if (wanted === undefined) return {};
  const allows = (other: RoomEvent) => canSee(room, request.user, other);
  const before = paginate(room.events, {
    forwards: false,
    from: event.position - 1,
    to: 0,
    limit: wanted.before,
    allows,
  });
  const after = paginate(room.events, {
    forwards: true,
    from: event.position,
    to: Infinity,
    limit: wanted.after,
    allows,
  });
  const format = (other: RoomEvent) => formatEvent(room, other, viewerOf(request));
  return {
    events_before: before.map(format),
    events_after: after.map(format),
    start: pageToken((before.at(-1) ?? event).position - 1),
    end: pageToken((after.at(-1) ?? event).position),
    ...(wanted.profiles ? { profile_info: profilesOf(room, [...before, event, ...after]) } : {}),
  };
}

function profilesOf(room: Room, events: readonly RoomEvent[]): JsonObject {
  return Object.fromEntries(events.map(({ sender }) => {
    const { displayname, avatar_url } = room.members.get(sender)?.content ?? {};
    return [sender, { displayname: displayname ?? null, avatar_url: avatar_url ?? null }];
  }));
}

function statesOf(request: AuthedRequest, page: readonly { room: Room }[]): JsonObject {
  const rooms = new Set(page.map(({ room }) => room));
  return Object.fromEntries([...rooms].map((room) => [
    room.id,
    room.fullState().map((event) => formatEvent(room, event, viewerOf(request))),
  ]));
}

/** By what the results are to be grouped. */
function groupingsOf(events: JsonObject): string[] {
  const groups = optionalArray(optionalObject(events, "groupings") ?? {}, "group_by");
  return groups.map((group) => {
    const key = stringAt(objectOf(group), "key");
    if (key !== "room_id" && key !== "sender") throw refused("Invalid group by keys");
    return key;
  });
}

function groupsOf(
  page: readonly { room: Room; event: RoomEvent }[],
  keys: readonly string[],
): { groups?: JsonObject } {
  if (page.length === 0 || keys.length === 0) return {};
  const groups = [...new Set(keys)].map((key) => {
    const members: Record<string, { order: number; results: string[] }> = {};
    page.forEach(({ room, event }, order) => {
      const name = key === "sender" ? event.sender : room.id;
      (members[name] ??= { order, results: [] }).results.push(event.id);
    });
    return [key, members];
  });
  return { groups: Object.fromEntries(groups) };
}

function checkReason(body: JsonObject): void {
  if (body.reason !== undefined && body.reason !== null && typeof body.reason !== "string") {
    throw badJson("Param 'reason' must be a string");
  }
  if (body.score !== undefined && body.score !== null && !Number.isInteger(body.score)) {
    throw badJson("Param 'score' must be an integer");
  }
}

function reportEvent(request: AuthedRequest): void {
  checkReason(request.json);
  const room = request.room;
  const event = eventToShow(room, request.param("eventId"));
  const peeking = room?.membership(request.user.id) !== "join";
  if (room === undefined || event === undefined || !canSee(room, request.user, event, { peeking })) {
    throw notFound("Unable to report event: it does not exist or you aren't able to see it.");
  }
}

function reportRoom(request: AuthedRequest): void {
  requireReason(request.json);
  if (request.room === undefined) throw notFound("Room does not exist");
}

function requireReason({ reason }: JsonObject): void {
  if (reason === undefined) throw missingParam("reason");
  if (typeof reason !== "string") throw badJson("Param 'reason' must be a string");
}

function reportUser(request: AuthedRequest): void {
  requireReason(request.json);
}
