/**
 * What relates to an event, bundled into its `unsigned`.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#aggregations-of-child-events | Aggregations}
 * @module
 */

import type { UserID } from "../../../types/ids.ts";
import type { JsonObject } from "../../../types/json.ts";
import type { Room } from "../rooms/room.ts";
import type { RoomEvent } from "./room_event.ts";

/** The aggregations of `event`, or `undefined` if nothing relates to it. */
export function bundledAggregations(
  room: Room,
  event: RoomEvent,
  viewer: UserID,
  format: (event: RoomEvent) => JsonObject,
): JsonObject | undefined {
  const children = room.relations.childrenOf(event.id);
  const isPart = ["m.annotation", "m.replace"].includes(room.relations.of(event)?.type ?? "");
  if (children.length === 0 || isPart) return undefined;
  const bundle: JsonObject = {};
  const references = children.filter((child) => room.relations.of(child)?.type === "m.reference");
  if (references.length > 0) {
    bundle["m.reference"] = { chunk: references.map(({ id }) => ({ event_id: id })) };
  }
  const edit = latestEdit(room, event);
  if (edit !== undefined) bundle["m.replace"] = format(edit);
  const thread = threadOf(room, event);
  const latest = thread.at(-1);
  if (latest !== undefined) {
    bundle["m.thread"] = {
      latest_event: format(latest),
      count: thread.length,
      current_user_participated: event.sender === viewer || thread.some(({ sender }) => sender === viewer),
    };
  }
  return Object.keys(bundle).length > 0 ? bundle : undefined;
}

/** The edit that counts: the latest one by the sender of the event, of the same type. */
function latestEdit(room: Room, event: RoomEvent): RoomEvent | undefined {
  if (event.redaction !== undefined) return undefined;
  const edits = room.relations.childrenOf(event.id, "m.replace").filter((edit) =>
    edit.sender === event.sender && edit.type === event.type
  );
  return edits.reduce<RoomEvent | undefined>(
    (latest, edit) => latest === undefined || edit.timestamp >= latest.timestamp ? edit : latest,
    undefined,
  );
}

/** The events of the thread that `root` begins, oldest first. */
export function threadOf(room: Room, root: RoomEvent): RoomEvent[] {
  if (room.relations.of(root) !== undefined) return [];
  return room.relations.childrenOf(root.id, "m.thread");
}
