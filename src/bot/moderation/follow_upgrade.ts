/**
 * Going along when a room is upgraded.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#room-upgrades | Room upgrades}
 * @module
 */

import { type Client, ForbiddenError, NotFoundError, ValueError } from "../../../mod.ts";
import type { RoomID, UserID } from "../../../types.ts";
import { checkOptions } from "../../errors/known_names.ts";
import { joinLate } from "../policy/policy.ts";
import { memberOf } from "../text/mod.ts";
import { serverOf } from "./server_acl.ts";

/** As much of an `m.room.tombstone` as is looked at. */
export interface TombstoneEvent {
  /** The room that was upgraded. */
  readonly room_id: RoomID;
  /** The user who upgraded the room. */
  readonly sender: UserID;
  /** The content of the event. */
  readonly content: object;
}

/** Options of {@link followUpgrade}. */
export interface FollowUpgradeOptions {
  /** Servers to join through, beside that of who ended the room. Default: none. */
  servers?: readonly string[];
  /** Ends the work, which rejects. Default: nothing does. */
  signal?: AbortSignal;
}

/** How many upgrades are followed one after the other. */
const MAX_UPGRADES = 10;

/**
 * Joins the room that takes the place of one that was upgraded, and the one after it if that was
 * upgraded too.
 *
 * A tombstone can name any room. So the new one is asked which room it replaces, as soon as that can
 * be read, which mostly is after joining; if it does not name the old one, it is left again, unless
 * the user was there before.
 *
 * A server may hear of the new room later than of the end of the old one: for five minutes a refusal (403,
 * 404) is not the last word.
 *
 * Nothing of what a bot of the kit remembers moves on: its pending reminders and open questions stay those
 * of the old room, with the sessions that are kept by room, and a function of `bot.every()` that names the
 * old room goes on speaking there. If the new room needs them, make them anew.
 *
 * @param client The client.
 * @param tombstone The event that ended the room.
 * @param options Servers to join through.
 * @returns The room that was joined; undefined if the event does not end the room, since it is a
 *   tombstone that was taken back.
 * @throws {ValueError} If the new room does not name the old one as its predecessor.
 * @throws {ForbiddenError} If the new room can only be joined by invitation.
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { followUpgrade } from "@greenroom/matrix/bot";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken } = await homeserver.createUser("bot");
 * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
 * bot.on("m.room.tombstone", async (event) => {
 *   if ("room_id" in event) await followUpgrade(bot, event);
 * });
 * ```
 */
export async function followUpgrade(
  client: Pick<Client, "joinRoom" | "leaveRoom" | "getStateEvent" | "api">,
  tombstone: TombstoneEvent,
  options: FollowUpgradeOptions = {},
): Promise<RoomID | undefined> {
  checkOptions(options, { servers: true, signal: true }, "follow an upgrade");
  const { servers = [], signal } = options;
  const through = [...new Set([serverOf(tombstone.sender), ...servers])];
  const visited = new Set<RoomID>([tombstone.room_id]);
  let [from, content, joined]: [RoomID, object, RoomID | undefined] = [
    tombstone.room_id,
    tombstone.content,
    undefined,
  ];
  while (visited.size <= MAX_UPGRADES) {
    const to = memberOf(content, "replacement_room");
    if (!isRoomId(to) || visited.has(to)) return joined;
    visited.add(to);
    // A tombstone that names a room where the user is must not make the user leave it.
    const known = await readCreate(client, to, signal);
    if (known === undefined) await joinLate(client, to, { servers: through, signal });
    const create = known ?? await client.getStateEvent(to, "m.room.create", { signal });
    if (memberOf(memberOf(create, "predecessor"), "room_id") !== from) {
      if (known === undefined) await client.leaveRoom(to, { signal });
      throw new ValueError(
        `Cannot follow the upgrade of room ${from}: room ${to} does not say that it replaces it`,
      );
    }
    if (known !== undefined) await joinLate(client, to, { servers: through, signal }); // it can be read from outside
    [from, joined] = [to, to];
    content = await client.getStateEvent(to, "m.room.tombstone", { signal }).catch((error) => {
      if (error instanceof NotFoundError) return {};
      throw error;
    });
  }
  return joined;
}

/** How a room began; undefined if only its members may know, or it does not exist here. */
async function readCreate(
  client: Pick<Client, "getStateEvent">,
  roomId: RoomID,
  signal: AbortSignal | undefined,
): Promise<object | undefined> {
  try {
    return await client.getStateEvent(roomId, "m.room.create", { signal });
  } catch (error) {
    if (error instanceof ForbiddenError || error instanceof NotFoundError) return undefined;
    throw error;
  }
}

function isRoomId(value: unknown): value is RoomID {
  return typeof value === "string" && /^![^\s\0]+$/.test(value) && value.length <= 255;
}
