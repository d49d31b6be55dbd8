/**
 * Cross-signing keys and signatures.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#cross-signing | Cross-signing}
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { type AuthedRequest, type Route, route } from "../http/http.ts";
import {
  type Answer,
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
import type { User } from "../users/mod.ts";

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
  if (before.size > 0) {
    server.uia.require(body, "reset the device signing key on your account", "m.login.password", user);
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
  server.announceDevices(user);
  return {};
}

async function uploadSignatures({ server, user, json }: AuthedRequest): Promise<Answer> {
  const failures: Record<string, JsonObject> = {};
  const changed = new Set<User>();
  for (const [targetId, objects] of Object.entries(json)) {
    if (!isJsonObject(objects)) throw invalidParam("Invalid parameter");
    for (const [objectId, signed] of Object.entries(objects)) {
      if (!isJsonObject(signed) && typeof signed !== "string") throw invalidParam("Invalid parameter");
      try {
        if (!isJsonObject(signed)) throw notFound("Nothing is signed");
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
  if (target === signer && !isMaster && !signer.crossSigning.has("self_signing_key")) {
    throw notFound(`No self_signing key found for ${signer.id}`);
  }
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
