/**
 * The authorization rules of a room, reduced to one homeserver: may this event be added to this
 * state?
 *
 * @see {@link https://spec.matrix.org/v1.16/rooms/v11/#authorization-rules | Authorization rules}
 * @module
 */

import type { UserID } from "../../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../../types/json.ts";
import { badJson, badRequest, Failure, forbidden, notFound } from "../../http/failure.ts";
import { checkMembership } from "../rooms/membership_rules.ts";
import { flattenLevels, NAMED_LEVELS } from "../rooms/power_levels.ts";
import type { Room } from "../rooms/room.ts";
import type { EventDraft } from "./room_event.ts";

/** Refuses the event unless the state of the room allows it. */
export function checkEvent(room: Room, draft: EventDraft): void {
  if (draft.type === "m.room.create") return checkCreate(room, draft);
  if (draft.type === "m.room.member" && draft.stateKey !== undefined) {
    return checkMembership(room, draft, draft.stateKey as UserID);
  }
  if (room.membership(draft.sender) !== "join") {
    throw forbidden(`User ${draft.sender} not in room ${room.id}`);
  }
  if (draft.type === "m.room.aliases" && room.version.aliasEvents) return;
  const have = room.powerLevels.of(draft.sender);
  const need = room.powerLevels.toSend(draft.type, draft.stateKey !== undefined);
  if (have < need) {
    throw forbidden(
      `You don't have permission to post that to the room. user_level (${have}) < send_level (${need})`,
    );
  }
  if (draft.stateKey?.startsWith("@") && draft.stateKey !== draft.sender) {
    throw forbidden("You are not allowed to set others state");
  }
  if (draft.type === "m.room.power_levels" && draft.stateKey !== undefined) checkPowerLevels(room, draft);
  if (draft.type === "m.room.redaction") checkRedaction(room, draft);
}

/** Refuses an event by someone who is not in the room, unless it is their way in. */
export function checkSender(room: Room, { type, sender }: EventDraft): void {
  if (type === "m.room.create" || type === "m.room.member" || room.membership(sender) === "join") return;
  throw forbidden(`User ${sender} not in room ${room.id}`);
}

function checkCreate(room: Room, draft: EventDraft): void {
  if (room.events.length > 0) throw forbidden(`Create event of ${room.id} exists already`);
  const others = draft.content.additional_creators;
  if (!room.version.creatorPower || others === undefined) return;
  if (!Array.isArray(others) || !others.every((id) => typeof id === "string" && /^@[^:]*:.+$/.test(id))) {
    throw badRequest("M_INVALID_PARAM", "additional_creators must be an array of user IDs");
  }
}

function checkRedaction(room: Room, draft: EventDraft): void {
  const target = draft.redacts === undefined ? undefined : room.event(draft.redacts);
  if (target?.type === "m.room.create") throw forbidden("Redacting create events is not permitted");
  if (target?.type === "m.room.server_acl") throw forbidden("Redacting server ACL events is not permitted");
  if (room.powerLevels.of(draft.sender) >= room.powerLevels.named("redact")) return;
  if (target === undefined) throw notFound("Could not find event");
  if (target.sender !== draft.sender) {
    throw forbidden("You don't have permission to redact events");
  }
}

function checkPowerLevels(room: Room, draft: EventDraft): void {
  checkShape(room, draft.content);
  const current = room.state("m.room.power_levels");
  if (current === undefined) return;
  const power = room.powerLevels.of(draft.sender);
  const before = flattenLevels(current.content);
  const after = flattenLevels(draft.content);
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [old, next] = [before.get(key), after.get(key)];
    if (old === next) continue;
    if ((old ?? -Infinity) > power || (next ?? -Infinity) > power) {
      throw forbidden("You don't have permission to add ops level greater than your own");
    }
    if (key.startsWith("users.") && key !== `users.${draft.sender}` && old === power) {
      throw forbidden("You don't have permission to remove ops level equal to your own");
    }
  }
}

function checkShape(room: Room, content: JsonObject): void {
  const groups = ["users", "events", "notifications"];
  for (const [key, value] of Object.entries(content)) {
    if (groups.includes(key)) {
      if (!isJsonObject(value)) throw badJson(`'${value}' is not of type 'object'`);
      for (const level of Object.values(value)) checkLevel(room, level);
    } else if (Object.hasOwn(NAMED_LEVELS, key)) {
      checkLevel(room, value);
    }
  }
  for (const user of Object.keys(isJsonObject(content.users) ? content.users : {})) {
    if (!/^@[^:]*:.+$/.test(user)) throw badRequest("M_UNKNOWN", `Not a valid user_id: ${user}`);
    if (room.powerLevels.isCreator(user as UserID)) {
      throw new Failure(400, "M_UNKNOWN", `Creator user ${user} must not appear in content.users`);
    }
  }
}

function checkLevel(room: Room, level: unknown): void {
  const asString = typeof level === "string" && /^[+-]?\d+$/.test(level) && !room.version.knockRestricted;
  if (!Number.isSafeInteger(level) && !asString) {
    throw badJson(`Not a valid power level: ${JSON.stringify(level)}`);
  }
}
