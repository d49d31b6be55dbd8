/**
 * Changes of membership as clients ask for them: joins, invites, knocks, leaves, kicks, bans.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { badJson, canonicalJson, Failure, forbidden, refused } from "../json/json.ts";
import { allowedRooms, isRestricted, type Room, type RoomEvent } from "../rooms/mod.ts";
import { sendEvent } from "./send_event.ts";
import type { ServerState } from "./server_state.ts";

/** The longest display name, in characters. */
const MAX_DISPLAYNAME = 256;
/** The longest avatar URL, in characters. */
const MAX_AVATAR_URL = 1000;

/** What someone asks for. */
export interface MembershipChange {
  /** Who asks. */
  readonly sender: UserID;
  /** Whose membership changes. */
  readonly target: UserID;
  /**
   * What they want: a membership, or one of the two ways to `leave` that someone else decides on.
   */
  readonly action: "join" | "invite" | "knock" | "leave" | "ban" | "kick" | "unban";
  /** Content that the caller gives, besides the membership. */
  readonly content?: JsonObject;
  /** Overrides the clock. */
  readonly timestamp?: number;
}

/**
 * Changes a membership. The member event gets the profile of its user where the caller gave none.
 */
export function changeMembership(server: ServerState, room: Room, change: MembershipChange): RoomEvent {
  const { sender, target, action } = change;
  checkProfile(change.content ?? {});
  if (room.events.length > 1 && room.membersWith("join").length === 0) {
    return changeInDeadRoom(server, room, change);
  }
  const before = room.members.get(target);
  const current = before === undefined ? undefined : room.membership(target);
  if (action === "unban" && current !== undefined && current !== "ban") {
    throw badState(`Cannot unban user who was not banned (membership=${current})`);
  }
  if (current === "ban" && !["ban", "unban", "leave"].includes(action)) {
    throw badState(`Cannot ${action} user who was banned`);
  }
  if (action === "invite" && server.users.get(target)?.blocksInvites === true) {
    throw new Failure(403, "M_INVITE_BLOCKED", "You are not permitted to invite this user.");
  }
  const membership = membershipFor(action);
  const content: JsonObject = { ...change.content, membership };
  delete content.join_authorised_via_users_server;
  if (membership === "join" || membership === "invite" || membership === "knock") {
    addProfile(server, target, content);
  }
  if (before?.sender === sender && canonicalJson(before.content) === canonicalJson(content)) return before;
  if (action === "kick" && (current === undefined || current === "leave" || current === "ban")) {
    throw forbidden("The target user is not in the room");
  }
  if (membership === "join" && current !== "join" && current !== "invite" && isRestricted(room)) {
    authoriseJoin(server, room, target, content);
  }
  return sendEvent(server, room, {
    type: "m.room.member",
    sender,
    stateKey: target,
    content,
    timestamp: change.timestamp,
  });
}

/**
 * A room that all have left is as if it were on another homeserver, and it is unknown on which. What
 * is left to do there is to decline an invite.
 */
function changeInDeadRoom(server: ServerState, room: Room, change: MembershipChange): RoomEvent {
  const { sender, target, action } = change;
  const current = room.members.get(target);
  const leaves = membershipFor(action) === "leave";
  if (action === "join" || action === "knock") throw notReachable();
  if (leaves && current === undefined) throw notKnown(server, target);
  const content: JsonObject = { ...change.content, membership: membershipFor(action) };
  if (action === "invite") addProfile(server, target, content);
  return sendEvent(server, room, { type: "m.room.member", sender, stateKey: target, content });
}

/** The answer to those who want into a room that the homeserver is not in. */
export function notReachable(): Failure {
  const message = "Can't join remote room because no servers that are in the room have been provided.";
  return new Failure(404, "M_UNKNOWN", message);
}

/** The answer to those who would remove a user from a room that the homeserver is not in. */
export function notKnown({ settings }: ServerState, target: UserID): Failure {
  if (!target.endsWith(`:${settings.serverName}`)) return badJson(`${target} is not a local user`);
  return new Failure(404, "M_UNKNOWN", "Not a known room");
}

function membershipFor(action: MembershipChange["action"]): string {
  return action === "kick" || action === "unban" ? "leave" : action;
}

function checkProfile({ displayname, avatar_url }: JsonObject): void {
  if (isTooLong(displayname, MAX_DISPLAYNAME)) {
    throw badJson(`Displayname is too long (max ${MAX_DISPLAYNAME})`);
  }
  if (isTooLong(avatar_url, MAX_AVATAR_URL)) throw badJson(`Avatar URL is too long (max ${MAX_AVATAR_URL})`);
}

function isTooLong(value: unknown, max: number): boolean {
  return typeof value === "string" && value.length > max;
}

/** Puts the global profile of `target` into a member event that says nothing about it. */
function addProfile(server: ServerState, target: UserID, content: JsonObject): void {
  const profile = server.users.get(target)?.profile;
  for (const key of ["displayname", "avatar_url"]) {
    const value = profile?.get(key);
    if (!Object.hasOwn(content, key) && value !== undefined && value !== null) content[key] = value;
  }
}

/**
 * A join to a restricted room needs a member of one of its rooms, vouched for by someone who may
 * invite.
 */
function authoriseJoin(server: ServerState, room: Room, target: UserID, content: JsonObject): void {
  const member = allowedRooms(room).some((id) => server.rooms.get(id)?.membership(target) === "join");
  if (!member) {
    // A knock may still be accepted, so the way in is an invite.
    throw forbidden("You do not belong to any of the required rooms/spaces to join this room.");
  }
  const voucher = room.membersWith("join").find((user) =>
    room.powerLevels.of(user) >= room.powerLevels.named("invite")
  );
  if (voucher === undefined) {
    throw new Failure(400, "M_UNABLE_TO_GRANT_JOIN", "No user can vouch for the join");
  }
  content.join_authorised_via_users_server = voucher;
}

function badState(message: string): Failure {
  return new Failure(403, "M_BAD_STATE", message);
}

/** The memberships that `PUT …/state/m.room.member/…` may name, as actions. */
export function actionFor(membership: unknown): MembershipChange["action"] {
  switch (membership) {
    case "join":
    case "invite":
    case "knock":
    case "leave":
    case "ban":
      return membership;
    default:
      throw refused("Invalid membership key");
  }
}
