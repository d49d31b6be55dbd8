/**
 * In the end a device knows who speaks: what others have said is not of a device that is unknown, for good.
 *
 * @module
 */

import type { MessageEvent } from "@greenroom/matrix/types";
import type { Device } from "../world/device.ts";
import type { World, WorldRoom } from "../world/world.ts";
import { Memberships } from "./memberships.ts";

/** How many events are looked at, at most. */
const MOST_TRIES = 6;
/** How long that may take, in milliseconds. */
const PATIENCE = 60_000;

/** An event that a device has read, and who has said it. */
interface Heard {
  readonly reader: Device;
  readonly author: Device;
  readonly event: MessageEvent;
}

/** Judges rooms that were in clear at first: in others a sync shows who is there before anybody speaks. */
export async function judgeSenders(world: World): Promise<void> {
  if (world.setback !== undefined) return; // it may have forgotten who there is
  const heard = world.rooms.flatMap((room) => heardIn(world, room));
  for (const { reader, author, event } of heard.slice(0, MOST_TRIES)) {
    world.reach("senders: known to who reads in a room that was encrypted later");
    const decrypting = reader.client?.crypto?.decrypt(event);
    const outcome: { trust?: string; isOver: boolean } = { isOver: decrypting === undefined };
    decrypting?.then((decryption) => {
      // Of what came another way, nothing proves whose it is.
      if ("event" in decryption && decryption.encryption.keySource === "direct") {
        outcome.trust = decryption.encryption.senderTrust;
      }
    }).catch(() => {}).finally(() => outcome.isOver = true);
    await world.until(() => outcome.isOver, PATIENCE);
    if (outcome.trust === "unknown-device") {
      world.violate(`${reader.name} does not know ${author.name}, which has said ${event.event_id}`);
    }
  }
}

/** The last that each device has read of each device of others, where nothing has hidden either. */
function heardIn(
  { homeserver, devices, begunAt, timeline }: World,
  { id: room, encryptedAt }: WorldRoom,
): Heard[] {
  if (encryptedAt === Infinity || encryptedAt <= begunAt) return [];
  const memberships = new Memberships(homeserver, room);
  const isPlain = ({ goneAt, isHidden, account, loss }: Device): boolean =>
    goneAt === Infinity && !isHidden && !account.isMisshown && account.encrypts && !loss.needsHealing;
  const isThere = ({ userId }: Device): boolean => memberships.joined(userId, encryptedAt, timeline.now);
  const present = devices.filter((device) => isPlain(device) && isThere(device));
  const messages = homeserver.room(room).messages.filter(({ type, content }) =>
    type === "m.room.encrypted" && Object.keys(content).length > 0
  );
  return present.flatMap((reader) =>
    present.flatMap((author) => {
      const last = messages.findLast(({ sender, content, event_id: id }) =>
        sender === author.userId && content.device_id === author.deviceId && reader.readings.has(id) &&
        !reader.spoiled.has(id)
      );
      if (reader.userId === author.userId || !reader.isRunning || last === undefined) return [];
      return [{ reader, author, event: { ...last, room_id: room } as unknown as MessageEvent }];
    })
  );
}
