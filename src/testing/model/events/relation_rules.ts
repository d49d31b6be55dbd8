/**
 * What an event may relate to.
 *
 * @module
 */

import { badRequest } from "../../http/failure.ts";
import type { Room } from "../rooms/room.ts";
import { eventToShow } from "../rooms/visibility.ts";
import type { ServerState } from "../server_state.ts";
import { relationOf } from "./relations.ts";
import type { EventDraft } from "./room_event.ts";

/** The longest key of an annotation. */
const MAX_KEY = 500;

/**
 * Refuses a relation to an event that is not in the room, a reaction without a key, too long or
 * sent before, and a thread that begins in an event that belongs to another.
 */
export function checkRelation(server: ServerState, room: Room, draft: EventDraft): void {
  const relation = relationOf(draft);
  if (relation === undefined) return;
  const parent = eventToShow(room, relation.parent);
  if (parent === undefined) {
    throw badRequest(
      "M_UNKNOWN",
      server.event(relation.parent) === undefined
        ? "Can't send relation to unknown event"
        : "Relations must be in the same room",
    );
  }
  if (relation.type === "m.annotation") {
    if (relation.key === undefined) throw badRequest("M_UNKNOWN", "Missing aggregation key");
    if (relation.key.length > MAX_KEY) throw badRequest("M_UNKNOWN", "Aggregation key is too long");
    const twice = room.relations.childrenOf(parent.id, "m.annotation").some((child) =>
      child.sender === draft.sender && child.type === draft.type &&
      room.relations.of(child)?.key === relation.key
    );
    if (twice) throw badRequest("M_DUPLICATE_ANNOTATION", "Can't send same reaction twice");
  }
  if (relation.type === "m.thread" && room.relations.of(parent) !== undefined) {
    throw badRequest("M_UNKNOWN", "Cannot start threads from an event with a relation");
  }
}
