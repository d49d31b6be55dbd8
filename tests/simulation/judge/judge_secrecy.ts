/**
 * Nobody else can read: who had left by what the sender knew, and devices that came later, have no key.
 *
 * @module
 */

import type { MessageEvent } from "@greenroom/matrix/types";
import type { Device } from "../world/device.ts";
import type { World, WorldRoom } from "../world/world.ts";
import { Memberships } from "./memberships.ts";

/** How many events are tried on how many devices, at most. */
const MOST_TRIES = 16;
/** How long it may take, in milliseconds. */
const PATIENCE = 60_000;

/** Tries to decrypt what devices must not be able to read. */
export async function judgeSecrecy(world: World): Promise<void> {
  const { userId, deviceId } = world.stranger;
  for (const { type } of world.homeserver.toDevice(userId, deviceId)) {
    if (/^m\.(room\.encrypted|forwarded_room_key|room_key)$/.test(String(type))) {
      world.violate(`a stranger was sent ${type}`);
    }
  }
  const tries = world.rooms.flatMap((room) => triesOf(world, room));
  // Every so manieth, from all over the story.
  const step = Math.ceil(tries.length / MOST_TRIES);
  for (const { device, event, why } of tries.filter((_, index) => index % step === 0)) {
    let isOver = false;
    world.reach(`secrecy: ${why}`);
    device.client?.crypto?.decrypt(event).then((decryption) => {
      isOver = true;
      if ("event" in decryption) world.violate(`${device.name} can read ${event.event_id}, but ${why}`);
    }, () => isOver = true);
    if (!await world.until(() => isOver, PATIENCE, 10)) {
      world.violate(`decrypt() of ${device.name} never ended`);
    }
  }
}

function triesOf(world: World, room: WorldRoom): { device: Device; event: MessageEvent; why: string }[] {
  const memberships = new Memberships(world.homeserver, room.id);
  return world.homeserver.room(room.id).messages.flatMap((message) => {
    const { event_id: id, sender, type, content, origin_server_ts: at } = message;
    const author = world.devices.find((device) =>
      device.userId === sender && device.deviceId === content.device_id
    );
    const known = author?.knownAt.get(author.readings.get(id) ?? "");
    if (type !== "m.room.encrypted" || author === undefined || known === undefined) return [];
    const event = { ...message, room_id: room.id } as unknown as MessageEvent;
    return world.devices.flatMap((device) => {
      if (device === author || !device.isRunning) return [];
      if (memberships.absent(device.userId, known, at)) return [{ device, event, why: "its user had left" }];
      return device.keysAt > at ? [{ device, event, why: "it came later" }] : [];
    });
  });
}
