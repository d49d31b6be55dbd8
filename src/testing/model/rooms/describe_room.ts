/**
 * A room as the directory, summaries and the space hierarchy describe it.
 *
 * @module
 */

import type { JsonObject } from "../../../types/json.ts";
import { stringAt } from "../../http/read.ts";
import { allowedRooms, isRestricted } from "./membership_rules.ts";
import type { Room } from "./room.ts";

/** The description of a room for users who may find it. */
export function describeRoom(room: Room): JsonObject {
  const read = (type: string, key: string) => describedBy(room, type, key);
  const description: JsonObject = {
    room_id: room.id,
    name: read("m.room.name", "name"),
    topic: read("m.room.topic", "topic"),
    canonical_alias: read("m.room.canonical_alias", "alias"),
    avatar_url: read("m.room.avatar", "url"),
    room_type: read("m.room.create", "type"),
    join_rule: room.joinRule,
    num_joined_members: room.membersWith("join").length,
    world_readable: room.historyVisibility() === "world_readable",
    guest_can_join: read("m.room.guest_access", "guest_access") === "can_join",
  };
  return Object.fromEntries(Object.entries(description).filter(([, value]) => value !== undefined));
}

/** The longer description of summaries and hierarchies. */
export function summariseRoom(room: Room): JsonObject {
  const encryption = describedBy(room, "m.room.encryption", "algorithm");
  return {
    ...describeRoom(room),
    room_version: room.version.id,
    ...(encryption === undefined ? {} : { encryption }),
    ...(isRestricted(room) ? { allowed_room_ids: allowedRooms(room) } : {}),
  };
}

/** A member of state; as Synapse does, of what it was when it was set: no redaction takes that back. */
function describedBy(room: Room, type: string, key: string): string | undefined {
  const event = room.state(type);
  return stringAt(event?.contentBefore ?? event?.content ?? {}, key);
}
