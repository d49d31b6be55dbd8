/**
 * The rules of membership: who may join, invite, knock, leave, kick and ban.
 *
 * @see {@link https://spec.matrix.org/v1.16/rooms/v11/#authorization-rules | Authorization rules}
 * @module
 */

import type { RoomID, UserID } from "../../../types/ids.ts";
import { isJsonObject } from "../../../types/json.ts";
import { badRequest, forbidden } from "../../http/failure.ts";
import type { Room } from "./room.ts";
import type { EventDraft } from "../events/room_event.ts";

/** Refuses a change of `target`'s membership unless the state of the room allows it. */
export function checkMembership(room: Room, draft: EventDraft, target: UserID): void {
  const membership = draft.content.membership;
  const check = typeof membership === "string" ? CHECKS[membership] : undefined;
  if (check === undefined) throw badRequest("M_UNKNOWN", "Invalid membership key");
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

/** Whether one can ask to be let in. */
export function isKnockable(room: Room): boolean {
  return (room.version.knock && room.joinRule === "knock") ||
    (room.version.knockRestricted && room.joinRule === "knock_restricted");
}

/** Whether membership in other rooms can open this one. */
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
