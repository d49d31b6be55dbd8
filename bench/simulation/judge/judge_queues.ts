/**
 * What a device has put into the queue of a room arrives in that order, over all ends of its processes.
 *
 * @module
 */

import type { World } from "../world/world.ts";

/** Judges all devices; not where a server was set back, which takes events out of their order. */
export function judgeQueues(world: World): void {
  if (world.setback !== undefined) return;
  for (const [index, { id }] of world.rooms.entries()) {
    const places = new Map(
      world.homeserver.room(id).messages.map(({ event_id }, place) => [event_id, place]),
    );
    for (const { name, sayings, loss } of world.devices) {
      let before = { number: 0, place: -1 };
      for (const { number, room, isQueued, eventId } of sayings) {
        const place = eventId === undefined ? undefined : places.get(eventId);
        if (!isQueued || room !== id || place === undefined || loss.needsHealing) continue;
        if (place < before.place) {
          world.violate(
            `${name} has queued ${before.number} before ${number}, which came first in room ${index + 1}`,
          );
        }
        before = { number, place };
      }
    }
  }
}
