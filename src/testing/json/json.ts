/**
 * JSON in the in-process homeserver: how untrusted fields are read, as Synapse refuses them;
 * what handlers answer; and canonical JSON with its signatures.
 *
 * @see {@link https://spec.matrix.org/v1.19/appendices/#canonical-json | Canonical JSON}
 * @see {@link https://spec.matrix.org/v1.19/appendices/#signing-json | Signing JSON}
 * @module
 */

import { isJsonObject, type JsonObject } from "../../types/json.ts";

/** A refusal with the status and body that the client gets to see. */
export class Failure extends Error {
  override readonly name = "Failure";
  /** The HTTP status. */
  readonly status: number;
  /** The whole response body. */
  readonly body: JsonObject;
  /** Headers besides the usual ones. */
  readonly headers: Record<string, string>;

  /** Makes a refusal; `extra` is merged into the standard error body. */
  constructor(
    status: number,
    errcode: string,
    message: string,
    options: { extra?: JsonObject; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.status = status;
    this.body = { errcode, error: message, ...options.extra };
    this.headers = options.headers ?? {};
  }
}

/** 400 with an errcode of the caller's choice. */
export const badRequest = (errcode: string, message: string): Failure => new Failure(400, errcode, message);
/** 400 with the errcode of what has none of its own. */
export const refused = (message: string): Failure => badRequest("M_UNKNOWN", message);
/** The body is JSON of the wrong shape. */
export const badJson = (message: string): Failure => badRequest("M_BAD_JSON", message);
/** A value is out of the range it may have. */
export const invalidParam = (message: string): Failure => badRequest("M_INVALID_PARAM", message);
/** A field that must be there is not. */
export const missingParam = (name: string): Failure =>
  badRequest("M_MISSING_PARAM", `Missing params: ['${name}']`);
/** The caller may not do this. */
export const forbidden = (message: string): Failure => new Failure(403, "M_FORBIDDEN", message);
/** What is asked for is not there. */
export const notFound = (message = "Not found"): Failure => new Failure(404, "M_NOT_FOUND", message);

/** An answer that is not plain JSON with status 200. */
export class Reply {
  /** The HTTP status. */
  readonly status: number;
  /** JSON, or bytes to be sent as they are. */
  readonly body: unknown;
  /** Headers besides the usual ones. */
  readonly headers: Record<string, string>;

  /** Makes an answer. */
  constructor(status: number, body: unknown, headers: Record<string, string> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** What a handler may return: a JSON object or array with status 200, or a {@link Reply}. */
export type Answer = JsonObject | readonly unknown[] | Reply;

/** The string under `key`, or `undefined` if it is absent or null. */
export function optionalString(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw badJson(`'${key}' must be a string`);
  return value;
}

/** The string under `key`. */
export function requiredString(object: JsonObject, key: string): string {
  const value = optionalString(object, key);
  if (value === undefined) throw missingParam(key);
  return value;
}

/** The object under `key`, or `undefined` if it is absent or null. */
export function optionalObject(object: JsonObject, key: string): JsonObject | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) throw badJson(`'${key}' must be an object`);
  return value;
}

/** The array under `key`, or an empty one. */
export function optionalArray(object: JsonObject, key: string): readonly unknown[] {
  const value = object[key];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw badJson(`'${key}' must be an array`);
  return value;
}

/** The strings under `key`, or `undefined` if it is absent or null. */
export function optionalStrings(object: JsonObject, key: string): string[] | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw badJson(`'${key}' must be an array of strings`);
  }
  return value;
}

/** The whole number under `key`, or `fallback`; flags count as 0 and 1. */
export function optionalInteger(object: JsonObject, key: string, fallback: number): number {
  const value = object[key];
  if (value === undefined || value === null) return fallback;
  if (typeof value === "boolean") return Number(value);
  if (typeof value !== "number" || !Number.isInteger(value)) {
    throw invalidParam(`'${key}' must be an integer`);
  }
  return value;
}

/** The flag under `key`, `false` unless it is there. */
export function flag(object: JsonObject, key: string): boolean {
  return object[key] === true;
}

/** Returns whether a value of any type counts as true: empty lists, objects and texts do not. */
export function isTruthy(value: unknown): boolean {
  return typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}

/**
 * The string behind a path of keys in JSON that needs no check, for example the content of an
 * event.
 */
export function stringAt(object: JsonObject, ...keys: string[]): string | undefined {
  const value = valueAt(object, keys);
  return typeof value === "string" ? value : undefined;
}

/** The value behind a path of keys. */
export function valueAt(object: unknown, keys: readonly string[]): unknown {
  let value = object;
  for (const key of keys) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** Returns whether a text is the ID of a room; without a server name it is one that a create event gives. */
export function isRoomId(text: unknown): boolean {
  return typeof text === "string" && /^!([^:]*:.+|[\w-]{43})$/s.test(text);
}

/** Refuses unless `json` carries a valid Ed25519 signature by `signer` with the key `keyId`. */
export async function checkSignature(
  json: JsonObject,
  signer: string,
  keyId: string,
  publicKey: string,
): Promise<void> {
  const signature = stringAt(json, "signatures", signer, keyId);
  const valid = signature !== undefined && await isValid(json, signature, publicKey).catch(() => false);
  if (!valid) throw badRequest("M_INVALID_SIGNATURE", "Invalid signature");
}

/** The one Ed25519 key of a cross-signing key: its ID and its value. */
export function ed25519KeyOf(json: JsonObject): { id: string; key: string } {
  const [entry, ...others] = Object.entries(valueAt(json, ["keys"]) ?? {});
  if (
    entry === undefined || others.length > 0 || typeof entry[1] !== "string" ||
    !entry[0].startsWith("ed25519:") || !/^[A-Za-z0-9+/]{43}=?$/.test(entry[1])
  ) {
    throw invalidParam("Invalid key");
  }
  return { id: entry[0], key: entry[1] };
}

async function isValid(json: JsonObject, signature: string, publicKey: string): Promise<boolean> {
  const { signatures: _signatures, unsigned: _unsigned, ...signed } = json;
  const key = await crypto.subtle.importKey("raw", fromBase64(publicKey), "Ed25519", NOT_EXTRACTABLE, [
    "verify",
  ]);
  const text = new TextEncoder().encode(canonicalJson(signed));
  return await crypto.subtle.verify("Ed25519", key, fromBase64(signature), text);
}

const NOT_EXTRACTABLE = false;

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** The one text of a JSON value: keys in the order of their code points, and no spaces. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, item]) => item !== undefined).sort(([a], [b]) =>
    byCodePoint(a, b)
  );
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`;
}

/**
 * JavaScript compares UTF-16 units, which puts the characters beyond U+FFFF in front of some that
 * they follow.
 */
function byCodePoint(a: string, b: string): number {
  const [as, bs] = [[...a], [...b]];
  for (let i = 0; i < Math.min(as.length, bs.length); i++) {
    const difference = (as[i]?.codePointAt(0) ?? 0) - (bs[i]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return as.length - bs.length;
}
