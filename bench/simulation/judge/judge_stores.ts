/**
 * Stores do not grow with what is over.
 *
 * @module
 */

import type { World } from "../world/world.ts";

/** What a device keeps at all, and for each event of its rooms and each device of the world. */
const [BASE, PER_EVENT, PER_DEVICE] = [60, 5, 20];

/** Judges all stores. */
export async function judgeStores(world: World): Promise<void> {
  const { homeserver, setback } = world;
  const events = world.roomIds.reduce(
    (sum, id) => sum + homeserver.room(id).events.length + (setback?.events(id).length ?? 0),
    0,
  );
  const bound = BASE + PER_EVENT * events + PER_DEVICE * world.devices.length;
  for (const device of world.devices) {
    const records = await Array.fromAsync(device.disk.store.list([]));
    if (records.length > bound) {
      world.violate(`${device.name} keeps ${records.length} records, more than ${bound}`);
    }
  }
}
