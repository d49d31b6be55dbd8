/**
 * What the content of an event must be, and the authorization rules of a room, reduced to one homeserver:
 * may this event be added to this state?
 *
 * @see {@link https://spec.matrix.org/v1.19/rooms/v11/#authorization-rules | Authorization rules}
 *
 * @module
 */

import { matchesGlob } from "../../types/push_rules.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject, objectOf } from "../../types/json.ts";
import { badJson, canonicalJson, Failure, forbidden, invalidParam, refused } from "../json/json.ts";
import { type EventDraft, flattenLevels, NAMED_LEVELS } from "./room_event.ts";
import type { Room } from "./room.ts";

/** Refuses the event unless the state of the room allows it. */
export function checkEvent(room: Room, draft: EventDraft): void {
  if (draft.type === "m.room.create") return checkCreate(room, draft);
  if (draft.type === "m.room.aliases" && room.version.aliasEvents) return checkAliasEvent(room, draft);
  if (draft.type === "m.room.member" && draft.stateKey !== undefined) {
    return checkMembership(room, draft, draft.stateKey as UserID);
  }
  if (room.membership(draft.sender) !== "join") {
    throw forbidden(`User ${draft.sender} not in room ${room.id}`);
  }
  if (draft.type === "m.room.third_party_invite") return checkThirdPartyInvite(room, draft);
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
}

/** Refuses an event by someone who is not in the room, unless it is their way in. */
export function checkSender(room: Room, { type, sender }: EventDraft): void {
  const begins = type === "m.room.create" && room.events.length === 0;
  if (begins || type === "m.room.member" || room.membership(sender) === "join") return;
  throw forbidden(`User ${sender} not in room ${room.id}`);
}

function checkCreate(room: Room, draft: EventDraft): void {
  const others = draft.content.additional_creators;
  if (!room.version.creatorPower || others === undefined) return;
  if (!Array.isArray(others) || !others.every((id) => typeof id === "string" && /^@[^:]*:.+$/.test(id))) {
    throw invalidParam("additional_creators must be an array of user IDs");
  }
}

function checkAliasEvent(room: Room, { stateKey }: EventDraft): void {
  if (stateKey !== room.serverName) {
    throw forbidden("An alias event is state of the server that has the aliases");
  }
}

function checkThirdPartyInvite(room: Room, { sender }: EventDraft): void {
  if (room.powerLevels.of(sender) < room.powerLevels.named("invite")) {
    throw forbidden("You don't have permission to invite users");
  }
}

function checkPowerLevels(room: Room, draft: EventDraft): void {
  checkUsers(room, draft.content);
  const current = room.state("m.room.power_levels");
  if (current === undefined) return;
  const power = room.powerLevels.of(draft.sender);
  const before = flattenLevels(current.content);
  const after = flattenLevels(draft.content);
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [old, next] = [before.get(key), after.get(key)];
    if (old === next || (key.startsWith("notifications.") && !room.version.strictJson)) continue;
    if ((old ?? -Infinity) > power || (next ?? -Infinity) > power) {
      throw forbidden("You don't have permission to add ops level greater than your own");
    }
    if (key.startsWith("users.") && key !== `users.${draft.sender}` && old === power) {
      throw forbidden("You don't have permission to remove ops level equal to your own");
    }
  }
}

function checkUsers(room: Room, { users }: JsonObject): void {
  for (const user of Object.keys(objectOf(users))) {
    if (!/^@[^:]*:.+$/.test(user)) throw refused(`Not a valid user_id: ${user}`);
  }
  for (const user of Object.keys(objectOf(users))) {
    if (room.powerLevels.isCreator(user as UserID)) {
      throw refused(`Creator user ${user} must not appear in content.users`);
    }
  }
}

/** Refuses a change of `target`'s membership unless the state of the room allows it. */
function checkMembership(room: Room, draft: EventDraft, target: UserID): void {
  const membership = draft.content.membership;
  const check = typeof membership === "string" ? CHECKS[membership] : undefined;
  if (check === undefined) throw refused("Invalid membership key");
  // The first member of a room is its creator.
  if (membership === "join" && room.events.length === 1 && room.events[0]?.sender === target) return;
  if (membership !== "join" && membership !== "knock") {
    const own = room.membership(draft.sender);
    const withdraws = membership === "leave" && target === draft.sender &&
      (own === "invite" || own === "knock");
    if (withdraws) return;
    if (own !== "join") throw forbidden(`${draft.sender} not in room ${room.id}.`);
  }
  check(room, draft.sender, target, draft);
}

type Check = (room: Room, sender: UserID, target: UserID, draft: EventDraft) => void;

const CHECKS: Readonly<Record<string, Check>> = {
  invite(room, sender, target) {
    const current = room.membership(target);
    if (current === "ban") throw forbidden(`${target} is banned from the room`);
    if (current === "join") throw forbidden(`${target} is already in the room.`);
    if (room.powerLevels.of(sender) < room.powerLevels.named("invite")) {
      throw forbidden("You don't have permission to invite users");
    }
  },
  join(room, sender, target, draft) {
    if (sender !== target) throw forbidden("Cannot force another user to join.");
    const current = room.membership(target);
    if (current === "ban") throw forbidden("You are banned from this room");
    if (room.joinRule === "public") return;
    if (room.joinRule !== "invite" && !isKnockable(room) && !isRestricted(room)) {
      throw forbidden("You are not allowed to join this room");
    }
    if (current === "join" || current === "invite") return;
    if (isRestricted(room) && typeof draft.content.join_authorised_via_users_server === "string") return;
    throw forbidden("You are not invited to this room.");
  },
  leave(room, sender, target) {
    const power = room.powerLevels.of(sender);
    if (room.membership(target) === "ban" && power < room.powerLevels.named("ban")) {
      throw forbidden(`You cannot unban user ${target}.`);
    }
    if (sender === target) return;
    if (power < room.powerLevels.named("kick") || power <= room.powerLevels.of(target)) {
      throw forbidden(`You cannot kick user ${target}.`);
    }
  },
  ban(room, sender, target) {
    const power = room.powerLevels.of(sender);
    if (power < room.powerLevels.named("ban")) throw forbidden("You don't have permission to ban");
    if (power <= room.powerLevels.of(target)) throw forbidden("You don't have permission to ban this user");
  },
  knock(room, sender, target) {
    if (!isKnockable(room)) throw forbidden("You don't have permission to knock");
    if (sender !== target) throw forbidden("You cannot knock for other users");
    const current = room.membership(target);
    if (current === "join") throw forbidden("You cannot knock on a room you are already in");
    if (current === "invite") throw forbidden("You are already invited to this room");
    if (current === "ban") throw forbidden("You are banned from this room");
  },
};

/** Returns whether one can ask to be let in. */
export function isKnockable(room: Room): boolean {
  return (room.version.knock && room.joinRule === "knock") ||
    (room.version.knockRestricted && room.joinRule === "knock_restricted");
}

/** Returns whether membership in other rooms can open this one. */
export function isRestricted(room: Room): boolean {
  return (room.version.restricted && room.joinRule === "restricted") ||
    (room.version.knockRestricted && room.joinRule === "knock_restricted");
}

/** The rooms whose members may join a restricted room. */
export function allowedRooms(room: Room): RoomID[] {
  const allow = room.state("m.room.join_rules")?.content.allow;
  if (!Array.isArray(allow)) return [];
  return allow.filter((rule) =>
    isJsonObject(rule) && rule.type === "m.room_membership" && typeof rule.room_id === "string"
  )
    .map((rule) => rule.room_id);
}

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

/** Returns whether an `m.room.server_acl` of this content lets a server take part. */
function allowsServer({ allow, deny }: JsonObject, serverName: string): boolean {
  const matches = (patterns: unknown) =>
    Array.isArray(patterns) &&
    patterns.some((pattern) => typeof pattern === "string" && matchesGlob(pattern, serverName));
  return !matches(deny) && matches(allow);
}
