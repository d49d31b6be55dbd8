/**
 * What may be redacted, and by whom.
 *
 * @module
 */

import { badRequest, forbidden, notFound } from "../../http/failure.ts";
import type { Room } from "../rooms/room.ts";
import type { ServerState } from "../server_state.ts";
import { redactedId } from "./redaction.ts";
import type { EventDraft } from "./room_event.ts";

/**
 * Refuses a redaction of what must stay, and by those who may only redact their own events one of
 * another's.
 */
export function checkRedaction(server: ServerState, room: Room, draft: EventDraft): void {
  const id = redactedId(room.version, draft) ?? "";
  const target = room.event(id) ?? server.event(id);
  if (target?.type === "m.room.create") throw forbidden("Redacting create events is not permitted");
  if (target !== undefined && target.roomId !== room.id) {
    throw badRequest("M_UNKNOWN", "Cannot redact event from a different room");
  }
  if (target?.type === "m.room.server_acl") throw forbidden("Redacting server ACL events is not permitted");
  if (room.powerLevels.of(draft.sender) >= room.powerLevels.named("redact")) return;
  if (room.version.eventIdsWithServer && !id.includes(":")) {
    throw badRequest("M_UNKNOWN", `Invalid ID: '${id}'`);
  }
  if (target === undefined) throw notFound("Could not find event");
  if (target.sender !== draft.sender) throw forbidden("You don't have permission to redact events");
}
