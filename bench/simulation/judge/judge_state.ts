/**
 * In the end a client's state of a room is the homeserver's, redactions included.
 *
 * @module
 */

import { STATE_TYPES } from "../actions/state.ts";
import type { Device } from "../world/device.ts";
import { soon } from "./soon.ts";
import type { World, WorldRoom } from "../world/world.ts";

/** Judges all rooms; not those of a homeserver that has forgotten what it had told. */
export async function judgeState(world: World): Promise<void> {
  if (world.setback !== undefined) return;
  for (const device of world.devices) {
    if (device.goneAt < Infinity || !device.isRunning || device.loss.isSuffered) continue;
    for (const room of world.rooms) await judgeRoom(world, device, room);
  }
}

async function judgeRoom(world: World, device: Device, { id }: WorldRoom): Promise<void> {
  const { homeserver, reach } = world;
  const room = homeserver.room(id);
  if (room.membership(device.userId) !== "join" || device.loss.hasGap(id)) return;
  const { client } = device;
  const pieces = new Map(
    room.events.filter(({ type, state_key }) => state_key !== undefined && STATE_TYPES.includes(type))
      .map(({ type, state_key = "" }) => [`${type} ${state_key}`, { type, key: state_key }]),
  );
  for (const { type, key } of pieces.values()) {
    const stored = await soon(world, client?.stateStore.getState(id, type, key));
    reach(`state: ${type === "m.room.topic" ? "the topic" : "a type of its own"} is compared`);
    const [has, is] = [stored?.content, room.state(type, key)].map((content) => JSON.stringify(content));
    if (has !== is) world.violate(`${device.name} has ${has} for ${type} "${key}" of ${id}, which is ${is}`);
  }
}
