/**
 * Which events belong to a thread.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#threaded-read-receipts | Threaded read receipts}
 * @module
 */

import type { Room } from "../rooms/room.ts";
import type { Relation } from "./relations.ts";
import type { RoomEvent } from "./room_event.ts";

/** How far relations are followed up to the event that a thread begins in. */
const MAX_DEPTH = 4;

/**
 * Whether an event belongs to a thread: to that of its root, or to what is about the root. In
 * `main` is what leads up to no thread.
 */
export function isInThread(room: Room, event: RoomEvent, thread: string): boolean {
  let root: RoomEvent | undefined = event;
  let found: string | undefined;
  for (let depth = 0; root !== undefined && depth <= MAX_DEPTH; depth++) {
    const relation: Relation | undefined = room.relations.of(root);
    if (relation === undefined) break;
    if (relation.type === "m.thread") found = relation.parent;
    root = room.event(relation.parent);
  }
  if (thread === "main") return found === undefined;
  const isRoot = root !== undefined && room.relations.childrenOf(root.id, "m.thread").length > 0;
  return root?.id === thread && isRoot;
}
