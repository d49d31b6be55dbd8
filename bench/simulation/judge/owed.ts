/**
 * What a bot has to handle.
 *
 * @module
 */

import type { Homeserver } from "@greenroom/matrix/testing";
import type { Device } from "../world/device.ts";
import type { World, WorldRoom } from "../world/world.ts";
import type { Memberships } from "./memberships.ts";
import { mayMiss } from "./unreadable.ts";

/** A message of a room, as the server has it. */
export type ShownMessage = ReturnType<Homeserver["room"]>["messages"][number];

/** Whether a bot has to handle what somebody has said in a room. */
export function isOwed(
  world: World,
  { room, bot, memberships, message, author, text }: {
    readonly room: WorldRoom;
    readonly bot: Device;
    readonly memberships: Memberships;
    readonly message: ShownMessage;
    readonly author: Device;
    /** What was said. */
    readonly text: string;
  },
): boolean {
  const { event_id: id, origin_server_ts: at, type, content } = message;
  const isEncrypted = type === "m.room.encrypted";
  const known = author.knownAt.get(text) ?? Infinity;
  return memberships.joined(bot.userId, Math.min(known, at), world.timeline.now) &&
    (bot.firstAt < at || (!isEncrypted && bot.firstShown.has(id))) &&
    (isEncrypted ? bot.keysAt <= known : room.encryptedAt > at) &&
    Object.keys(content).length > 0 && !bot.refused.has(id) &&
    !mayMiss(
      { reader: bot, author, isVouched: world.isVouched, setback: world.setback, known },
      room,
      message,
    );
}
