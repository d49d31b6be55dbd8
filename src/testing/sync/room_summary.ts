/**
 * The summary of a room, for clients that load members lazily.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv3sync_response-200_roomsummary | RoomSummary}
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { stringAt } from "../http/read.ts";
import type { Room } from "../model/rooms/room.ts";

/** How many heroes a room has at most. */
const HEROES = 5;

/** The counts, and for a room without name and alias the members that its name can be made of. */
export function summarise(room: Room, viewer: UserID): JsonObject {
  const summary: JsonObject = {
    "m.joined_member_count": room.membersWith("join").length,
    "m.invited_member_count": room.membersWith("invite").length,
  };
  const name = stringAt(room.state("m.room.name")?.content ?? {}, "name");
  const alias = stringAt(room.state("m.room.canonical_alias")?.content ?? {}, "alias");
  if (!name && !alias) summary["m.heroes"] = heroesOf(room, viewer);
  return summary;
}

/** Members to name a room after: those who are or will be there, or else those who were. */
export function heroesOf(room: Room, viewer: UserID): UserID[] {
  const others = (...memberships: string[]) =>
    memberships.flatMap((membership) => room.membersWith(membership)).filter((user) => user !== viewer);
  const present = others("join", "invite");
  return (present.length > 0 ? present : others("leave", "ban")).sort().slice(0, HEROES);
}
