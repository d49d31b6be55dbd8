/**
 * Making rooms, replacing them by others, and reading them: state, members and single events, and what the
 * directory, summaries and spaces say of them.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3createroom | POST /createRoom}
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#getting-events-for-a-room | Getting events for a room}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#spaces | Spaces}
 *
 * Over 300 lines because it is a list of routes.
 *
 * @module
 */

import type { RoomAlias, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import {
  type AuthedRequest,
  type MatrixRequest,
  notReadable,
  openRoute,
  requireKeys,
  resolveRoom,
  roomToRead,
  type Route,
  route,
  viewerOf,
} from "../http/http.ts";
import {
  type Answer,
  badJson,
  badRequest,
  flag,
  forbidden,
  invalidParam,
  isTruthy,
  notFound,
  optionalArray,
  optionalObject,
  optionalString,
  refused,
  stringAt,
} from "../json/json.ts";
import {
  allowedRooms,
  canSee,
  eventToShow,
  formatEvent,
  isKnockable,
  isRestricted,
  isWithheld,
  membershipOf,
  type Room,
  ROOM_VERSIONS,
  type RoomEvent,
  type RoomVersion,
  strippedEvent,
} from "../rooms/mod.ts";
import { createRoom, type InitialState, type ServerState, upgradeRoom } from "../server/mod.ts";
import { parseToken } from "../sync/sync.ts";

/** The routes of this file. */
export const stateRoutes: readonly Route[] = [
  route("GET", "v3/rooms/{roomId}/state", allState),
  route("GET", "v3/rooms/{roomId}/state/{eventType}", oneState),
  route("GET", "v3/rooms/{roomId}/state/{eventType}/{stateKey}", oneState),
  route("GET", "v3/rooms/{roomId}/members", members),
  route("GET", "v3/rooms/{roomId}/joined_members", joinedMembers),
  route("GET", "v3/rooms/{roomId}/event/{eventId}", event),
  route("GET", "v1/rooms/{roomId}/hierarchy", hierarchy),
  openRoute("GET", "v1/room_summary/{roomIdOrAlias}", summary),
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
  const room = request.room;
  const found = eventToShow(room, request.param("eventId"));
  const peeking = room?.membership(request.user.id) !== "join";
  if (room === undefined || found === undefined || !canSee(room, request.user, found, { peeking })) {
    throw notFound("Event not found.");
  }
  return formatEvent(room, found, viewerOf(request), { aggregations: true });
}

/** How many rooms a page has if the client does not say, and at most. */
const MAX_ROOMS = 50;

/** Returns whether a user, or one without a token, may learn of a room: they are in it, or could come in. */
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
  const root = request.room;
  if (root === undefined || !mayKnow(server, root, user.id)) {
    throw notReadable(request);
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

/** Returns what a child is sorted by; those without a valid order come last. */
function orderOf({ content: { order } }: RoomEvent): string {
  return typeof order === "string" && /^[\x20-\x7e]{0,50}$/.test(order) ? order : "\uffff";
}

function summary(request: MatrixRequest): Answer {
  const { server, token } = request;
  const user = token ? server.sessions.find(token).user : undefined;
  const room = server.room(resolveRoom(server, request.param("roomIdOrAlias")));
  if (room === undefined || room.membersWith("join").length === 0) {
    throw refused("Room not found");
  }
  if (!mayKnow(server, room, user?.id)) throw notFound("Room not found or is not accessible");
  return { ...summariseRoom(room), ...(user && { membership: room.membership(user.id) }) };
}

/** The description of a room for users who may find it. */
export function describeRoom(room: Room): JsonObject {
  const read = (type: string, key: string) => describedBy(room, type, key);
  const description: JsonObject = {
    room_id: room.id,
    name: read("m.room.name", "name"),
    topic: read("m.room.topic", "topic"),
    canonical_alias: read("m.room.canonical_alias", "alias"),
    avatar_url: read("m.room.avatar", "url"),
    room_type: read("m.room.create", "type"),
    join_rule: room.joinRule,
    num_joined_members: room.membersWith("join").length,
    world_readable: room.historyVisibility() === "world_readable",
    guest_can_join: read("m.room.guest_access", "guest_access") === "can_join",
  };
  return Object.fromEntries(Object.entries(description).filter(([, value]) => value !== undefined));
}

/** The longer description of summaries and hierarchies. */
function summariseRoom(room: Room): JsonObject {
  const encryption = describedBy(room, "m.room.encryption", "algorithm");
  return {
    ...describeRoom(room),
    room_version: room.version.id,
    ...(encryption === undefined ? {} : { encryption }),
    ...(isRestricted(room) ? { allowed_room_ids: allowedRooms(room) } : {}),
  };
}

/** A member of state; as Synapse does, of what it was when it was set: no redaction takes that back. */
function describedBy(room: Room, type: string, key: string): string | undefined {
  const event = room.state(type);
  return stringAt(event?.contentBefore ?? event?.content ?? {}, key);
}

/** The routes of this file. */
export const createRoomRoutes: readonly Route[] = [
  route("POST", "v3/createRoom", create),
  route("POST", "v3/rooms/{roomId}/upgrade", upgrade),
];

const PRESETS = ["private_chat", "trusted_private_chat", "public_chat"];

function create({ server, user, token, json: body }: AuthedRequest): Answer {
  server.rateLimiter.take(user.id, "rooms");
  const version = roomVersion(server, body);
  const alias = roomAlias(server, body, token);
  const { visibility = "private" }: JsonObject = body;
  const preset = optionalString(body, "preset") ??
    (visibility === "private" ? "private_chat" : "public_chat");
  if (!PRESETS.includes(preset)) throw badJson(`'${preset}' is not a valid preset`);
  const room = createRoom(server, {
    creator: user.id,
    version,
    preset,
    published: visibility === "public",
    alias,
    name: body.name,
    topic: body.topic,
    initialState: optionalArray(body, "initial_state").map(initialState),
    invite: isTruthy(body.invite) ? optionalArray(body, "invite").map(invitee) : [],
    isDirect: flag(body, "is_direct"),
    creationContent: optionalObject(body, "creation_content") ?? {},
    powerLevels: powerLevels(body, user.id, version),
  });
  return { room_id: room.id };
}

/** The room version that a body asks for. */
function roomVersion(server: ServerState, body: JsonObject, key = "room_version"): RoomVersion {
  const id = key === "room_version" ? body[key] ?? server.settings.defaultRoomVersion : body[key];
  if (typeof id !== "string" && key === "room_version") throw badJson(`${key} must be a string`);
  const version = typeof id === "string" ? ROOM_VERSIONS.get(id) : undefined;
  if (version === undefined) {
    throw badRequest("M_UNSUPPORTED_ROOM_VERSION", "Your homeserver does not support this room version");
  }
  return version;
}

function roomAlias(server: ServerState, body: JsonObject, token: string | undefined): RoomAlias | undefined {
  const localpart = optionalString(body, "room_alias_name");
  if (localpart === undefined) return undefined;
  if (/[\s:]/.test(localpart)) throw refused("Invalid characters in room alias");
  const alias: RoomAlias = `#${localpart}:${server.settings.serverName}`;
  server.appservices.checkAlias(alias, token);
  if (server.aliases.has(alias)) throw badRequest("M_ROOM_IN_USE", "Room alias already taken");
  return alias;
}

function invitee(value: unknown): UserID {
  if (typeof value !== "string" || !/^@[^:]*:.+$/s.test(value)) {
    throw refused(`Invalid user_id: ${value}`);
  }
  return value as UserID;
}

function initialState(entry: unknown): InitialState {
  if (!isJsonObject(entry) || typeof entry.type !== "string" || !isJsonObject(entry.content ?? {})) {
    throw badJson("initial_state entries must be objects with a type and content");
  }
  return {
    type: entry.type,
    stateKey: optionalString(entry, "state_key") ?? "",
    content: optionalObject(entry, "content") ?? {},
  };
}

function powerLevels(body: JsonObject, creator: string, version: RoomVersion): JsonObject {
  if (!isTruthy(body.power_level_content_override)) return {};
  const override = optionalObject(body, "power_level_content_override") ?? {};
  const users = override.users;
  if (isJsonObject(users) && !version.creatorPower && !Object.hasOwn(users, creator)) {
    throw refused(`Not a valid power_level_content_override: 'users' did not contain ${creator}`);
  }
  return override;
}

function upgrade(request: AuthedRequest): Answer {
  const { server, user, json } = request;
  server.rateLimiter.take(user.id, "rooms");
  requireKeys(json, "new_version");
  const version = roomVersion(server, json, "new_version");
  const additionalCreators = version.creatorPower ? creators(json.additional_creators) : [];
  const old = request.room;
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
