/**
 * Who has lost all devices reads what was said meanwhile: the dehydrated device has received the keys.
 *
 * @module
 */

import type { MessageEvent } from "@greenroom/matrix/types";
import type { Account } from "../world/account.ts";
import type { Device } from "../world/device.ts";
import type { Bereavement } from "../world/inheritance.ts";
import type { World, WorldRoom } from "../world/world.ts";
import { Memberships } from "./memberships.ts";
import { soon } from "./soon.ts";

/** How long a failure may keep a device from what the dehydrated one has received, in milliseconds. */
const PATIENCE = 2 * 3_600_000;

/** Judges all who have lost their devices. */
export async function judgeInheritance(world: World): Promise<void> {
  for (const each of world.bereavements) {
    const { account, heir, dehydrated } = each;
    if (dehydrated.isHurt === true || heir.goneAt < Infinity || !heir.isRunning || account.isMisshown) {
      continue;
    }
    if (world.devices.some(({ isHidden, loss }) => isHidden || loss.needsHealing)) continue;
    await soon(world, heir.client?.crypto?.ensureVerified());
    for (const room of world.rooms) await judgeRoom(world, room, each);
  }
}

/**
 * Whether a device that has come since can't know who vouches for the author of a message: the author is not
 * there any more, or the user of a reader who looks nobody up, or the server has made up or forgotten the
 * identity of the author. A key that came from the author itself is taken only with that.
 */
export function isOfNobody(
  world: World,
  { author, reader }: { readonly author: Device; readonly reader?: Account },
  memberships: Memberships,
): boolean {
  if (!world.isVouched || !world.dehydrates) return false;
  const { now } = world.timeline;
  const isGone = ({ userId }: Pick<Account, "userId">) => !memberships.joined(userId, now, now);
  return author.account.isMisshown || isGone(author) ||
    reader !== undefined && isGone(reader);
}

async function judgeRoom(
  world: World,
  room: WorldRoom,
  { account, dehydrated, heir, at: until }: Bereavement,
): Promise<void> {
  const memberships = new Memberships(world.homeserver, room.id);
  for (const message of world.homeserver.room(room.id).messages) {
    const { type, event_id: id, sender, content, origin_server_ts: at } = message;
    const author = world.devices.find((device) =>
      device.userId === sender && device.deviceId === content.device_id
    );
    const body = author?.readings.get(id) ?? "";
    const known = author?.knownAt.get(body) ?? -Infinity;
    if (type !== "m.room.encrypted" || author === undefined || author.account === account) continue;
    // What was said before is in the backup, and what comes later is sent to the new device.
    if (known < dehydrated.at || at > until || world.forged.has(id) || heir.spoiled.has(id)) continue;
    if (!memberships.joined(account.userId, Math.min(known, at), world.timeline.now)) continue;
    if (isOfNobody(world, { author, reader: account }, memberships)) continue;
    const event = { ...message, room_id: room.id } as unknown as MessageEvent;
    const end = world.timeline.now + PATIENCE;
    let why: string | undefined;
    for (let isOver = false; !isOver; isOver = why === undefined || world.timeline.now >= end) {
      if (why !== undefined) await world.timeline.pass(600_000);
      const decryption = await soon(world, heir.client?.crypto?.decrypt(event));
      why = decryption !== undefined && "event" in decryption ? undefined : String(decryption?.code);
    }
    if (why === undefined) world.reach("trust: read by what the dehydrated device has received");
    else world.violate(`${heir.name} can't read ${id} of ${author.name}, "${body}": ${why}`);
  }
}
