/**
 * What the content of an event must be, whoever sends it.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { badJson, canonicalJson, Failure, forbidden, invalidParam, refused } from "../json/json.ts";
import { NAMED_LEVELS } from "./power_levels.ts";
import type { Room } from "./room.ts";
import type { EventDraft } from "./room_event.ts";

/** The largest event, in bytes, with some room for what the server adds. */
const MAX_EVENT_SIZE = 65_000;
/** The longest type and state key, in bytes. */
const MAX_NAME = 255;

/** The fields that well-known events must have, as strings. */
const STRINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ["m.room.message", ["body", "msgtype"]],
  ["m.room.topic", ["topic"]],
  ["m.room.name", ["name"]],
]);

const STATE_ONLY = ["m.room.member", "m.room.topic", "m.room.name", "m.room.tombstone"];

/** Refuses content that no member may send into the room. */
export function checkContent(room: Room, draft: EventDraft): void {
  const { type, stateKey, content } = draft;
  for (const key of STRINGS.get(type) ?? []) {
    if (content[key] === undefined) throw refused(`'${key}' not in content`);
    if (typeof content[key] !== "string") throw refused(`'${key}' not a string type`);
  }
  if (type === "m.room.tombstone") checkTombstone(room, content);
  if (stateKey === undefined && STATE_ONLY.includes(type)) {
    throw refused(`'${type}' must be state events`);
  }
  if (type === "m.room.create" && room.events.length > 0) {
    throw invalidParam("Cannot resend m.room.create event");
  }
  if (room.version.strictJson) checkNumbers(content);
  if (type === "m.room.server_acl" && !allowsServer(content, room.serverName)) {
    throw refused("Can't create an ACL event that denies the local server");
  }
  if (type === "m.room.power_levels") checkLevels(content);
  checkMentions(content["m.mentions"]);
  if (type === "m.call.invite" && room.joinRule === "public") {
    throw forbidden("Call invites are not allowed in public rooms.");
  }
}

/** Refuses an event that is too large, as a whole or in a part. */
export function checkSize(room: Room, { type, stateKey = "", content }: EventDraft): void {
  const bytes = (text: string) => new TextEncoder().encode(text).byteLength;
  const tooLarge = bytes(JSON.stringify(content)) > MAX_EVENT_SIZE || bytes(type) > MAX_NAME ||
    bytes(stateKey) > MAX_NAME || bytes(room.id) > MAX_NAME;
  if (tooLarge) throw new Failure(413, "M_TOO_LARGE", "event too large");
}

function checkTombstone(room: Room, content: JsonObject): void {
  if (content.replacement_room === undefined) {
    throw refused("Content has no replacement_room key");
  }
  if (content.replacement_room === room.id) {
    throw refused("Tombstone cannot reference the room it was sent in");
  }
}

/** Canonical JSON has no fractions and no integers beyond 2⁵³. */
function checkNumbers(value: unknown): void {
  if (typeof value === "number" && !Number.isInteger(value)) throw badJson("Bad JSON value: float");
  if (typeof value === "number" && !Number.isSafeInteger(value)) throw badJson("JSON integer out of range");
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) checkNumbers(item);
  }
}

/** Clients must write levels as integers, also where the rules of the room take strings. */
function checkLevels(content: JsonObject): void {
  const check = (level: unknown) => {
    if (!Number.isSafeInteger(level)) throw badJson(`${canonicalJson(level)} is not of type 'integer'`);
  };
  for (const [key, value] of Object.entries(content)) {
    if (Object.hasOwn(NAMED_LEVELS, key)) check(value);
    if (!["users", "events", "notifications"].includes(key)) continue;
    if (!isJsonObject(value)) throw badJson(`${canonicalJson(value)} is not of type 'object'`);
    for (const level of Object.values(value)) check(level);
  }
}

function checkMentions(mentions: unknown): void {
  if (mentions === undefined) return;
  if (!isJsonObject(mentions)) throw badJson("'m.mentions' must be an object");
  const { user_ids: users, room }: JsonObject = mentions;
  if (users !== undefined && !(Array.isArray(users) && users.every((user) => typeof user === "string"))) {
    throw badJson("'user_ids' must be an array of strings");
  }
  if (room !== undefined && typeof room !== "boolean") throw badJson("'room' must be a boolean");
}

/** Whether an `m.room.server_acl` of this content lets a server take part. */
function allowsServer({ allow, deny }: JsonObject, serverName: string): boolean {
  const matches = (patterns: unknown) =>
    Array.isArray(patterns) &&
    patterns.some((pattern) => typeof pattern === "string" && matchesGlob(pattern, serverName));
  return !matches(deny) && matches(allow);
}

const globs = new Map<string, RegExp>();

/**
 * Whether a text fits a pattern in which `*` stands for any characters and `?` for one; letters of
 * both cases are the same.
 *
 * @param options How to look.
 * @param options.words Whether it is enough that words within the text fit.
 */
export function matchesGlob(pattern: string, text: string, { words = false } = {}): boolean {
  const id = `${words}${pattern}`;
  let regExp = globs.get(id);
  if (regExp === undefined) {
    const body = pattern.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
    regExp = new RegExp(words ? `(^|\\W)${body}(\\W|$)` : `^${body}$`, "is");
    globs.set(id, regExp);
  }
  return regExp.test(text);
}
