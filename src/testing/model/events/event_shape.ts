/**
 * What the content of an event must look like, whatever the room allows.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../../types/json.ts";
import { badJson, badRequest, Failure } from "../../http/failure.ts";
import type { EventDraft } from "./room_event.ts";

/** The largest event, in bytes, with some room for what the server adds. */
const MAX_EVENT_SIZE = 65_000;

/** The fields that well-known events must have. */
const REQUIRED: ReadonlyMap<string, readonly string[]> = new Map([
  ["m.room.message", ["body", "msgtype"]],
  ["m.room.topic", ["topic"]],
  ["m.room.name", ["name"]],
  ["m.room.tombstone", ["replacement_room"]],
]);

/** The one event whose fields need not be strings: Synapse takes `"replacement_room": 7`. */
const ANY_FIELDS = "m.room.tombstone";

const STATE_ONLY = ["m.room.member", "m.room.topic", "m.room.name", "m.room.tombstone", "m.room.create"];

/** Refuses an event that no room takes. */
export function checkShape({ type, stateKey, content }: EventDraft): void {
  if (stateKey === undefined && STATE_ONLY.includes(type)) {
    throw badRequest("M_UNKNOWN", `'${type}' must be state events`);
  }
  for (const key of REQUIRED.get(type) ?? []) {
    if (content[key] === undefined) throw badRequest("M_UNKNOWN", `'${key}' not in content`);
    if (typeof content[key] !== "string" && type !== ANY_FIELDS) {
      throw badRequest("M_UNKNOWN", `'${key}' not a string type`);
    }
  }
  checkNumbers(content);
  checkMentions(content["m.mentions"]);
  if (new TextEncoder().encode(JSON.stringify(content)).byteLength > MAX_EVENT_SIZE) {
    throw new Failure(413, "M_TOO_LARGE", "event too large");
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

function checkMentions(mentions: unknown): void {
  if (mentions === undefined) return;
  if (!isJsonObject(mentions)) throw badJson("'m.mentions' must be an object");
  const { user_ids: users, room }: JsonObject = mentions;
  if (users !== undefined && !(Array.isArray(users) && users.every((user) => typeof user === "string"))) {
    throw badJson("'user_ids' must be an array of strings");
  }
  if (room !== undefined && typeof room !== "boolean") throw badJson("'room' must be a boolean");
}
