/**
 * Conversations of a bot of the kit end when it leaves their room.
 *
 * @module
 */

import type { EventID, RoomID } from "@greenroom/matrix/types";
import type { KitLedger } from "../kit/kit_ledger.ts";
import type { Device } from "../world/device.ts";
import type { World } from "../world/world.ts";

/** How soon conversations end whose room the bot has left, once it has handled that, in milliseconds. */
const AT_ONCE = 1_000;

/** A question. */
interface Asked {
  readonly room: RoomID;
  readonly bot: Device;
  readonly kit: KitLedger;
  /** The number of the command that the conversation began with. */
  readonly command: number;
  /** Its text. */
  readonly of: string;
  /** When it came to the server first; undefined: it never did. */
  readonly askedAt: number | undefined;
  /** When its answer came to the server; undefined: none was taken. */
  readonly answeredAt: number | undefined;
}

/**
 * Whether a question got an answer, or timed out, when the bot had left the room since, and
 * the process had handled that which has put the question. Where another process had,
 * nothing tells the one that puts it again.
 */
export function hasOutlived(
  world: World,
  { kit, command, of, askedAt, answeredAt, ...place }: Asked,
): boolean {
  const ended = kit.ended.get(command);
  const isOver = answeredAt === undefined && ended?.reason === "timeout";
  const until = isOver ? ended.at : answeredAt;
  const since = isOver ? ended.since : kit.takenSince.get(of);
  if (kit.isSkewed || askedAt === undefined || until === undefined || since === undefined) return false;
  if ((kit.putAt.get(of) ?? -Infinity) < since) return false;
  return leavings(world, { ...place, from: askedAt, to: until }).some((id) => {
    const handledAt = kit.settledAt(id) ?? -Infinity;
    return handledAt >= since && (!isOver || handledAt + AT_ONCE < until);
  });
}

/** The events by which a bot has left a room, or was thrown out, between two moments. */
function leavings(
  { homeserver }: World,
  { room, bot, from, to }: {
    readonly room: RoomID;
    readonly bot: Device;
    readonly from: number;
    readonly to: number;
  },
): EventID[] {
  return homeserver.room(room).events.filter(({ type, state_key, content, origin_server_ts: at }) =>
    type === "m.room.member" && state_key === bot.userId &&
    ["leave", "ban"].includes(String(content.membership)) && at > from && at <= to
  ).map(({ event_id }) => event_id as EventID);
}
