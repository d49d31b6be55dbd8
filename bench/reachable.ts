/**
 * Whether what is said in a room reaches a user's devices.
 *
 * @module
 */

import type { Client } from "../mod.ts";
import type { RoomID, UserID } from "../types.ts";

/**
 * Whether a user has joined a room, and a client knows a device of theirs, if the room is encrypted:
 * who speaks before their client has seen that device sends a message without a key for it.
 */
export async function isReachable(client: Client, roomId: RoomID, userId: UserID): Promise<boolean> {
  if (!(userId in await client.getJoinedMembers(roomId))) return false;
  if (!await client.isRoomEncrypted(roomId)) return true;
  return (await client.crypto?.getDevices(userId) ?? []).length > 0;
}
