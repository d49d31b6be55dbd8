/**
 * Making rooms, and replacing them by others.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#post_matrixclientv3createroom | POST /createRoom}
 * @module
 */

import type { RoomAlias, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { type AuthedRequest, requireKeys, type Route, route } from "../http/http.ts";
import {
  type Answer,
  badJson,
  badRequest,
  flag,
  isTruthy,
  notFound,
  optionalArray,
  optionalObject,
  optionalString,
  refused,
} from "../json/json.ts";
import { ROOM_VERSIONS, type RoomVersion } from "../rooms/mod.ts";
import { createRoom, type InitialState, type ServerState, upgradeRoom } from "../server/mod.ts";

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
