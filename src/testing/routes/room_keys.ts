/**
 * The backup of room keys.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#server-side-key-backups | Server-side key backups}
 * @module
 */

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { type AuthedRequest, type Method, requireKeys, type Route, route } from "../http/http.ts";
import { type Answer, badJson, Failure, invalidParam, notFound } from "../json/json.ts";
import type { KeyBackup } from "../users/mod.ts";

/** The routes of this file. */
export const roomKeyRoutes: readonly Route[] = [
  route("POST", "v3/room_keys/version", createVersion),
  route("GET", "v3/room_keys/version", (request) => describe(currentBackup(request))),
  route(
    "GET",
    "v3/room_keys/version/{version}",
    (request) => describe(backupOf(request, request.param("version"))),
  ),
  route("PUT", "v3/room_keys/version/{version}", updateVersion),
  route("DELETE", "v3/room_keys/version/{version}", deleteVersion),
  ...keyRoutesAt("", (keys) => keys),
  ...keyRoutesAt("/{roomId}", (keys, request) => ({ rooms: { [request.roomId]: keys } })),
  ...keyRoutesAt("/{roomId}/{sessionId}", (keys, request) => ({
    rooms: { [request.roomId]: { sessions: { [request.param("sessionId")]: keys } } },
  })),
];

/**
 * The routes for all keys, those of a room, or one; `widen` makes the whole structure of what such
 * a body carries.
 */
function keyRoutesAt(
  suffix: string,
  widen: (keys: JsonObject, request: AuthedRequest) => JsonObject,
): Route[] {
  const at = (method: Method, handle: Route["handle"]) => route(method, `v3/room_keys/keys${suffix}`, handle);
  return [
    at("PUT", (request) => putKeys(request, widen(request.json, request))),
    at("GET", getKeys),
    at("DELETE", deleteKeys),
  ];
}

function createVersion({ server, user, json }: AuthedRequest): Answer {
  requireKeys(json, "auth_data", "algorithm");
  return {
    version: server.backups.create(user.id, String(json.algorithm), json.auth_data).version,
  };
}

function currentBackup({ server, user }: AuthedRequest): KeyBackup {
  const backup = server.backups.current(user.id);
  if (backup === undefined) throw notFound("No backup found");
  return backup;
}

function backupOf({ server, user }: AuthedRequest, version: string): KeyBackup {
  const backup = server.backups.find(user.id, version);
  if (backup === undefined) throw notFound("Unknown backup version");
  return backup;
}

function describe(backup: KeyBackup): JsonObject {
  const { version, algorithm, authData, etag, count } = backup;
  return { version, algorithm, auth_data: authData, etag: String(etag), count };
}

function updateVersion(request: AuthedRequest): void {
  const { json } = request;
  const version = request.param("version");
  if (json.version !== undefined && json.version !== version) {
    throw invalidParam("Version in body does not match");
  }
  const backup = backupOf(request, version);
  requireKeys(json, "auth_data", "algorithm");
  if (json.algorithm !== backup.algorithm) throw invalidParam("Algorithm does not match");
  backup.authData = json.auth_data;
}

function deleteVersion(request: AuthedRequest): void {
  const { version } = backupOf(request, request.param("version"));
  request.server.backups.delete(request.user.id, version);
}

/**
 * Keys go into the latest version only: a client that writes to an old one must learn of the new
 * one.
 */
function putKeys(request: AuthedRequest, body: JsonObject): Answer {
  const version = request.requiredQuery("version");
  const current = request.server.backups.current(request.user.id);
  if (current === undefined) throw notFound(`Version '${version}' not found`);
  if (current.version !== version) {
    backupOf(request, version);
    throw new Failure(403, "M_WRONG_ROOM_KEYS_VERSION", "Wrong room_keys version", {
      extra: { current_version: version }, // so says Synapse
    });
  }
  for (const [room, { sessions }] of objects(body.rooms)) {
    for (const [session, key] of objects(sessions)) current.put(room, session, key);
  }
  return { etag: String(current.etag), count: current.count };
}

function objects(value: unknown): [string, JsonObject][] {
  if (!isJsonObject(value)) throw badJson("Expected an object");
  return Object.entries(value).map(([key, item]) => {
    if (!isJsonObject(item)) throw badJson(`'${key}' must be an object`);
    return [key, item];
  });
}

function getKeys(request: AuthedRequest): Answer {
  const backup = backupOf(request, request.requiredQuery("version"));
  const room = request.roomId;
  const session = request.param("sessionId");
  if (session !== "") {
    const key = backup.get(room, session);
    if (key === undefined) throw notFound("No room_keys found");
    return key;
  }
  if (room !== "") return { sessions: backup.sessionsOf(room) };
  return { rooms: Object.fromEntries(backup.rooms().map((id) => [id, { sessions: backup.sessionsOf(id) }])) };
}

function deleteKeys(request: AuthedRequest): Answer {
  const backup = backupOf(request, request.requiredQuery("version"));
  backup.remove(request.roomId || undefined, request.param("sessionId") || undefined);
  return { etag: String(backup.etag), count: backup.count };
}
