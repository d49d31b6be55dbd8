/**
 * Everybody who was entitled has read every message, as the same text, and no text is there twice.
 *
 * @module
 */

import { SERVERS_COPY } from "../actions/hostile.ts";
import { PHRASES } from "../kit/kit_texts.ts";
import type { Device } from "../world/device.ts";
import type { LostEvent } from "../disks/loss.ts";
import type { World, WorldRoom } from "../world/world.ts";
import { Memberships } from "./memberships.ts";
import { mayMiss } from "./unreadable.ts";

/** How often a device has read a text. */
function timesRead({ readings }: Device, text: string): number {
  return [...readings.values()].filter((body) => body === text).length;
}

/** Judges all rooms. */
export function judgeReading(world: World): void {
  for (const room of world.rooms) judgeRoom(world, room);
  const { setback } = world;
  const senders = new Map(
    world.roomIds.flatMap((id) => [...world.homeserver.room(id).messages, ...setback?.events(id) ?? []]).map((
      { event_id, sender },
    ) => [event_id, sender]),
  );
  for (const device of world.devices) {
    if (!device.account.encrypts) continue; // it takes what a server shows
    for (const [id, body] of device.readings) {
      // A server may show a message in an event of its own making, if it shows it once.
      const isShownOnce = id.startsWith(SERVERS_COPY) && timesRead(device, body) === 1;
      // Judged where it is read.
      if (isShownOnce || world.planted.has(id) || world.hearsay.has(id) || device.mistaken.has(id)) continue;
      if (!senders.has(id) || world.forged.has(id)) {
        world.violate(`${device.name} has read ${id}, which is forged: "${body}"`);
      } else if (senders.get(id) !== device.senders.get(id)) {
        world.violate(`${device.name} takes ${id} for one of ${device.senders.get(id)}`);
      }
    }
  }
}

function judgeRoom(world: World, room: WorldRoom): void {
  const memberships = new Memberships(world.homeserver, room.id);
  const { devices, isVouched, setback } = world;
  /** What was redacted, or came in clear when the room was encrypted already. */
  const late = new Set<string>();
  /**
   * What nobody may have read: its author, as the only one who could, was not shown it by its first
   * response, has lost it with its disk, or was thrown out before its handlers had settled.
   */
  const unread = new Set<string>();
  /** By author and text, in clear or encrypted, the event. */
  const texts = new Map<string, LostEvent>();
  for (const message of world.homeserver.room(room.id).messages) {
    const { event_id: id, sender, type, content, origin_server_ts: at } = message;
    if (Object.keys(content).length === 0) late.add(id);
    if (world.forged.has(id) || world.planted.has(id) || world.hearsay.has(id) || late.has(id)) continue;
    const isEncrypted = type === "m.room.encrypted";
    if (!isEncrypted && type !== "m.room.message") continue;
    if (!isEncrypted && room.encryptedAt < at) {
      late.add(id);
      continue; // judged on the wire
    }
    const bodies = new Set(devices.flatMap((device) => device.readings.get(id) ?? []));
    if (bodies.size > 1) world.violate(`${id} was read as ${[...bodies].join(" and as ")}`);
    const [body = isEncrypted ? undefined : content.body as string] = bodies;
    const author = devices.find(({ deviceId, userId, knownAt }) =>
      userId === sender && (isEncrypted ? deviceId === content.device_id : knownAt.has(body ?? ""))
    );
    if (body === undefined) {
      const isUnread = author !== undefined &&
        (author.firstAt >= at || author.loss.mayMiss(room.id, message) ||
          author.loss.mayLack(room.id, message) ||
          setback?.mayMiss(room.id, author, message) === true ||
          setback?.isUndone(room.id, author.userId) === true ||
          !memberships.joined(author.userId, at, world.timeline.now));
      // What was sent, and not known to have arrived when a process ended, comes once more as it was.
      const isAgain = setback?.events(room.id).some((each) => each.content.ciphertext === content.ciphertext);
      if (isUnread || isAgain === true) unread.add(id);
      else if (author?.goneAt === Infinity && !author.spoiled.has(id)) {
        world.violate(`nobody has read ${id} of ${author.name}`);
      }
      continue;
    }
    // What was sent in clear and not known to have arrived is sent again, encrypted, if the room
    // was encrypted meanwhile: the server takes it for something else.
    const key = `${type} ${sender} ${body}`;
    const same = texts.get(key);
    // Who has lost what was said, with a disk, may say it again.
    // An edit says again what it has to, and what is said in passing is said often.
    const isRepeatable = body.startsWith("* ") || PHRASES.has(body) || author?.kit?.mayRepeat(body) === true;
    if (same !== undefined && !isRepeatable && !author?.loss.mayMiss(room.id, same)) {
      world.violate(`"${body}" is there twice: as ${same.event_id} and as ${id}`);
    }
    texts.set(key, message);
    const known = author?.knownAt.get(body);
    if (author === undefined || known === undefined) continue;
    for (const device of devices) {
      if (device.readings.has(id) || device.goneAt < Infinity || timesRead(device, body) > 0) continue;
      if (mayMiss({ reader: device, author, isVouched, setback, known }, room, message)) continue;
      // It asked the server whether the room is encrypted, before its sync came so far.
      if (!isEncrypted && device.refused.has(id) && room.encryptedAt < Infinity) continue;
      const isEntitled = memberships.joined(device.userId, Math.min(known, at), world.timeline.now) &&
        (isEncrypted ? device.keysAt <= known : true) &&
        (device.firstAt < at || (!isEncrypted && device.firstShown.has(id)));
      if (!isEntitled) continue;
      const why = device.undecryptable.get(id);
      world.violate(
        `${device.name} has not read ${id} of ${author.name}, "${body}": ${why ?? "it never came"}`,
      );
    }
  }
  for (const { saying, device } of world.sayings.values()) {
    if (saying.room !== room.id || saying.eventId === undefined) continue;
    if (setback?.isForgotten(saying.eventId) === true) continue;
    const found = ["m.room.message", "m.room.encrypted"].flatMap((type) =>
      texts.get(`${type} ${device.userId} ${saying.text}`)?.event_id ?? []
    );
    if (
      !found.includes(saying.eventId) && device.goneAt === Infinity && !late.has(saying.eventId) &&
      !device.spoiled.has(saying.eventId) && !unread.has(saying.eventId)
    ) {
      world.violate(`${device.name} was given ${saying.eventId} for "${saying.text}", which is ${found}`);
    }
  }
}
