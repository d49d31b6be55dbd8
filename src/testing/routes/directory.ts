/**
 * Aliases and the room directory.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#room-aliases | Room aliases}
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#published-room-directory | Published room directory}
 * @module
 */

import type { RoomAlias } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import {
  type AuthedRequest,
  type MatrixRequest,
  notMember,
  openRoute,
  requireJoined,
  type Route,
  route,
} from "../http/http.ts";
import {
  type Answer,
  badJson,
  Failure,
  forbidden,
  invalidParam,
  isTruthy,
  notFound,
  optionalArray,
  optionalInteger,
  optionalObject,
  optionalString,
  refused,
  requiredString,
} from "../json/json.ts";
import type { Room } from "../rooms/mod.ts";
import { sendEvent, type ServerState } from "../server/mod.ts";
import { describeRoom } from "./rooms.ts";

/** The routes of this file. */
export const directoryRoutes: readonly Route[] = [
  openRoute("GET", "v3/directory/room/{roomAlias}", resolve),
  route("PUT", "v3/directory/room/{roomAlias}", addAlias),
  route("DELETE", "v3/directory/room/{roomAlias}", removeAlias),
  route("GET", "v3/rooms/{roomId}/aliases", localAliases),
  openRoute("GET", "v3/directory/list/room/{roomId}", getVisibility),
  route("PUT", "v3/directory/list/room/{roomId}", putVisibility),
  route("GET", "v3/publicRooms", listPublic),
  route("POST", "v3/publicRooms", searchPublic),
];

function aliasOf(request: MatrixRequest): RoomAlias {
  const alias = request.param("roomAlias");
  if (!/^#[^:]*:.+$/s.test(alias)) throw invalidParam("Room alias invalid");
  return alias as RoomAlias;
}

async function resolve(request: MatrixRequest): Promise<Answer> {
  const { server: { aliases, appservices } } = request;
  const name = aliasOf(request);
  await appservices.queryAlias(name);
  const alias = aliases.get(name);
  if (alias === undefined) throw notFound(`Room alias ${aliasOf(request)} not found`);
  return { room_id: alias.room, servers: [request.server.settings.serverName] };
}

function addAlias(request: AuthedRequest): void {
  const { server, user } = request;
  const alias = aliasOf(request);
  if (request.json.room_id === null) throw badJson("room_id must be a string");
  const room = server.room(requiredString(request.json, "room_id"));
  if (room === undefined) throw refused("Room does not exist");
  requireJoined(request, room);
  if (/\s/.test(alias)) throw refused("Invalid characters in room alias");
  if (!alias.endsWith(`:${server.settings.serverName}`)) {
    throw refused("Room alias must be local");
  }
  server.appservices.checkAlias(alias, request.token);
  if (server.aliases.has(alias)) throw new Failure(409, "M_UNKNOWN", `Room alias ${alias} already exists`);
  server.aliases.set(alias, { room: room.id, creator: user.id });
}

function removeAlias(request: AuthedRequest): void {
  const { server, user } = request;
  const alias = aliasOf(request);
  const entry = server.aliases.get(alias);
  if (entry === undefined) throw notFound("Unknown room alias");
  const room = server.rooms.get(entry.room);
  if (entry.creator !== user.id && !(room !== undefined && mayChangeAliases(room, user.id))) {
    throw forbidden("You don't have permission to delete the alias.");
  }
  server.aliases.delete(alias);
  if (room !== undefined) forgetCanonicalAlias(server, room, user.id, alias);
}

function mayChangeAliases(room: Room, user: AuthedRequest["user"]["id"]): boolean {
  return room.membership(user) === "join" &&
    room.powerLevels.of(user) >= room.powerLevels.toSend("m.room.canonical_alias", IS_STATE);
}

const IS_STATE = true;

/**
 * A deleted alias must not stay the room's main one. A user who may not change that has deleted it
 * all the same.
 */
function forgetCanonicalAlias(
  server: ServerState,
  room: Room,
  sender: AuthedRequest["user"]["id"],
  alias: RoomAlias,
): void {
  const content = room.state("m.room.canonical_alias")?.content;
  if (content === undefined || !mayChangeAliases(room, sender)) return;
  const next: JsonObject = { ...content };
  if (next.alias === alias) delete next.alias;
  if (Array.isArray(next.alt_aliases)) {
    next.alt_aliases = next.alt_aliases.filter((other) => other !== alias);
    if (Array.isArray(next.alt_aliases) && next.alt_aliases.length === 0) delete next.alt_aliases;
  }
  sendEvent(server, room, { type: "m.room.canonical_alias", sender, stateKey: "", content: next });
}

function localAliases(request: AuthedRequest): Answer {
  const { server, user, room } = request;
  if (
    room === undefined ||
    (room.membership(user.id) !== "join" && room.historyVisibility() !== "world_readable")
  ) {
    throw notMember(request);
  }
  return {
    aliases: [...server.aliases].filter(([, entry]) => entry.room === room.id).map(([alias]) => alias),
  };
}

function getVisibility(request: MatrixRequest): Answer {
  const room = request.room;
  if (room === undefined) throw notFound("Unknown room");
  return { visibility: room.published ? "public" : "private" };
}

function putVisibility(request: AuthedRequest): void {
  const { user, json, room } = request;
  const { visibility = "public" } = json;
  if (visibility !== "public" && visibility !== "private") {
    throw badJson("Input should be 'public' or 'private'");
  }
  if (room === undefined) throw refused("Unknown room");
  if (!mayChangeAliases(room, user.id)) {
    throw forbidden("This server requires you to be a moderator in the room to edit its room list entry");
  }
  room.published = visibility === "public";
}

function listPublic(request: AuthedRequest): Answer {
  return listRooms(request, request.queryInteger("limit"), request.query("since"), {});
}

function searchPublic(request: AuthedRequest): Answer {
  const body = request.json;
  const limit = optionalInteger(body, "limit", 0);
  return listRooms(request, limit, optionalString(body, "since"), filterOf(body));
}

/**
 * The types of rooms that are wanted, all if absent; a text stands for its letters, an object for its keys.
 */
function readTypes(filter: JsonObject): readonly unknown[] | undefined {
  const { room_types: types } = filter;
  if (!isTruthy(types)) return undefined;
  if (isJsonObject(types)) return Object.keys(types);
  return typeof types === "string" ? [...types] : optionalArray(filter, "room_types");
}

function filterOf(body: JsonObject): JsonObject {
  return isTruthy(body.filter) ? optionalObject(body, "filter") ?? {} : {};
}

function listRooms(
  request: AuthedRequest,
  limit: number | undefined,
  since: string | undefined,
  filter: JsonObject,
): Answer {
  const { server } = request;
  const wanted = request.query("server");
  if (wanted !== undefined && wanted !== server.settings.serverName) {
    throw new Failure(502, "M_UNKNOWN", "Failed to fetch room list");
  }
  const term = isTruthy(filter.generic_search_term)
    ? requiredString(filter, "generic_search_term").toLowerCase()
    : undefined;
  const types = readTypes(filter);
  const all = [...server.rooms.values()].filter(isListed).map((room) => describeRoom(room))
    .filter((room) => types === undefined || types.includes(room.room_type ?? null))
    .sort((a, b) => Number(b.num_joined_members) - Number(a.num_joined_members));
  const rooms = all.filter((room) => term === undefined || matchesTerm(room, term));
  const { start, size } = pageOf(since, limit, rooms.length);
  const chunk = rooms.slice(start, start + size);
  return {
    chunk,
    total_room_count_estimate: all.length,
    ...(start + size < rooms.length ? { next_batch: `n${start + size}` } : {}),
    ...(start > 0 ? { prev_batch: `p${start}` } : {}),
  };
}

/** A published room is listed if anyone can come in, ask to be let in, or read it. */
function isListed(room: Room): boolean {
  const isOpen = ["public", "knock", "knock_restricted"].includes(room.joinRule) ||
    room.historyVisibility() === "world_readable";
  return room.published && isOpen && room.membersWith("join").length > 0;
}

/**
 * The direction is in the token: `n` leads to what follows a place, `p` to what comes before it.
 */
function pageOf(
  since: string | undefined,
  limit: number | undefined,
  total: number,
): { start: number; size: number } {
  const size = limit === undefined || limit === 0 ? total : limit;
  if (since === undefined) return { start: 0, size };
  const [, direction, place] = /^([np])(\d+)$/.exec(since) ?? [];
  if (place === undefined) throw invalidParam("Invalid pagination token");
  if (direction === "n") return { start: Number(place), size };
  const start = Math.max(0, Number(place) - size);
  return { start, size: Number(place) - start };
}

function matchesTerm(room: JsonObject, term: string): boolean {
  return [room.name, room.topic, room.canonical_alias].some((text) =>
    typeof text === "string" && text.toLowerCase().includes(term)
  );
}
