/**
 * The keys of a user: those of cross-signing, and the backup of room keys.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { type AuthedRequest, type Method, requireKeys, type Route, route } from "../http/http.ts";
import {
  type Answer,
  badJson,
  badRequest,
  canonicalJson,
  checkSignature,
  ed25519KeyOf,
  Failure,
  invalidParam,
  missingParam,
  notFound,
  optionalObject,
  refused,
  stringAt,
  valueAt,
} from "../json/json.ts";
import type { ServerState } from "../server/mod.ts";
import type { KeyBackup, User } from "../users/mod.ts";

/** The routes of this file. */
export const crossSigningRoutes: readonly Route[] = [
  route("POST", "v3/keys/device_signing/upload", uploadKeys),
  route("POST", "v3/keys/signatures/upload", uploadSignatures),
];

const KEY_NAMES = ["master_key", "self_signing_key", "user_signing_key"];

async function uploadKeys(request: AuthedRequest): Promise<Answer> {
  const { server, user, json: body } = request;
  const before = new Map(user.crossSigning);
  const given = KEY_NAMES.filter((name) => body[name] !== undefined && body[name] !== null);
  if (given.length > 0 && given[0] !== "master_key" && !before.has("master_key")) {
    throw missingParam("master_key");
  }
  const keys = KEY_NAMES.flatMap((name): [string, JsonObject][] => {
    const key = optionalObject(body, name);
    return key === undefined ? [] : [[name, key]];
  });
  if (keys.every(([name, key]) => canonicalJson(before.get(name)) === canonicalJson(key))) return {};
  // Setting cross-signing up is free; replacing the keys needs the password.
  if (before.size > 0 && server.oauth === undefined) {
    server.uia.require(body, "reset the device signing key on your account", "m.login.password", user);
  } else if (before.size > 0 && server.oauth?.mayReplaceKeys(user) === false) {
    throw resetNeeded(server.oauth.accountUrl);
  }
  const master = keys.find(([name]) => name === "master_key")?.[1] ?? before.get("master_key");
  if (master === undefined) throw badRequest("M_MISSING_PARAM", "No master key available");
  const { id, key: masterKey } = ed25519KeyOf(master);
  for (const [name, key] of keys) {
    const usage = name.replace("_key", "");
    if (key.user_id !== user.id || !Array.isArray(key.usage) || !key.usage.includes(usage)) {
      throw invalidParam(`Invalid ${usage} key`);
    }
    if (name !== "master_key") await checkSignature(key, user.id, id, masterKey);
  }
  // One that came while signatures were checked was faster: this one comes after it.
  if (KEY_NAMES.some((name) => user.crossSigning.get(name) !== before.get(name))) {
    return await uploadKeys(request);
  }
  for (const [name, key] of keys) user.crossSigning.set(name, key);
  if (given.includes("master_key")) server.oauth?.keysReplaced(user);
  server.announceDevices(user);
  return {};
}

/** The person has to allow it at the account management page: MSC4312. */
function resetNeeded(page: string): Failure {
  const url = `${page}?action=org.matrix.cross_signing_reset`;
  const stages = ["m.oauth", "org.matrix.cross_signing_reset"];
  const failure = new Failure(401, "M_UNAUTHORIZED", "The person has to allow it");
  return Object.assign(failure, {
    body: {
      session: "dummy",
      flows: stages.map((stage) => ({ stages: [stage] })),
      params: Object.fromEntries(stages.map((stage) => [stage, { url }])),
      msg:
        `To reset your end-to-end encryption cross-signing identity, you first need to approve it at ${url} ` +
        "and then try again.",
    },
  });
}

async function uploadSignatures({ server, user, json }: AuthedRequest): Promise<Answer> {
  const failures: Record<string, JsonObject> = {};
  const changed = new Set<User>();
  for (const [targetId, objects] of Object.entries(json)) {
    if (!isJsonObject(objects)) throw invalidParam("Invalid parameter");
    // As on Synapse: without these, what was signed is not looked at.
    const needed = targetId === user.id ? ["self_signing_key", "master_key"] : ["user_signing_key"];
    const missing = needed.find((name) => !user.crossSigning.has(name));
    for (const [objectId, signed] of Object.entries(objects)) {
      if (missing === undefined && !isJsonObject(signed)) throw invalidParam("Invalid parameter");
      try {
        if (missing !== undefined || !isJsonObject(signed)) {
          throw notFound(`No ${missing} found for ${user.id}`);
        }
        changed.add(await addSignatures(server, user, targetId, objectId, signed));
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        (failures[targetId] ??= {})[objectId] = {
          status: error.status,
          errcode: error.body.errcode,
          message: error.message,
        };
      }
    }
  }
  for (const target of changed) server.announceDevices(target);
  return { failures };
}

/** Adds the signatures to what is stored, and returns whose keys have changed. */
async function addSignatures(
  server: ServerState,
  signer: User,
  targetId: string,
  objectId: string,
  signed: JsonObject,
): Promise<User> {
  const target = server.users.get(targetId as UserID);
  const master = target?.crossSigning.get("master_key");
  const isMaster = master !== undefined && ed25519KeyOf(master).id === `ed25519:${objectId}`;
  const stored = isMaster ? master : target === signer ? signer.devices.get(objectId)?.keys : undefined;
  if (target === undefined || stored === undefined) throw notFound("Unknown device");
  if (withoutSignatures(stored) !== withoutSignatures(signed)) {
    throw refused("Key does not match");
  }
  const signatures = valueAt(signed, ["signatures", signer.id]);
  if (!isJsonObject(signatures)) throw badRequest("M_INVALID_SIGNATURE", "Invalid signature");
  const known = valueAt(stored, ["signatures", signer.id]);
  const added = Object.keys(signatures).filter((id) => !isJsonObject(known) || known[id] !== signatures[id]);
  for (const id of added) {
    await checkSignature(signed, signer.id, id, signingKey(signer, target, isMaster, id));
  }
  const all = isJsonObject(stored.signatures) ? stored.signatures : {};
  const own = isJsonObject(all[signer.id]) ? all[signer.id] as JsonObject : {};
  stored.signatures = { ...all, [signer.id]: { ...own, ...signatures } };
  return target;
}

/**
 * The public key that a signature must be made with: a device signs the own master key,
 * cross-signing keys the rest.
 */
function signingKey(signer: User, target: User, isMaster: boolean, id: string): string {
  if (isMaster && target === signer) {
    const key = stringAt(signer.devices.get(id.slice("ed25519:".length))?.keys ?? {}, "keys", id);
    if (key !== undefined) return key;
  } else {
    const name = target === signer ? "self_signing_key" : "user_signing_key";
    const json = signer.crossSigning.get(name);
    if (json === undefined) throw notFound(`No ${name} found for ${signer.id}`);
    const { id: expected, key } = ed25519KeyOf(json);
    if (id === expected) return key;
  }
  throw badRequest("M_INVALID_SIGNATURE", "Invalid signature");
}

function withoutSignatures({ signatures: _signatures, unsigned: _unsigned, ...rest }: JsonObject): string {
  return canonicalJson(rest);
}

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
